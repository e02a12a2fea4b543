/// Numbers of data that shapes are made of.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is x, and each of its elements is a number that the run decides: the host reads it, so that shapes may depend on
/// it. Each lies in 32 bits; a run that finds another fails.
///   in   x  bool, i32 or i64 of constant extents, at most kMost elements
///   out  y  x's type, with values
struct ReadValues {
  static constexpr std::string_view name = "ReadValues";
  static constexpr int64_t kMost = 64;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
