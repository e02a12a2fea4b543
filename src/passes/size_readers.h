/// Who reads sizes that nodes decide.
#pragma once

#include <set>

#include "ir/bodies.h"

namespace kiln::passes {

/// The symbols in attributes of nodes: what decides one of them has to run, though nobody may read its outputs.
class SizeReaders {
 public:
  SizeReaders() = default;
  explicit SizeReaders(const ir::Graph& graph) {
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); graph.alive(id)) add(graph.node(id));
  }
  void add(const ir::Node& node) {
    std::vector<sym::Expr> symbols;
    ir::collect_symbols(node, symbols);
    for (const sym::Expr& symbol : symbols) ids_.insert(symbol.symbol_id());
  }
  bool read(sym::Expr symbol) const { return ids_.contains(symbol.symbol_id()); }

 private:
  std::set<int> ids_;
};

}  // namespace kiln::passes
