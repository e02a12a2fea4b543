#include "ops/if.h"

#include <algorithm>
#include <array>

#include "ir/bodies.h"
#include "onnx/import/bodies.h"
#include "onnx/import/importers.h"
#include "ops/reshape.h"

namespace kiln::onnx::importers {
namespace {

/// Gives single elements that the branches have in different ranks the higher one.
Status unify_ranks(std::vector<ImportedBody>& branches) {
  for (size_t i = 0; i < branches[0].outputs.size(); ++i) {
    const auto rank = [&](size_t b) { return branches[b].graph->type(branches[b].outputs[i]).rank(); };
    const auto is_single = [&](const ImportedBody& branch) {
      return sym::provably_equal(branch.graph->type(branch.outputs[i]).volume(), 1);
    };
    if (rank(0) == rank(1) || !std::ranges::all_of(branches, is_single)) continue;
    ImportedBody& lower = branches[rank(0) < rank(1) ? 0 : 1];
    const std::vector<int64_t> ones(static_cast<size_t>(std::max(rank(0), rank(1))), 1);
    lower.outputs[i] = TRY(lower.graph->add_one(ops::Reshape{.dims = ones}, {lower.outputs[i]}));
  }
  return {};
}

}  // namespace

/// An If whose condition the run decides. (One that is known is imported as its branch.)
Status if_(ImportContext& cx) {
  const std::array<const GraphDef*, 2> branches = {&TRY(cx.node().need_graph("then_branch")).get(),
                                                   &TRY(cx.node().need_graph("else_branch")).get()};
  TRY(require(cx.num_outputs() > 0, "the node has no output"));
  const Captures captures = TRY(cx.bodies().captures(branches));
  std::vector<ImportedBody> bodies;
  for (size_t b = 0; b < branches.size(); ++b) {
    const auto where = [&] { return b == 0 ? "then_branch" : "else_branch"; };
    TRY(in_context(require(branches[b]->inputs.empty(), "it has inputs; a branch takes what it reads from around it"),
                   where));
    TRY(in_context(require(branches[b]->outputs.size() == cx.num_outputs(), "it has ", branches[b]->outputs.size(),
                           " outputs; the node has ", cx.num_outputs()),
                   where));
    bodies.push_back(TRY(in_context(cx.bodies().import(*branches[b], {}, captures), where)));
  }
  TRY(unify_ranks(bodies));
  for (size_t b = 0; b < branches.size(); ++b) mark_outputs(bodies[b], *branches[b]);
  ops::If op{
      .outputs = static_cast<int>(cx.num_outputs()),
      .decided = TRY(ops::differing_axes(ir::output_types(*bodies[0].graph), ir::output_types(*bodies[1].graph)))};
  Values inputs{TRY(single(cx, 0, "the condition"))};
  inputs.insert(inputs.end(), captures.values.begin(), captures.values.end());
  for (const ImportedBody& body : bodies) cx.bodies().warn(body.warnings);
  const Values outputs = TRY(cx.add_all(std::move(op), inputs, {bodies[0].graph, bodies[1].graph}));
  for (size_t i = 0; i < outputs.size(); ++i) TRY(cx.output(i, outputs[i]));
  return {};
}

}  // namespace kiln::onnx::importers
