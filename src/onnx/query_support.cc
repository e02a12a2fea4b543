#include <algorithm>
#include <functional>

#include "onnx/node_origins.h"
#include "onnx/node_outcomes.h"
#include "onnx/topological_order.h"

namespace kiln::onnx {
namespace {

std::vector<size_t> order_of(const GraphDef& graph) {
  if (auto order = topological_order(graph)) return *std::move(order);
  std::vector<size_t> as_given(graph.nodes.size());  // a cycle: no node is supported anyway
  for (size_t i = 0; i < as_given.size(); ++i) as_given[i] = i;
  return as_given;
}

}  // namespace

ModelSupport query_support(std::shared_ptr<const Model> model, const ImportOptions& options) {
  ModelSupport result;
  const auto flat = prepare_model(model, result.report);
  if (!flat) return result;
  ir::Graph scratch;
  const GraphDef& graph = (*flat)->graph;
  NodeOutcomes outcomes(graph);
  import_checked(**flat, scratch, options, result.report, &outcomes);
  for (const Problem& problem : result.report.errors)
    if (problem.node >= 0) outcomes.set(problem.node, NodeOutcome::kFailed);  // the check's, too
  std::vector<bool> failed(model->graph.nodes.size(), false);
  const std::vector<int64_t> from = node_origins(model->graph, graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (from[i] != kNoOrigin && outcomes.of(i) == NodeOutcome::kFailed) failed[static_cast<size_t>(from[i])] = true;
  renumber_as_given(from, result.report.errors);
  if (!result.supported() && std::ranges::none_of(failed, std::identity())) return result;
  bool joins = false;
  for (const size_t i : order_of(model->graph)) {
    if (!failed[i] && !joins) result.subgraphs.emplace_back();
    if (!failed[i]) result.subgraphs.back().nodes.push_back(static_cast<int64_t>(i));
    joins = !failed[i];
  }
  return result;
}

}  // namespace kiln::onnx
