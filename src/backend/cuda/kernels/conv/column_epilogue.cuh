// The epilogue with its bias in shared memory. Loading the bias from global memory for each vector would cost its
// latency each time, because the compiler keeps loads behind the stores before them. Defines: BIAS (its type) where
// there is one, those of conv/arguments.cuh.
#pragma once
#include "conv/arguments.cuh"

namespace kiln {

/// The epilogue of kColumns columns from a first one on; it lies in shared memory.
template <int kColumns>
struct ColumnEpilogue {
#ifdef BIAS
  alignas(16) BIAS bias[kColumns];
#endif

  /// By kThreads threads, `thread` of them this one; they wait for each other before and after.
  template <int kThreads>
  __device__ __forceinline__ void load(const ConvArguments& args, int first, int thread) {
#ifdef BIAS
    const BIAS* from = static_cast<const BIAS*>(args.epilogue.operand[0]);
    for (int i = thread; i < kColumns; i += kThreads)
      if (first + i < args.out_channels) bias[i] = from[first + i];
#endif
  }
  __device__ __forceinline__ Epilogue get(const ConvArguments& args, int first) const {
    Epilogue epilogue = args.epilogue;
#ifdef BIAS
    epilogue.operand[0] = bias - first;
#endif
    return epilogue;
  }
};

}  // namespace kiln
