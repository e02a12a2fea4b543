// Blocks of a cluster: barriers that count bytes, and stores into each other's shared memory. Below sm_90 a block is
// alone.
//
// A release at the scope of a cluster waits for all of a block's accesses to memory (MEMBAR.ALL.GPU, a microsecond).
// `send` needs none: the value and its count arrive together.
#pragma once
#include "device.cuh"

namespace kiln {

__device__ __forceinline__ void init_barrier(unsigned barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#endif
}
/// Arrives, and has the phase wait for that many bytes of copies too.
__device__ __forceinline__ void expect_bytes(unsigned barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
#endif
}
__device__ __forceinline__ void wait_barrier(unsigned barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
  unsigned done;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  } while (!done);
#else
  __syncthreads();
#endif
}

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
__device__ __forceinline__ void arrive_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
/// Says only that the block has begun and its barriers are initialised: orders nothing else.
__device__ __forceinline__ void begin_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
/// Until all threads of all blocks have arrived.
__device__ __forceinline__ void wait_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}
/// Waits for all threads of the cluster, also where those of a warp are apart. sm_90 and up.
__device__ __forceinline__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
/// Where `address` of this block's shared memory is in another's.
__device__ __forceinline__ unsigned remote_address(unsigned address, unsigned block) {
#if __CUDA_ARCH__ >= 900
  unsigned remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(block));
  return remote;
#else
  return address;
#endif
}
__device__ __forceinline__ void store_remote(unsigned address, const float (&x)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x[0]), "f"(x[1]), "f"(x[2]),
               "f"(x[3])
               : "memory");
#endif
}

/// Stores to the place of `at` in another block, whose barrier in the place of `barrier` counts the bytes.
__device__ __forceinline__ void send(float* at, float x, unsigned barrier, unsigned block) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   remote_address(shared_address(at), block)),
               "r"(__float_as_uint(x)), "r"(remote_address(barrier, block))
               : "memory");
#else
  *at = x;
#endif
}
__device__ __forceinline__ void send(float* at, const Vec<float, 4>& x, unsigned barrier, unsigned block) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                   remote_address(shared_address(at), block)),
               "r"(__float_as_uint(x.at[0])), "r"(__float_as_uint(x.at[1])), "r"(__float_as_uint(x.at[2])),
               "r"(__float_as_uint(x.at[3])), "r"(remote_address(barrier, block))
               : "memory");
#else
  store_vec<float, 4>(at, x);
#endif
}

}  // namespace kiln
