/// How convolutions and deconvolutions run.
#pragma once

#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/cudnn_step.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/gemm_step.h"
#include "backend/cuda/kernels/gemm/gemm.h"

namespace kiln::cuda {

/// One of these: a kernel of kernels/conv, or one of kernels/gemm or a library's where x is read point by point, or
/// cuDNN.
struct ConvolutionTuning {
  std::optional<ConvKernel> conv;
  std::optional<GemmKernel> gemm;
  std::optional<LtTuning> cublaslt;
  std::optional<CudnnTuning> cudnn;

  static void reflect(auto& self, auto f) {
    f("conv", self.conv), f("gemm", self.gemm), f("cublaslt", self.cublaslt), f("cudnn", self.cudnn);
  }
  Status check() const {
    return require(conv.has_value() + gemm.has_value() + cublaslt.has_value() + cudnn.has_value() == 1,
                   "a convolution needs exactly one of conv, gemm, cublaslt and cudnn");
  }
};

/// A step of these by a kernel of kernels/conv. `inputs` may have some set already.
Result<std::unique_ptr<LoadedStep>> load_by_kernel(const Filter& filter, const steps::Epilogue& epilogue,
                                                   const ConvKernel& kernel, const LoadArguments& arguments,
                                                   ContractionInputs inputs);
/// A convolution of one tap by a kernel of matrix products: rows are pixels, w is B along k.
Result<std::unique_ptr<LoadedStep>> load_point(const GemmKernel& kernel, const LoadArguments& arguments,
                                               ContractionInputs inputs);
/// A convolution by cuDNN.
Result<std::unique_ptr<LoadedStep>> load_by_cudnn(const steps::Convolution& step, const CudnnTuning& tuning,
                                                  const LoadArguments& arguments);

}  // namespace kiln::cuda
