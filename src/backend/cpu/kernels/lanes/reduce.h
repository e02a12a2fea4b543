/// Sums, products, maxima and minima along one axis (or several that are neighbours).
#pragma once

#include <cstdint>

#include "backend/cpu/device/team.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

enum class Reduction : uint8_t { kSum, kProd, kMax, kMin };

/// x is dense [outer, length, inner], y dense [outer, inner].
struct ReduceShape {
  int64_t outer = 1, length = 1, inner = 1;
};

/// Whether `reduce` takes these: f32, f16 and bf16 in any pair, or f64, i32 or i64 to itself.
bool can_reduce(DType in, DType out);

/// Folds along `length` and divides by `divisor`, which an average sets to the number of elements. Floats are computed
/// in f32, sums with an error that does not grow with their length, f64 in f64, and NaN gives NaN; integers wrap, and
/// their quotient is rounded towards zero (a divisor of 0 counts as 1). Nothing gives 0, 1, the least and the greatest
/// value.
void reduce(Team& team, Reduction kind, const ReduceShape& shape, DType in, const void* x, DType out, void* y,
            int64_t divisor = 1);

}  // namespace kiln::cpu
