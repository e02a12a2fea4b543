/// A ReLU whose slope below zero is a tensor.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y = x where x >= 0 (or NaN), slope * x elsewhere.
///   in   x      f32, f16 or bf16
///        slope  x's type and rank, broadcast to x: each extent is x's or 1
///   out  y      x's type and shape
struct ParametricRelu {
  static constexpr std::string_view name = "ParametricRelu";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 2, max_inputs = 2;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
