/// Why elements are not known before a network runs.
#pragma once

#include <string>

#include "ir/graph.h"

namespace kiln::onnx {

/// The end of a sentence about `value`, whose elements inference does not know: "it is computed from data", or which
/// tensor on the way has more elements than are followed.
std::string why_unknown(const ir::Graph& graph, ir::ValueId value);

}  // namespace kiln::onnx
