// A function for each instruction of sm_90a's asynchronous path: the copy engine (TMA), groups of wgmma. The prelude
// has wgmma() itself, for its number of columns.
#pragma once
#include "ptx/cluster.cuh"
#include "ptx/mma.cuh"

namespace kiln {

/// A tensor map, through which the copy engine reads; the driver encodes it.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// Makes initialised barriers known to the copy engine and to the cluster.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Once all copies that this thread has begun with copy_async are there.
__device__ __forceinline__ void arrive_when_copied(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
/// Before wgmma reads what others have written by copy_async. The reader fences: a writer would wait for its later
/// copies.
__device__ __forceinline__ void see_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// At the barrier in the same place of another block of the cluster.
__device__ __forceinline__ void arrive_remote(unsigned barrier, unsigned block) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(block)
      : "memory");
}
/// Has the map at hand before the first copy through it.
__device__ __forceinline__ void prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
/// Copies the map's box from (x, y, z), x along the contiguous axis; what lies outside reads as zeros.
__device__ __forceinline__ void copy_box(unsigned to, const TensorMap* map, unsigned barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
/// Has the box at hand in the L2 cache.
__device__ __forceinline__ void prefetch_box(const TensorMap* map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map), "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ __forceinline__ void copy_box_4d(unsigned to, const TensorMap* map, unsigned barrier, int x, int y, int z,
                                            int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}
/// Copies lines of channels of the map's pixels from (x, y) of image n on, each read right of and below it by so many.
__device__ __forceinline__ void copy_pixels(unsigned to, const TensorMap* map, unsigned barrier, int channel, int x,
                                            int y, int n, int right, int down) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6}], [%2], {%7, %8};" ::"r"(to),
      "l"(map), "r"(barrier), "r"(channel), "r"(x), "r"(y), "r"(n), "h"(static_cast<unsigned short>(right)),
      "h"(static_cast<unsigned short>(down))
      : "memory");
}
/// copy_box to all blocks of the cluster in `blocks`, at the same place of each, counted by each one's barrier.
__device__ __forceinline__ void copy_box_to_all(unsigned to, const TensorMap* map, unsigned barrier, int x, int y,
                                                int z, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}

/// copy_box of a matrix whose rows its map interleaves, from (x, row): axes 1 to 3 of the map make rows.
__device__ __forceinline__ void copy_interleaved(unsigned to, const TensorMap* map, unsigned barrier, int x, int row) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %5, %5, %5, "
      "%4}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(row), "r"(0)
      : "memory");
}
__device__ __forceinline__ void copy_interleaved_to_all(unsigned to, const TensorMap* map, unsigned barrier, int x,
                                                        int row, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %5, %5, %5, %4}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(row), "r"(0), "h"(blocks)
      : "memory");
}

/// Rows of kLine bytes, 128 or 64, swizzled as the copy engine does it, in groups of eight. A step of 32 bytes along k
/// adds 2.
template <int kLine = 128>
__device__ __forceinline__ unsigned long long tile_descriptor(unsigned address) {
  static_assert(kLine == 128 || kLine == 64, "swizzled lines");
  return static_cast<unsigned long long>((address & 0x3FFFF) >> 4) | 1ull << 16 | (8ull * kLine / 16) << 32 |
         (kLine == 128 ? 1ull : 2ull) << 62;
}
__device__ __forceinline__ void begin_wgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_wgmma() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wait_wgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// After the last wait: keeps the compiler from reading sums of products of T earlier, and makes floats of them.
template <class T, bool kNarrow = false, int kBlocks>
__device__ __forceinline__ void settle(float (&sums)[kBlocks][4]) {
#pragma unroll
  for (int j = 0; j < kBlocks; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(sums[j][i])::"memory");
  make_floats<T, kNarrow>(sums);
}

}  // namespace kiln
