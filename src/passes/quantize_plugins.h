/// Implicit quantization: plugins whose tensors have known ranges get bytes.
#pragma once

#include "passes/pass.h"
#include "passes/ranges.h"

namespace kiln::passes {

/// A plugin that takes i8 for FP32 tensors that have a range gets it, tensor by tensor: those inputs are quantized and
/// those outputs dequantized, and the plugin is told their scales. Nothing changes for one that does not take i8, that
/// is not told scales, or whose layer's precision is a float.
Status quantize_plugins(ir::Graph& graph, const Ranges& ranges);

}  // namespace kiln::passes
