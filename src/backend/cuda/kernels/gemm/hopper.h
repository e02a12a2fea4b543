/// Needs of kernels of sm_90a besides their arguments: tensor maps.
#pragma once

#include <cstdint>

#include "backend/cuda/device/driver_types.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

constexpr int64_t kLineBytes = 128;            ///< of k a stage, swizzled; some kernels have 64
constexpr int64_t kMostSharedBytes = 232'448;  ///< of a block
constexpr int64_t kStageAlignment = 1024;      ///< added to the dynamic shared memory

/// A tensor map's parameters: what the driver is asked to encode, for kernels that use them. Axis 0, of products k, is
/// contiguous.
struct MapPlan {
  int type = 0;
  uint32_t rank = 3;
  uint64_t extents[5] = {1, 1, 1, 1, 1}, strides_bytes[4] = {16, 16, 16, 16};
  uint32_t box[5] = {1, 1, 1, 1, 1};
  int swizzle = kSwizzle128, l2 = kL2Promote256;
};

/// The CUtensorMapDataType of an element: FP32 is rounded to TF32 on the way.
int map_type(DType type);
/// The map of an operand of `rows` lines of k elements, `pitch` elements apart, in `batches` that are `step` apart (0:
/// one).
MapPlan map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t batches, int64_t step, int64_t box_rows);
/// Has a map read lines of 64 bytes.
void read_short_lines(MapPlan& map, DType type);
/// The map of one operand whose rows come interleaved: of every 4 * vec rows, eights are {0, 1, vec, vec + 1, 2 * vec,
/// ...}, {2, 3, vec + 2, ...}, and so on, so that each lane of wgmma's layout sums vec neighbours (gemm/lanes.cuh).
/// Rows are a multiple of 4 * vec.
MapPlan interleaved_map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t box_rows, int64_t vec);

/// Bytes of 16 rows of results on their way through shared memory.
constexpr int64_t slab_bytes(int64_t columns) { return 16 * (columns + 8) * 4; }
/// Bytes behind the stages, where the `splits` blocks of a cluster share k: for what they send each other, and slabs.
constexpr int64_t exchange_bytes(int64_t bm, int64_t bn, int64_t splits) {
  const int64_t own = bn / 8 / splits;
  return (splits - 1) * own * bm * 2 * 16 + bm / 16 * slab_bytes(own * 8);
}

}  // namespace kiln::cuda
