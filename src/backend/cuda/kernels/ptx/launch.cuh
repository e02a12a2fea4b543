// Programmatic dependent launch (nothing happens below sm_90), and what groups of a block's warps share: registers and
// named barriers.
#pragma once

namespace kiln {

/// Lets the next kernel's blocks start, as far as there is room for them.
__device__ __forceinline__ void pdl_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Returns when what earlier kernels of the stream have written is there to be read. Every kernel calls it before its
/// first access to memory that another kernel writes; without programmatic dependent launch it costs nothing.
/// A grid of few blocks leaves room for the next one's at once: they begin, and wait in turn.
__device__ __forceinline__ void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned kFewBlocks = 264;
  if (gridDim.x <= kFewBlocks) pdl_launch();
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Leaves each of the group's threads so many registers, and the others to groups that take them.
template <int kRegisters>
__device__ __forceinline__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Waits until kThreads threads are at the barrier of this number. 0 is that of __syncthreads().
template <int kThreads>
__device__ __forceinline__ void sync_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}
/// Counts as one of them, and does not wait.
template <int kThreads>
__device__ __forceinline__ void arrive_threads(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

}  // namespace kiln
