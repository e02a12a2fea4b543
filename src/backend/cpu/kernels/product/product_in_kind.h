/// Matrix products that are computed in the type of their elements: f64, and i32 and i64, exact modulo their width.
#pragma once

#include "backend/cpu/device/team.h"
#include "steps/product_shape.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// y = a b, over the batch axes of the shape. The terms of an element are added one after another, for f64 each by one
/// rounding. Needs no memory but 32 KiB of stack.
void product_in_kind(Team& team, const ProductShape& shape, DType dtype, const void* a, const void* b, void* y);

}  // namespace kiln::cpu
