#include "onnx/problem.h"

#include <utility>

#include "onnx/import/context.h"

namespace kiln::onnx {

Problem problem_of(const GraphDef& main, int node, Error error) {
  Problem problem{.code = error.code,
                  .message = std::move(error.message),
                  .node = node,
                  .node_name = {},
                  .op_type = {},
                  .domain = {}};
  if (node >= 0) {
    const NodeDef& def = main.nodes[static_cast<size_t>(node)];
    problem.node_name = label_of(def);
    problem.op_type = def.op_type;
    problem.domain = def.domain;
    problem.functions.assign(def.functions.begin(), def.functions.end());
  }
  return problem;
}

}  // namespace kiln::onnx
