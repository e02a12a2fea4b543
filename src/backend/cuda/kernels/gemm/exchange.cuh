// How the blocks of a cluster that share a tile's k exchange partial sums: each block finishes a part of the columns.
#pragma once
#include "ptx/hopper.cuh"

namespace kiln {

/// kSplit blocks with kBlocks blocks of 8 columns each in kThreads threads.
template <int kSplit, int kBlocks, int kThreads>
struct Exchange {
  static constexpr int kOwn = kBlocks / kSplit;  ///< blocks of columns that one block of the cluster ends
  static_assert(kBlocks % kSplit == 0, "every block ends as many columns");

  /// Partial sums of the columns that this block ends, from the others.
  struct Received {
    float4 at[kSplit > 1 ? kSplit - 1 : 1][kOwn][kThreads];
  };

  /// `own` gets the sums over the cluster of this block's columns, added in the order of the ranks' slots. Called by
  /// all threads of all blocks; those that do not multiply have `thread` >= kThreads.
  static __device__ __forceinline__ void run(float (&sums)[kBlocks][4], float (&own)[kOwn][4], Received& received,
                                             int rank, int thread) {
    arrive_cluster();
    run_begun(sums, own, received, rank, thread);
  }
  /// The same behind an arrive_cluster() of every thread at the block's beginning, which saves the wait for it here.
  static __device__ __forceinline__ void run_begun(float (&sums)[kBlocks][4], float (&own)[kOwn][4], Received& received,
                                                   int rank, int thread) {
    wait_cluster();  // every block has begun, so that its shared memory is there
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      const int owner = j / kOwn, slot = rank < owner ? rank : rank - 1;
      if (owner == rank) {
#pragma unroll
        for (int i = 0; i < 4; ++i) own[j % kOwn][i] = sums[j][i];
      } else if (thread < kThreads) {
        store_remote(remote_address(shared_address(&received.at[slot][j % kOwn][thread]), owner), sums[j]);
      }
    }
    arrive_cluster();
    wait_cluster();
    if (thread >= kThreads) return;
#pragma unroll
    for (int j = 0; j < kOwn; ++j)
#pragma unroll
      for (int sender = 0; sender < kSplit - 1; ++sender) {
        const float4 part = received.at[sender][j][thread];
        own[j][0] += part.x, own[j][1] += part.y, own[j][2] += part.z, own[j][3] += part.w;
      }
  }
};

}  // namespace kiln
