#include "passes/rewrite.h"

#include <algorithm>

namespace kiln::passes {
namespace {

ir::Patch::Origin origin_of(const ir::Capture& found) {
  ir::Patch::Origin origin;
  for (auto id = found.nodes().rbegin(); id != found.nodes().rend(); ++id)  // the root is the last to compute
    for (const std::string& from : found.graph().node(*id).provenance)
      if (std::ranges::find(origin.provenance, from) == origin.provenance.end()) origin.provenance.push_back(from);
  origin.name = found.graph().node(found.nodes()[0]).name;
  return origin;
}

/// Removes those of the nodes that lost their readers, and what above them only they read.
void remove_unread(ir::Graph& graph, std::vector<ir::NodeId> nodes) {
  while (!nodes.empty()) {
    const ir::NodeId id = nodes.back();
    nodes.pop_back();
    if (!graph.alive(id)) continue;
    const auto unread = [&](ir::ValueId v) { return graph.num_uses(v) == 0; };
    if (!std::ranges::all_of(graph.node(id).outputs, unread)) continue;
    if (!graph.node(id).sizes.empty()) continue;  // attributes may read what it decides: remove_dead knows
    const std::vector<ir::ValueId> inputs = graph.node(id).inputs;
    graph.remove(id);
    for (const ir::ValueId input : inputs)
      if (input != ir::ValueId::kNone && graph.value(input).producer != ir::NodeId::kNone)
        nodes.push_back(graph.value(input).producer);
  }
}

Result<bool> rewrite_at(ir::Graph& graph, const ir::Pattern& pattern, Rule rule, ir::NodeId id) {
  const auto found = ir::match(graph, pattern, graph.node(id).outputs[0]);
  if (!found) return false;
  ir::Patch patch(graph);
  TRY(rule(*found, patch));
  if (patch.empty() || !TRY(patch.applies())) return false;
  const std::vector<ir::NodeId> matched = found->nodes();
  TRY(patch.apply(graph, origin_of(*found)));
  remove_unread(graph, matched);
  return true;
}

bool is_root(const ir::Graph& graph, const ir::Pattern& pattern, ir::NodeId id) {
  return graph.alive(id) && &graph.node(id).op.info() == pattern.info && graph.node(id).op.num_outputs() > 0;
}

/// Whether the pattern matches any node. Most patterns match nowhere; finding that out first saves sorting the nodes.
bool matches_anywhere(const ir::Graph& graph, const ir::Pattern& pattern) {
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i);
        is_root(graph, pattern, id) && ir::match(graph, pattern, graph.node(id).outputs[0]))
      return true;
  return false;
}

}  // namespace

Status rewrite(ir::Graph& graph, const ir::Pattern& pattern, Rule rule) {
  CHECK(pattern.kind == ir::Pattern::Kind::kOp);
  if (!matches_anywhere(graph, pattern)) return graph.infer();
  int left = 100 + 20 * graph.num_nodes();  // a rule that shrinks the graph needs far fewer
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::NodeId id : TRY(graph.topological_order())) {
      if (!is_root(graph, pattern, id)) continue;
      const auto where = [&] { return str("rewriting ", graph.node(id).op.name(), " '", graph.node(id).name, "'"); };
      if (!TRY(in_context(rewrite_at(graph, pattern, rule, id), where))) continue;
      changed = true;
      if (--left < 0) return error(Code::kInternal, "a rewrite rule does not settle: it keeps changing the graph");
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
