#include "passes/merge_common.h"

#include <map>

#include "ir/precision.h"
#include "ops/constant.h"
#include "passes/deterministic.h"

namespace kiln::passes {

namespace {

class Merger {
 public:
  Merger(ir::Graph& graph, PassContext& cx)
      : graph_(graph), cx_(cx), elements_(static_cast<size_t>(graph.num_values())) {}

  Status run() {
    for (const ir::NodeId id : TRY(graph_.topological_order())) {
      const ir::Node& node = graph_.node(id);
      if (!is_deterministic(node.op) || !node.bodies.empty()) continue;
      const auto [at, is_new] = seen_.emplace(key(id), id);
      if (!is_new) merge(id, at->second);
    }
    return graph_.infer();
  }

 private:
  /// Constants differ where their elements or origins do; other nodes, where their inputs do. An input that comes from
  /// sources is known by its elements, unless they may become others.
  Hash128 key(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const Hash128 op = hash128(node.op);
    if (node.op.as<ops::Constant>()) elements_[ir::index(node.outputs[0])] = op;
    const auto precision = ir::precision_of(node);  // layers of one precision each do not become one
    const OriginRef own = graph_.origin(node.outputs[0]);
    std::string inputs = own ? str(own->hash) : std::string();
    if (precision) inputs += str(precision->type, precision->required ? "!" : "?");
    for (const ir::ValueId input : node.inputs)
      inputs += !cx_.refittable && graph_.origin(input) ? str(elements_[ir::index(input)], ',')
                                                        : str(static_cast<int>(input), ',');
    return combine(op, hash128(std::string_view(inputs)));
  }

  void merge(ir::NodeId id, ir::NodeId into) {
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ir::ValueId a = graph_.node(id).inputs[i], b = graph_.node(into).inputs[i];
      if (a == b) continue;
      for (const ir::ValueId constant : {a, b})
        fix(cx_.fixed_sources, graph_.origin(constant),
            "another constant has the same elements, and what reads them became one");
    }
    for (size_t i = 0; i < graph_.node(id).sizes.size(); ++i)
      graph_.replace_size(graph_.node(id).sizes[i].symbol, graph_.node(into).sizes[i].symbol);
    for (size_t i = 0; i < graph_.node(id).outputs.size(); ++i)
      graph_.replace_uses(graph_.node(id).outputs[i], graph_.node(into).outputs[i]);
    graph_.remove(id);
  }

  ir::Graph& graph_;
  PassContext& cx_;
  std::map<Hash128, ir::NodeId> seen_;
  std::vector<Hash128> elements_;  // by value, of constants
};

}  // namespace

Status merge_common(ir::Graph& graph, PassContext& cx) { return Merger(graph, cx).run(); }

}  // namespace kiln::passes
