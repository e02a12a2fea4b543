/// What a plan's step says of a convolution by cuDNN.
#pragma once

#include "backend/cuda/exec/cudnn_convolution.h"
#include "backend/cuda/exec/filter.h"

namespace kiln::cuda {

/// What tensors of a step decide.
struct CudnnTypes {
  DType operand, result;
  bool bias, residual;
};
struct CudnnStep {
  FilterSpec filter;
  bool tf32 = false, relu = false;

  static Result<CudnnStep> parse(const Record& payload);
  Record record() const;
  /// For logical extents [N, C, spatial...] and [out, in of a group, kernel...].
  CudnnConvolutionSpec spec(const CudnnTypes& types, const Extents& x, const Extents& w, const Extents& y) const;
};

}  // namespace kiln::cuda
