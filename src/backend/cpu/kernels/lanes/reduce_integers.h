/// Reductions of i32 and i64: exact modulo their width.
#pragma once

#include "backend/cpu/kernels/lanes/reduce.h"

namespace kiln::cpu {

/// A reduction like `reduce`, with in = out = dtype.
void reduce_integers(Team& team, Reduction kind, const ReduceShape& shape, DType dtype, const void* x, void* y,
                     int64_t divisor);

}  // namespace kiln::cpu
