/// A convolution by cuDNN: what a plan says of it.
#pragma once

#include "backend/cuda/exec/cudnn_convolution.h"
#include "steps/convolution.h"

namespace kiln::cuda {

struct CudnnTuning {
  bool tf32 = false;
  CudnnChoice choice;
  int64_t version = 0;  ///< the library's; another version, or other extents than the engine is for, choose again

  static void reflect(auto& self, auto f) {
    f("tf32", self.tf32), f("choice", self.choice), f("version", self.version);
  }
};

/// A convolution with this epilogue, without extents.
CudnnConvolutionSpec cudnn_convolution(const ContractionTypes& types, const steps::Epilogue& epilogue, bool tf32);
/// The same by such windows, of logical extents [N, C, spatial...] and [out, in of a group, kernel...].
CudnnConvolutionSpec with_extents(CudnnConvolutionSpec of, const steps::Window& by, const Extents& x, const Extents& w,
                                  const Extents& y);

}  // namespace kiln::cuda
