/// ONNX models of one plugin's node, as exporters write them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {

/// Where the node stands.
enum class NodePlace {
  kMain,   ///< in the model's graph
  kBranch  ///< in both branches of an If, whose condition is the input "c"
};

/// The bytes of a model whose inputs are "x0" and on, without constants, and whose outputs are "y0" and on. The node is
/// of domain "TRT". Null where an attribute has no form in ONNX (dimensions, null data).
std::optional<std::string> onnx_model(const char* plugin, const char* version, const Attributes& attributes,
                                      const std::vector<Tensor>& inputs, int num_outputs, NodePlace place);

bool has_onnx_form(const Attributes& attributes);

}  // namespace kiln::plugins::testing
