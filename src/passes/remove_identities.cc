#include "passes/remove_identities.h"

#include <algorithm>

#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/expand.h"
#include "ops/identity.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/slice_spec_of.h"

namespace kiln::passes {
namespace {

bool is_identity_permutation(std::span<const int64_t> perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool all_are(const std::vector<sym::Expr>& values, int64_t wanted) {
  return std::ranges::all_of(values, [&](const sym::Expr& value) { return value == sym::Expr(wanted); });
}

/// Whether output 0 is input 0, types aside.
bool gives_input_back(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Identity>() || node.op.as<ops::Cast>() || node.op.as<ops::Reshape>() ||
      node.op.as<ops::Squeeze>() || node.op.as<ops::Unsqueeze>() || node.op.as<ops::Expand>())
    return true;
  if (const auto* transpose = node.op.as<ops::Transpose>()) return is_identity_permutation(transpose->perm);
  if (node.op.as<ops::Concatenation>()) return node.inputs.size() == 1;
  if (!node.op.as<ops::Slice>()) return false;
  const auto spec = slice_spec_of(graph, id);
  return spec && all_are(spec->starts, 0) && all_are(spec->strides, 1);
}

}  // namespace

Status remove_identities(ir::Graph& graph, PassContext&) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const ir::Node& node = graph.node(id);
    if (!gives_input_back(graph, id) || !graph.type(node.inputs[0]).same_type(graph.type(node.outputs[0]))) continue;
    graph.replace_uses(node.outputs[0], node.inputs[0]);
    graph.remove(id);
  }
  return graph.infer();
}

}  // namespace kiln::passes
