/// Applies a rule wherever its pattern matches.
#pragma once

#include "base/function_ref.h"
#include "ir/patch.h"
#include "ir/pattern.h"
#include "passes/pass.h"

namespace kiln::passes {

/// Prepares the change for one match; leaving the patch empty means that the rule does not apply after all.
using Rule = FunctionRef<Status(const ir::Capture& found, ir::Patch& patch)>;

/// Tries the pattern at every node, producers first, again and again until nothing changes: the same graph always ends
/// the same. New nodes take the provenance of all nodes matched and the name of the first; nodes that nobody reads any
/// more because of it go. A rule that never settles is an internal error.
Status rewrite(ir::Graph& graph, const ir::Pattern& pattern, Rule rule);

}  // namespace kiln::passes
