/// Implicit quantization of layers that are no products, where the program asks for it.
#pragma once

#include <optional>

#include "passes/pass.h"
#include "passes/ranges.h"

namespace kiln::passes {

/// Layers whose precision is INT8 read bytes: their floats are quantized and dequantized where their ranges are known,
/// as those of products are. A layer that a product of bytes computes behind its sums needs no range of its own. Runs
/// behind quantize_contractions.
Status quantize_layers(ir::Graph& graph, const Ranges& ranges);

/// The first input of such a layer that bytes do not reach; none: it is no such layer, or reads bytes.
std::optional<ir::ValueId> input_without_bytes(const ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::passes
