/// Arithmetic of sizes and types that the host's halves of several families share.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/dtype.h"

namespace kiln::cuda {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// Bytes of an element of a byte or more.
constexpr int64_t bytes_of(DType type) { return bits_of(type) / 8; }
constexpr bool is_within(int64_t n, int64_t most) { return n >= 1 && n <= most; }
/// Whether vectors or pieces may be so wide: by powers of two, which are what addresses are aligned to.
constexpr bool is_width(int64_t n, int64_t most) {
  return is_within(n, most) && std::has_single_bit(static_cast<uint64_t>(n));
}

}  // namespace kiln::cuda
