/// A condition that must hold.
#pragma once

#include <string>

#include "ops/op.h"

namespace kiln::ops {

/// Fails with the message unless all of the condition's elements are true: at build, where they are known; when shapes
/// are bound, where these decide; else while the network runs (RunTimeAssertion).
///   in   condition  bool, on the host where shapes decide it
/// It has no output.
struct Assertion {
  static constexpr std::string_view name = "Assertion";
  static constexpr uint32_t host_inputs = 1 << 0;
  std::string message;
  static void reflect(auto& self, auto f) { f("message", self.message); }
  int num_outputs() const { return 0; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
