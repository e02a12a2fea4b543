/// The first elements of rows in the order of their sort keys (ops/sort_key-inl.h); of equal ones the lower index
/// first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// x is dense [outer, length, inner] of a type with a sort key; rows run along `length`.
struct TopKShape {
  int64_t outer = 1, length = 1, inner = 1;
  int64_t k = 1;  ///< in [0, length]
  bool largest = true;
  DType dtype = DType::kF32;
  bool wide_indices = false;  ///< i64, else i32
};

int64_t top_k_workspace(const Team& team, const TopKShape& shape);  ///< bytes

/// values and indices are [outer, k, inner].
void top_k(Team& team, const TopKShape& shape, const void* x, void* values, void* indices, std::byte* workspace);

}  // namespace kiln::cpu
