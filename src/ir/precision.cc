#include "ir/precision.h"

namespace kiln::ir {
namespace {

constexpr std::string_view kPrefers = "precision ", kRequires = "required precision ", kOf = " of '";

std::optional<Precision> parse(std::string_view entry) {
  Precision precision{};
  precision.required = entry.starts_with(kRequires);
  if (!precision.required && !entry.starts_with(kPrefers)) return std::nullopt;
  entry.remove_prefix(precision.required ? kRequires.size() : kPrefers.size());
  const auto type = dtype_named(entry.substr(0, entry.find(kOf)));
  if (!type) return std::nullopt;
  precision.type = *type;
  return precision;
}

/// The place of a type among several precisions of one node: the least counts.
int order_of(DType type) {
  switch (type) {
    case DType::kF32: return 0;
    case DType::kBF16: return 1;
    case DType::kF16: return 2;
    default: return 3;
  }
}

}  // namespace

void set_precision(Graph& graph, NodeId id, std::string_view layer, const Precision& precision) {
  std::vector<std::string> provenance = graph.node(id).provenance;
  provenance.push_back(str(precision.required ? kRequires : kPrefers, precision.type, kOf, layer, "'"));
  graph.set_provenance(id, std::move(provenance));
}

void clear_precision(Graph& graph, NodeId id) {
  std::vector<std::string> provenance = graph.node(id).provenance;
  if (std::erase_if(provenance, [](const std::string& entry) { return parse(entry).has_value(); }) > 0)
    graph.set_provenance(id, std::move(provenance));
}

std::optional<Precision> precision_of(const Node& node) {
  std::optional<Precision> first;
  for (const std::string& entry : node.provenance)
    if (const auto found = parse(entry); found && (!first || order_of(found->type) < order_of(first->type)))
      first = found;
  return first;
}

std::optional<DType> float_precision_of(const Node& node) {
  const auto precision = precision_of(node);
  return precision && is_kernel_float(precision->type) ? std::optional(precision->type) : std::nullopt;
}

bool has_precision(const Graph& graph, bool (*is)(DType)) {
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph.alive(id))
      if (const auto precision = precision_of(graph.node(id)); precision && is(precision->type)) return true;
  return false;
}

}  // namespace kiln::ir
