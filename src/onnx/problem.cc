#include "onnx/problem.h"

#include <utility>

#include "onnx/import/context.h"

namespace kiln::onnx {

Problem problem_of(const GraphDef& main, int node, Error error) {
  Problem problem{error.code, std::move(error.message), node, {}, {}, {}};
  if (node >= 0) {
    const NodeDef& def = main.nodes[static_cast<size_t>(node)];
    problem.node_name = label_of(def);
    problem.op_type = def.op_type;
    problem.domain = def.domain;
  }
  return problem;
}

}  // namespace kiln::onnx
