/// Why elements are not known before a network runs.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::onnx {

/// The end of a sentence about `value`, whose elements inference does not know: "it is computed from data", or which
/// tensor on the way has more elements than are followed.
std::string why_unknown(const ir::Graph& graph, ir::ValueId value);
/// Whether the host may read a value's elements while the network runs (ops/read_values.h).
bool is_readable(const TensorType& type);
/// The names of the values of data that the host has to read for `value` to be known: integers that follow from no
/// others, or from too many. Empty where some of them cannot be read.
std::vector<std::string> values_to_read(const ir::Graph& graph, ir::ValueId value);

}  // namespace kiln::onnx
