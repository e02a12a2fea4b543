/// The vector kernels that a nest's interpreter calls: one instruction over the dense elements of a tile.
#pragma once

#include <cstdint>

#include "ops/scalar.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// One call. Arrays are dense; `out` may be any of `in`, but not overlap them otherwise.
struct NestCall {
  const void* in[3];
  void* out;
  int64_t count;
  double alpha, beta;  ///< of activations
};
using NestKernel = void (*)(const NestCall&);

/// How an element of `type` is held while a nest computes: f32, f64, i32 or i64.
constexpr DType register_type(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16: return DType::kF32;
    case DType::kF64:
    case DType::kI64: return type;
    default: return DType::kI32;
  }
}

/// The kernel of the chosen target, null if there is none. `type` is that of the arguments; comparisons give i32.
/// Covers everything but kSelect, kCast and kIdentity.
NestKernel find_nest_kernel(ScalarFn fn, DType type);
/// x * fn(x) of f32, the same bits as by two instructions; null for a function that no gate has.
NestKernel find_nest_gate(ScalarFn fn);
/// kSelect for elements of 4 or 8 bytes, its condition i32.
NestKernel find_nest_select(DType type);
/// Finds the kernel from memory to a register, from one register type to another, or back; null where no work is
/// needed.
NestKernel find_nest_load(DType from);
NestKernel find_nest_store(DType to);
/// Finds the kernel of a Cast: the result is held as register_type(to), its value one that `to` has.
NestKernel find_nest_cast(DType from, DType to);
/// Finds the kernel that, in place, makes the value in a register one that `type` has, after arithmetic. Null for f32,
/// i32, i64 and bool.
NestKernel find_nest_round(DType type);

// The parts of find_nest_kernel and of the conversions, by file.
NestKernel find_float_kernel(ScalarFn fn);
NestKernel find_double_kernel(ScalarFn fn);
NestKernel find_integer_kernel(ScalarFn fn, DType type);
NestKernel find_from_double(DType to);

}  // namespace kiln::cpu
