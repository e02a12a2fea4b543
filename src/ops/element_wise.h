/// Functions of two elements.
#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace kiln::ops {

/// TensorRT's elementwise operations, in its order.
enum class ElementWiseKind : int32_t {
  kSum,
  kProd,
  kMax,  ///< NaN if either is
  kMin,  ///< NaN if either is
  kSub,
  kDiv,  ///< of integers: truncates towards zero; x / 0 is 0
  kPow,  ///< of integers: wraps; a negative exponent truncates the fraction
  kFloorDiv,
  kAnd,
  kOr,
  kXor,
  kEqual,
  kGreater,
  kLess,
  // Not TensorRT's:
  kMod  ///< of floats: the exact remainder of a truncated quotient, with a's sign; C's fmod
};
std::span<const std::string_view> enum_names(ElementWiseKind);

/// y = f(a, b) of elements broadcast against each other. Integers wrap.
///   in   a, b  one type and rank: f32, f16, bf16, f64 or an integer; kAnd, kOr, kXor take bools, kEqual also;
///              kMod takes floats
///   out  y     the broadcast shape; the inputs' type, or bool for comparisons; integers and bools give symbolic values
struct ElementWise {
  static constexpr std::string_view name = "ElementWise";
  static constexpr Trait traits = Trait::kPointwise;
  static constexpr int min_inputs = 2, max_inputs = 2;
  ElementWiseKind kind = ElementWiseKind::kSum;
  static void reflect(auto& self, auto f) { f("kind", self.kind); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
  Scalar scalar() const;
};

}  // namespace kiln::ops
