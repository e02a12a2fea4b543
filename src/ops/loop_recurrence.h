/// A value carried from one iteration of a loop to the next.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is `initial` in the first iteration of the loop `group`, and in each further one what `next` was before.
///   in   initial  any type, from outside the loop
///        next     its type and rank; fed back, and given after the node is added
///   out  y        initial's type and shape. (Extents that change show only when the loop is made one node.) It has
///                 values where an iteration knows them: `with_followed_elements`
struct LoopRecurrence {
  static constexpr std::string_view name = "LoopRecurrence";
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t fed_back = 1 << 1;
  int group = 0;
  static void reflect(auto& self, auto f) { f("group", self.group); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
