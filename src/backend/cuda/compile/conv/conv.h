/// Kernels of convolutions that are worth timing, and their texts.
#pragma once

#include <vector>

#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/kernels/conv/conv.h"

namespace kiln::cuda {

/// Convolutions of bytes have `scales`.
KernelSource source_of(const ConvKernel& kernel, const Epilogue& epilogue,
                       const std::optional<ByteScales>& scales = {});

/// Facts about a convolution that a kernel may assume, and its extents at the optimum.
struct ConvTraits {
  ContractionTypes types;
  FilterExtents filter;
  bool constant_filter = true, tf32 = false, transposed = false;
  int64_t pixels = 1;                              ///< of y, all images together
  int64_t phases = 0;                              ///< of a deconvolution that has them
  int64_t kernel_h = 0, kernel_w = 0, stride = 0;  ///< of pictures without dilation; else 0
  int64_t stride_h = 0, out_h = 0, out_w = 0;      ///< of such pictures
  bool pictures = false;                           ///< of at most two axes, and what a window reaches fits tensor maps
  bool joined = false;                             ///< x is two tensors, lines of channels and more behind them
  bool abutting = false;                           ///< a deconvolution whose kernel is its stride, without pads
  int64_t read_bytes = 0;                          ///< that the epilogue reads for a result, beside what channels share

  int64_t vec() const;  ///< channels of y that are whole vectors of at most 16 bytes, in every group
};
struct ConvCandidate {
  ConvKernel kernel;
  double estimate_us;
};
/// Kernels worth timing, the likeliest first; ConvSimt, channels last and first, always among them.
std::vector<ConvCandidate> conv_candidates(const ConvTraits& traits, const Machine& machine);

}  // namespace kiln::cuda
