/// Functions of one element without parameters.
#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace kiln::ops {

/// TensorRT's unary operations, in its order.
enum class UnaryKind : int32_t {
  kExp,
  kLog,
  kSqrt,
  kRecip,
  kAbs,  ///< of an integer: its smallest value stays as it is
  kNeg,
  kSin,
  kCos,
  kTan,
  kSinh,
  kCosh,
  kAsin,
  kAcos,
  kAtan,
  kAsinh,
  kAcosh,
  kAtanh,
  kCeil,
  kFloor,
  kErf,
  kNot,    ///< of a bool
  kSign,   ///< -1, 0 or 1; NaN stays NaN
  kRound,  ///< to the nearest integer, ties to even
  kIsInf,  ///< gives a bool
  kIsNan   ///< gives a bool
};
std::span<const std::string_view> enum_names(UnaryKind);

/// y = f(x), as IEEE 754 and C define f outside its domain: log(-1) is NaN, log(0) is -inf.
///   in   x   f32, f16, bf16 or f64; kAbs, kNeg and kSign also an integer; kNot a bool
///   out  y   x's shape and type, bool for kIsInf and kIsNan; integers and bools give symbolic values
struct Unary {
  static constexpr std::string_view name = "Unary";
  static constexpr Trait traits = Trait::kPointwise;
  UnaryKind kind = UnaryKind::kExp;
  static void reflect(auto& self, auto f) { f("kind", self.kind); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
  Scalar scalar() const;
};

}  // namespace kiln::ops
