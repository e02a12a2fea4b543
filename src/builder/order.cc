#include "builder/order.h"

#include <algorithm>
#include <unordered_map>

#include "ir/bodies.h"

namespace kiln {
namespace {

/// Numbers tiles by the waits before them.
class Waits {
 public:
  explicit Waits(const ir::Graph& graph)
      : graph_(graph), of_value_(static_cast<size_t>(graph.num_values()), 0), known_(graph.replaced_sizes()) {}

  /// The waits before a tile, which is told before those that read it.
  int add(const Tile& tile) {
    int waits = 0;
    for (const ir::ValueId input : tile.region.inputs)
      if (input != ir::ValueId::kNone) waits = std::max(waits, of_value_[ir::index(input)]);
    std::vector<sym::Expr> read;
    for (const auto* values : {&tile.region.inputs, &tile.region.outputs})
      for (const ir::ValueId value : *values)
        if (value != ir::ValueId::kNone) collect_all(graph_.type(value).shape, read);
    for (const ir::NodeId id : tile.region.nodes) {
      ir::collect_symbols(graph_.node(id), read);
      for (const DecidedSize& size : graph_.node(id).sizes) sym::collect_symbols(size.most, read);
      for (const auto& body : graph_.node(id).bodies) {
        collect_types(*body, read);
        ir::for_each_body(*body, [&](const ir::Graph& inner) { collect_types(inner, read); });
      }
    }
    collect_all(tile.draft.params, read);
    for (const AlternativeTile& other : tile.alternatives) collect_all(other.draft.params, read);
    for (const sym::Expr& symbol : read) waits = std::max(waits, waits_for(symbol));
    for (const ir::ValueId output : tile.region.outputs) of_value_[ir::index(output)] = waits;
    for (const ir::NodeId id : tile.region.nodes)
      for (const DecidedSize& size : graph_.node(id).sizes) of_symbol_[size.symbol.symbol_id()] = waits + 1;
    return waits;
  }

 private:
  static void collect_all(std::span<const sym::Expr> expressions, std::vector<sym::Expr>& out) {
    for (const sym::Expr& e : expressions) sym::collect_symbols(e, out);
  }
  static void collect_types(const ir::Graph& body, std::vector<sym::Expr>& out) {
    for (int i = 0; i < body.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); body.alive(id))
        for (const ir::ValueId output : body.node(id).outputs) collect_all(body.type(output).shape, out);
  }

  /// A symbol of the tile itself, or of an input of the network, is waited for by nobody.
  int waits_for(const sym::Expr& symbol) {
    if (const auto found = of_symbol_.find(symbol.symbol_id()); found != of_symbol_.end()) return found->second;
    int waits = 0;
    for (const auto& [replaced, value] : known_)
      if (replaced == symbol) {
        std::vector<sym::Expr> parts;
        sym::collect_symbols(value, parts);
        for (const sym::Expr& part : parts) waits = std::max(waits, waits_for(part));
      }
    return waits;
  }

  const ir::Graph& graph_;
  std::vector<int> of_value_;
  std::unordered_map<int, int> of_symbol_;
  std::span<const std::pair<sym::Expr, sym::Expr>> known_;
};

}  // namespace

void order_by_sizes(const ir::Graph& graph, std::vector<Tile>& tiles) {
  Waits waits(graph);
  std::vector<std::pair<int, Tile>> numbered;
  for (Tile& tile : tiles) {
    const int number = waits.add(tile);
    numbered.emplace_back(number, std::move(tile));
  }
  std::ranges::stable_sort(numbered, {}, &std::pair<int, Tile>::first);
  std::ranges::transform(numbered, tiles.begin(), [](std::pair<int, Tile>& tile) { return std::move(tile.second); });
}

}  // namespace kiln
