/// The same bits as another element type.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y has x's bits, read as elements of `to`. Nothing runs: y is x's memory.
///   in   x   a type as wide as `to`, of whole bytes
///   out  y   x's shape, of type `to`
struct BitCast {
  static constexpr std::string_view name = "BitCast";
  DType to = DType::kI32;  ///< not bool: a bool's byte is 0 or 1
  static void reflect(auto& self, auto f) { f("to", self.to); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
