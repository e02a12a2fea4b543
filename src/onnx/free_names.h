/// Names that bodies read from the graphs around them.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "onnx/model.h"

namespace kiln::onnx {

using FreeNames = std::map<const GraphDef*, std::vector<std::string_view>>;

/// The names that a graph reads from those around it, in the order of their first use. `known` keeps them, and those of
/// the bodies within, for who asks again.
const std::vector<std::string_view>& free_names(const GraphDef& graph, FreeNames& known);

}  // namespace kiln::onnx
