/// A convolution's or deconvolution's spatial attributes, and where its tensors lie.
#pragma once

#include "backend/cuda/kernels/conv/conv.h"
#include "steps/convolution.h"
#include "steps/deconvolution.h"
#include "steps/quantized_convolution.h"
#include "tensor/format.h"

namespace kiln::cuda {

struct Filter {
  steps::Window window;
  int64_t groups = 1;
  bool transposed = false;

  explicit Filter(const steps::Convolution& step) : window(step.window), groups(step.groups) {}
  /// A filter for a result of so many channels.
  Filter(const steps::QuantizedConvolution& step, int64_t channels)
      : window(step.window), groups(step.is_depthwise ? channels : 1) {}
  explicit Filter(const steps::Deconvolution& step) : window(step.window), groups(step.groups), transposed(true) {}

  /// `in` and `out` are [N, C, spatial...]. Of a deconvolution they may be empty: the window has what is left.
  ConvWindow bind(std::span<const int64_t> in, std::span<const int64_t> out) const {
    return transposed ? window.bind_transposed<ConvWindow>(in, out) : window.bind<ConvWindow>(in, out);
  }
  /// w's extents, where they are those of the window.
  Result<FilterExtents> extents(const Extents& w) const;
  /// Whether every output pixel reads the input pixel at its own place and no other.
  bool is_point() const { return groups == 1 && !transposed && window.is_point(); }
};

/// Whether the first two inputs and the output are those of a convolution by one tap.
Status check_point(const StepShapes& shapes);

/// ConvStrides of [n, channels, spatial...] by their place in a ConvWindow.
ConvStrides strides_of(const Format& format, std::span<const int64_t> extents);

}  // namespace kiln::cuda
