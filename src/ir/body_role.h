/// What the bodies of a node are called in texts for people.
#pragma once

#include <string>

#include "ir/graph.h"

namespace kiln::ir {

/// "branch of true", "branch of false", "iteration", "test of the condition".
std::string body_role(const Node& node, size_t body);

}  // namespace kiln::ir
