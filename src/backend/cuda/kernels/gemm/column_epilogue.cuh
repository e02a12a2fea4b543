// The epilogue with what it reads by channel in shared memory: its bias, and the scales of sums of bytes. Loading them
// from global memory for each vector would cost their latency each time, because the compiler keeps loads behind the
// stores before them.
#pragma once
#include "device.cuh"

namespace kiln {

/// Elements of kColumns columns of one of the epilogue's operands, in shared memory.
template <int kColumns, class T, int kOperand>
struct HeldColumns {
  alignas(16) T at[kColumns];

  /// Loads columns from `first` on, as far as there are any of `columns`. kThreads threads share the work; `thread` is
  /// this one.
  template <int kThreads>
  __device__ __forceinline__ void load(const Epilogue& epilogue, int columns, int first, int thread) {
    const T* from = static_cast<const T*>(epilogue.operand[kOperand]);
    for (int i = thread; i < kColumns; i += kThreads)
      if (first + i < columns) at[i] = from[first + i];
  }
  __device__ __forceinline__ void put_into(Epilogue& epilogue, int first) const {
    epilogue.operand[kOperand] = at - first;
  }
};
/// An epilogue without that operand holds nothing.
template <int kColumns, int kOperand>
struct HeldColumns<kColumns, void, kOperand> {
  template <int kThreads>
  __device__ __forceinline__ void load(const Epilogue&, int, int, int) {}
  __device__ __forceinline__ void put_into(Epilogue&, int) const {}
};

/// The epilogue of kColumns columns from a first one on; it lies in shared memory.
template <int kColumns>
struct ColumnEpilogue : HeldColumns<kColumns, Epilogue::Bias, 0>,
                        HeldColumns<kColumns, Epilogue::Scale, Epilogue::kScale> {
  using Bias = HeldColumns<kColumns, Epilogue::Bias, 0>;
  using Scale = HeldColumns<kColumns, Epilogue::Scale, Epilogue::kScale>;

  /// Loads all operands; its kThreads threads wait for each other before and after.
  template <int kThreads>
  __device__ __forceinline__ void load(const Epilogue& epilogue, int columns, int first, int thread) {
    Bias::template load<kThreads>(epilogue, columns, first, thread);
    Scale::template load<kThreads>(epilogue, columns, first, thread);
  }
  __device__ __forceinline__ Epilogue get(Epilogue epilogue, int first) const {
    Bias::put_into(epilogue, first);
    Scale::put_into(epilogue, first);
    return epilogue;
  }
};

}  // namespace kiln
