/// What is known of tensors' numbers before they are quantized.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace kiln::passes {

/// The largest magnitude of tensors, by name: positive and finite.
using Ranges = std::map<std::string, float, std::less<>>;

/// What one step of an i8 stands for where the largest magnitude is `range`, 0 or more: a 127th, for -128 is not used.
/// Always positive.
float scale_of_range(float range);

/// The range of a value, or of that whose numbers it only moves.
std::optional<float> known_range(const ir::Graph& graph, ir::ValueId value, const Ranges& ranges);

}  // namespace kiln::passes
