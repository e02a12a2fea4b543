/// Elements known at build time.
#pragma once

#include "ops/origin.h"

namespace kiln::ops {

/// y = value.
///   out  y   the tensor's type; small integer tensors also give symbolic values
struct Constant {
  static constexpr std::string_view name = "Constant";
  static constexpr int min_inputs = 0, max_inputs = 0;
  HostTensor value;
  OriginRef origin = nullptr;  ///< no part of what it means: constants are equal where their elements are
  bool is_read = false;        ///< an importer put its elements into attributes; no part either
  static void reflect(auto& self, auto f) { f("value", self.value); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
