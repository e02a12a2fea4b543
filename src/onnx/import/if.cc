#include "ops/if.h"

#include <array>

#include "onnx/import/bodies.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

std::vector<TensorType> types_of(const ImportedBody& body) {
  std::vector<TensorType> types;
  for (const ValueId value : body.outputs) types.push_back(body.graph->type(value));
  return types;
}

}  // namespace

/// An If whose condition the run decides. (One that is known is imported as its branch.)
Status if_(ImportContext& cx) {
  const std::array<const GraphDef*, 2> branches = {&TRY(cx.node().need_graph("then_branch")).get(),
                                                   &TRY(cx.node().need_graph("else_branch")).get()};
  TRY(require(cx.num_outputs() > 0, "the node has no output"));
  const Captures captures = TRY(cx.bodies().captures(branches));
  std::vector<std::vector<TensorType>> types;
  std::vector<std::shared_ptr<ir::Graph>> bodies;
  for (size_t b = 0; b < branches.size(); ++b) {
    const auto where = [&] { return b == 0 ? "then_branch" : "else_branch"; };
    TRY(in_context(require(branches[b]->inputs.empty(), "it has inputs; a branch takes what it reads from around it"),
                   where));
    TRY(in_context(require(branches[b]->outputs.size() == cx.num_outputs(), "it has ", branches[b]->outputs.size(),
                           " outputs; the node has ", cx.num_outputs()),
                   where));
    const ImportedBody body = TRY(in_context(cx.bodies().import(*branches[b], {}, captures), where));
    types.push_back(types_of(body));
    bodies.push_back(body.graph);
  }
  ops::If op{.outputs = static_cast<int>(cx.num_outputs()), .decided = TRY(ops::differing_axes(types[0], types[1]))};
  Values inputs{TRY(single(cx, 0, "the condition"))};
  inputs.insert(inputs.end(), captures.values.begin(), captures.values.end());
  const Values outputs = TRY(cx.add_all(std::move(op), inputs, std::move(bodies)));
  for (size_t i = 0; i < outputs.size(); ++i) TRY(cx.output(i, outputs[i]));
  return {};
}

}  // namespace kiln::onnx::importers
