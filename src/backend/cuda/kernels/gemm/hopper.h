/// What kernels of sm_90a need besides their arguments: tensor maps, and the text of their instruction.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/dtype.h"

namespace kiln::cuda {

constexpr int64_t kLineBytes = 128;            ///< of k a stage, swizzled
constexpr int64_t kMostSharedBytes = 232'448;  ///< of a block
constexpr int64_t kStageAlignment = 1024;      ///< added to the dynamic shared memory

/// A tensor map's parameters: what the driver is asked to encode, for kernels that use them. Axis 0 is k.
struct MapPlan {
  int type = 0;
  uint64_t extents[3] = {1, 1, 1}, strides_bytes[2] = {16, 16};
  uint32_t box[3] = {1, 1, 1};
};

/// The map of an operand of `rows` lines of k elements, `pitch` elements apart, in `batches` that are `step` apart (0:
/// one).
MapPlan map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t batches, int64_t step, int64_t box_rows);

/// Text of wgmma() for that many columns: an instruction names all its registers.
std::string wgmma_source(int64_t columns, DType element);
/// Of 16 rows of results on their way through shared memory.
constexpr int64_t slab_bytes(int64_t columns) { return 16 * (columns + 8) * 4; }
/// Behind the stages, where the `splits` blocks of a cluster share k: what they send each other, and slabs.
constexpr int64_t exchange_bytes(int64_t bm, int64_t bn, int64_t splits) {
  const int64_t own = bn / 8 / splits;
  return (splits - 1) * own * bm * 2 * 16 + bm / 16 * slab_bytes(own * 8);
}

}  // namespace kiln::cuda
