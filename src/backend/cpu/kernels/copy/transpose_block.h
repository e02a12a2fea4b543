/// Transposition of a block of elements that stays in cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::cpu {

/// to[a * to_stride + b * size] = from[b * from_stride + a * size] for a < num_a, b < num_b: elements of `size` bytes
/// (1, 2, 4, 8 or 16), strides in bytes.
using TransposeBlock = void (*)(const std::byte* from, ptrdiff_t from_stride, std::byte* to, ptrdiff_t to_stride,
                                int64_t num_a, int64_t num_b);
TransposeBlock transpose_block(int element_bytes);

}  // namespace kiln::cpu
