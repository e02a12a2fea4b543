#include "passes/source_uses.h"

#include "ops/constant.h"
#include "ops/shape.h"

namespace kiln::passes {
namespace {

/// By node: whether outputs need it.
std::vector<bool> needed_nodes(const ir::Graph& graph) {
  std::vector<bool> needed(static_cast<size_t>(graph.num_nodes()), false);
  std::vector<ir::ValueId> open;
  for (const ir::Output& output : graph.outputs()) open.push_back(output.value);
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const ir::NodeId id = value == ir::ValueId::kNone ? ir::NodeId::kNone : graph.value(value).producer;
    if (id == ir::NodeId::kNone || needed[ir::index(id)]) continue;
    needed[ir::index(id)] = true;
    open.insert(open.end(), graph.node(id).inputs.begin(), graph.node(id).inputs.end());
  }
  return needed;
}

}  // namespace

SourceUses::SourceUses(const ir::Graph& graph, PassContext& cx) {
  const std::vector<bool> needed = needed_nodes(graph);
  const auto count = [&](ir::ValueId value, bool on_host) {
    const OriginRef origin = graph.origin(value);
    if (!origin) return;
    for (const std::string& source : origin->sources) ++count_[source];
    if (on_host) fix(cx.fixed_sources, origin, "it decides shapes");
  };
  for (const ir::Output& output : graph.outputs()) count(output.value, false);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const ir::Node& node = graph.node(static_cast<ir::NodeId>(i));
    if (node.op.as<ops::Shape>()) continue;  // reads no elements
    for (size_t k = 0; k < node.inputs.size(); ++k) count(node.inputs[k], node.op.info().reads_on_host(k));
  }
}

void SourceUses::recount(const ir::Graph& graph, std::string_view rewrite, PassContext& cx) {
  SourceUses now(graph, cx);
  for (const auto& [source, uses] : count_) {
    const auto found = now.count_.find(source);
    if (found == now.count_.end() || found->second < uses)
      cx.fixed_sources.emplace(source, str("its elements decided a rewrite (", rewrite, ")"));
  }
  *this = std::move(now);
}

}  // namespace kiln::passes
