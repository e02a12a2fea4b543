#include "sym/table.h"

#include <algorithm>

#include "sym/node.h"
#include "sym/table_impl.h"

namespace kiln::sym {

Table::Table() : impl_(std::make_unique<Impl>()) {}
Table::~Table() = default;

Expr Table::symbol(std::string_view name, Bounds bounds) {
  if (const auto found = find(name)) return *found;
  CHECK(bounds.min <= bounds.max);
  Node& node = impl_->nodes.emplace_back();
  node.kind = Kind::kSymbol;
  node.table = this;
  node.number = static_cast<uint32_t>(impl_->nodes.size());
  node.name = name;
  node.symbol_id = static_cast<int>(impl_->symbols.size());
  node.bounds = bounds;
  const Expr e = wrap(&node);
  impl_->symbols.push_back(e);
  impl_->relied.emplace_back();
  impl_->by_name.emplace(node.name, node.symbol_id);
  return e;
}

std::string Table::free_name(std::string_view hint) {
  std::string base(hint.empty() ? "dim" : hint);
  if (!find(base)) return base;
  int& next = impl_->next_suffix[base];
  for (;;)
    if (std::string name = str(base, '.', ++next); !find(name)) return name;
}

Expr Table::fresh(std::string_view hint, Bounds bounds) { return symbol(free_name(hint), bounds); }

Expr Table::dimension(std::string_view name) {
  if (const auto found = impl_->dimensions.find(name); found != impl_->dimensions.end())
    return impl_->symbols[found->second];
  const Expr made = fresh(name);
  impl_->dimensions.emplace(name, made.symbol_id());
  return made;
}

void Table::rename(Expr symbol, std::string_view hint) {
  CHECK(symbol.is_symbol() && symbol.table() == this);
  if (symbol.name() == hint) return;
  std::string name = free_name(hint);
  impl_->by_name.erase(impl_->by_name.find(symbol.name()));
  impl_->by_name.emplace(name, symbol.symbol_id());
  const_cast<Node*>(symbol.node())->name = std::move(name);  // the table owns it, and hands it out as const
}

std::optional<Expr> Table::find(std::string_view name) const {
  const auto found = impl_->by_name.find(name);
  if (found == impl_->by_name.end()) return std::nullopt;
  return impl_->symbols[found->second];
}

Status Table::set_bounds(Expr symbol, Bounds bounds) {
  CHECK(symbol.is_symbol() && symbol.table() == this);
  TRY(require(bounds.min <= bounds.max, "symbol '", symbol.name(), "': bounds [", bounds.min, ", ", bounds.max,
              "] are empty"));
  const auto& relied = impl_->relied[symbol.symbol_id()];
  if (relied && (bounds.min < relied->min || bounds.max > relied->max))
    return error(Code::kState, "symbol '", symbol.name(), "': bounds [", bounds.min, ", ", bounds.max, "] exceed [",
                 relied->min, ", ", relied->max, "], which simplified expressions rely on");
  const_cast<Node*>(symbol.node())->bounds = bounds;  // the table owns it, and hands it out as const
  ++impl_->bounds_version;
  return {};
}

Bounds Table::bounds(Expr symbol) const {
  CHECK(symbol.is_symbol() && symbol.table() == this);
  return symbol.node()->bounds;
}

std::span<const Expr> Table::symbols() const { return impl_->symbols; }

namespace {

/// Whether an operation gives 0 or 1 whatever its symbols are.
bool gives_truth(Kind kind, Expr lhs, Expr rhs) {
  if (kind == Kind::kEqual || kind == Kind::kLess) return true;
  if (kind != Kind::kMax && kind != Kind::kMin) return false;
  const auto is_truth = [](Expr e) { return e.is_const() ? e == Expr(0) || e == Expr(1) : e.node()->is_truth; };
  return is_truth(lhs) && is_truth(rhs);
}

}  // namespace

Expr intern(Kind kind, Expr lhs, Expr rhs, bool is_atom) {
  if (const auto bad = invalid_operand(lhs, rhs)) return *bad;
  Table* table = common_table(lhs, rhs);
  Table::Impl& impl = table->impl();
  const auto [place, is_new] = impl.operations.try_emplace(OperationKey{kind, is_atom, lhs, rhs}, nullptr);
  if (is_new) {
    Node& node = impl.nodes.emplace_back();
    node.kind = kind;
    node.is_atom = is_atom;
    node.is_truth = gives_truth(kind, lhs, rhs);
    node.table = table;
    node.lhs = lhs;
    node.rhs = rhs;
    node.number = static_cast<uint32_t>(impl.nodes.size());
    node.size = std::min(1 + size_of(lhs) + size_of(rhs), kManyNodes);
    place->second = &node;
  }
  return wrap(place->second);
}

}  // namespace kiln::sym
