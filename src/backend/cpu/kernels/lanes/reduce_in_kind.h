/// Reductions that are computed in the type of their elements: i32 and i64, exact modulo their width, and f64.
#pragma once

#include "backend/cpu/kernels/lanes/reduce.h"

namespace kiln::cpu {

/// A reduction like `reduce`, with in = out = dtype.
void reduce_in_kind(Team& team, Reduction kind, const ReduceShape& shape, DType dtype, const void* x, void* y,
                    int64_t divisor);

}  // namespace kiln::cpu
