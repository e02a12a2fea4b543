/// A convolution's or deconvolution's spatial attributes: from its payload at load, with extents at bind.
#pragma once

#include "backend/cuda/kernels/conv/conv.h"
#include "base/record.h"
#include "steps/executor.h"
#include "tensor/extents.h"
#include "tensor/format.h"

namespace kiln::cuda {

/// What a tactic wrote: one number a spatial axis (1 to 3 of them), and whether the pads are what SAME rounding
/// implies.
struct FilterSpec {
  Extents kernel, strides, dilations, pads;
  bool same_upper = false, same_lower = false, transposed = false;

  static Result<FilterSpec> parse(const Record& payload);
  Record record() const;
  /// Whether windows lie side by side: a kernel as large as its strides, without pads.
  bool abuts() const;
  /// Whether these are extents of a convolution or pooling with these attributes, and kernels count them.
  Status check(const Extents& in, const Extents& out) const;
  /// `in` and `out` are logical extents [N, C, spatial...]; both empty, the window has what they do not decide.
  ConvWindow bind(std::span<const int64_t> in, std::span<const int64_t> out) const;
};

/// Whether the first two inputs and the output are those of a convolution by one tap.
Status check_point(const StepShapes& shapes);

/// ConvStrides of [n, channels, spatial...] by their place in a ConvWindow.
ConvStrides strides_of(const Format& format, std::span<const int64_t> extents);

}  // namespace kiln::cuda
