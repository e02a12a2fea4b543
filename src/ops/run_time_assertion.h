/// A condition on data.
#pragma once

#include <string>

#include "ops/op.h"

namespace kiln::ops {

/// Fails with the message, while the network runs, unless all of the condition's elements are true. What a builder
/// makes of an Assertion that neither the build nor a bind can decide.
///   in   condition  bool
///   out  held       bool []: true. Nobody reads it; it is there so that the node stays.
struct RunTimeAssertion {
  static constexpr std::string_view name = "RunTimeAssertion";
  std::string message;
  static void reflect(auto& self, auto f) { f("message", self.message); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
