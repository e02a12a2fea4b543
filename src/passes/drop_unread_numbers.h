/// The host reads no number that no shape needs.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Removes a ReadValues of the graph, not of a body, whose numbers are in no extent, attribute or assumption. Readers
/// of its copy read what it copied, whose elements are the same. A graph whose extents would become others stays as it
/// is.
Status drop_unread_numbers(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
