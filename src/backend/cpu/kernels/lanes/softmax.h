/// Softmax along one axis, with every row read from memory once.
#pragma once

#include <cstdint>

#include "backend/cpu/device/team.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// x and y are dense [outer, length, inner] of f32, f16 or bf16; the softmax runs along `length`.
struct SoftmaxShape {
  int64_t outer = 1, length = 1, inner = 1;
  DType dtype = DType::kF32;
};
/// Computes in f32; what is below 1e-37 of the greatest may become zero. y may be x. A row of -infinity, or with
/// +infinity or NaN in it, gives NaN.
void softmax(Team& team, const SoftmaxShape& shape, const void* x, void* y);

}  // namespace kiln::cpu
