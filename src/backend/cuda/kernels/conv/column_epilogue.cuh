// The epilogue with its bias in shared memory. Loading the bias from global memory for each vector would cost its
// latency each time, because the compiler keeps loads behind the stores before them.
#pragma once
#include "conv/arguments.cuh"

namespace kiln {

/// The epilogue of kColumns columns from a first one on; it lies in shared memory.
template <int kColumns, class Bias = Epilogue::Bias>
struct ColumnEpilogue {
  alignas(16) Bias bias[kColumns];

  /// By kThreads threads, `thread` of them this one; they wait for each other before and after.
  template <int kThreads>
  __device__ __forceinline__ void load(const ConvArguments& args, int first, int thread) {
    const Bias* from = static_cast<const Bias*>(args.epilogue.operand[0]);
    for (int i = thread; i < kColumns; i += kThreads)
      if (first + i < args.out_channels) bias[i] = from[first + i];
  }
  __device__ __forceinline__ Epilogue get(const ConvArguments& args, int first) const {
    Epilogue epilogue = args.epilogue;
    epilogue.operand[0] = bias - first;
    return epilogue;
  }
};
/// The same without a bias.
template <int kColumns>
struct ColumnEpilogue<kColumns, void> {
  template <int kThreads>
  __device__ __forceinline__ void load(const ConvArguments&, int, int) {}
  __device__ __forceinline__ Epilogue get(const ConvArguments& args, int) const { return args.epilogue; }
};

}  // namespace kiln
