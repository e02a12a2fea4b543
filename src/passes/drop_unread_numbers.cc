#include "passes/drop_unread_numbers.h"

#include <algorithm>
#include <set>

#include "ir/bodies.h"
#include "ops/read_values.h"

namespace kiln::passes {
namespace {

/// The symbols in extents, attributes, bounds of sizes and assumptions of a graph and its bodies.
class SymbolsInUse {
 public:
  explicit SymbolsInUse(const ir::Graph& graph) {
    add(graph);
    ir::for_each_body(graph, [&](const ir::Graph& body) { add(body); });
  }
  bool has_any(std::span<const DecidedSize> sizes) const {
    return std::ranges::any_of(sizes, [&](const DecidedSize& s) { return ids_.contains(s.symbol.symbol_id()); });
  }

 private:
  void add(const ir::Graph& graph) {
    for (int i = 0; i < graph.num_nodes(); ++i) {
      const auto id = static_cast<ir::NodeId>(i);
      if (!graph.alive(id)) continue;
      std::vector<sym::Expr> symbols;
      ir::collect_symbols(graph.node(id), symbols);
      for (const sym::Expr& symbol : symbols) add(symbol);
      for (const ir::ValueId output : graph.node(id).outputs) add(graph.type(output).shape);
      for (const DecidedSize& size : graph.node(id).sizes) add(size.most);
    }
    for (const ir::ValueId input : graph.inputs()) add(graph.type(input).shape);
    for (const sym::Assumption& each : graph.beliefs()) add(each.lhs), add(each.rhs);
  }
  void add(const Shape& shape) {
    for (const sym::Expr& extent : shape) add(extent);
  }
  void add(const sym::Expr& e) {
    std::vector<sym::Expr> symbols;
    sym::collect_symbols(e, symbols);
    for (const sym::Expr& symbol : symbols) ids_.insert(symbol.symbol_id());
  }

  std::set<int> ids_;
};

void bypass(ir::Graph& graph, ir::NodeId read) {
  const ir::ValueId x = graph.node(read).inputs[0];
  graph.replace_uses(graph.node(read).outputs[0], x);
  graph.remove(read);
}

/// Whether a node whose inputs the host reads, or whose bodies may, knows fewer of them in `without`.
bool loses_values(const ir::Graph& graph, const ir::Graph& without, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const std::vector<ir::ValueId>& now = without.node(id).inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_read = !node.bodies.empty() || node.op.info().reads_on_host(i);
    if (is_read && node.inputs[i] != ir::ValueId::kNone && graph.type(node.inputs[i]).values &&
        !without.type(now[i]).values)
      return true;
  }
  return false;
}

/// Whether the graph without the node is inferred to the extents that it has: some ops need to know numbers that are in
/// no extent in the end.
bool is_needless(const ir::Graph& graph, ir::NodeId read) {
  ir::Graph trial = graph.clone();
  trial.stop_teaching();
  bypass(trial, read);
  if (!trial.infer() || trial.assumptions().size() != graph.assumptions().size()) return false;
  for (int i = 0; i < trial.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!trial.alive(id)) continue;
    if (loses_values(graph, trial, id)) return false;
    for (const ir::ValueId output : trial.node(id).outputs)
      if (!trial.type(output).same_type(graph.type(output))) return false;
  }
  return true;
}

}  // namespace

Status drop_unread_numbers(ir::Graph& graph, PassContext&) {
  std::vector<ir::NodeId> reads;
  for (const ir::NodeId id : TRY(graph.topological_order()))
    if (graph.node(id).op.as<ops::ReadValues>()) reads.push_back(id);
  if (reads.empty()) return {};
  const SymbolsInUse used(graph);
  for (const ir::NodeId id : reads)
    if (!used.has_any(graph.node(id).sizes) && is_needless(graph, id)) bypass(graph, id);
  return graph.infer();
}

}  // namespace kiln::passes
