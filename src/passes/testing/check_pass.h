/// Checks of every pass: it keeps values, keeps the graph sound, and settles.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

struct CheckOptions {
  int graphs = 200;
  int nodes = 8;          ///< a graph
  double tolerance = 0;   ///< relative to the largest element of an output; 0: equal bits, up to the sign of zero
  int least_changed = 1;  ///< graphs that the pass must change, or the test is void
  bool strongly_typed = false;
  bool settles = true;  ///< a second run changes nothing; else it only keeps values
};
/// Runs `pass` on seeded random graphs of these ops: outputs are the same before and after through the references, the
/// graph verifies and believes of extents nothing that could break where it did not before, and a second run changes
/// nothing. Taps of all values show what they showed before, as far as they are still there. A failure says the seed
/// and prints the graph.
void check_pass(Pass pass, std::span<const OpInfo* const> ops, const CheckOptions& options);
template <class... Ops>
void check_pass(Pass pass, const CheckOptions& options = {}) {
  const OpInfo* const ops[] = {&op_info<Ops>()...};
  check_pass(pass, ops, options);
}

/// The pass on a graph given as text, verified, as text without the types; or the error's message.
std::string after_pass(Pass pass, std::string_view text, bool strongly_typed = false);

}  // namespace kiln::passes
