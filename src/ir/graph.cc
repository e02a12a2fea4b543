#include "ir/graph.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/bodies.h"
#include "ops/constant.h"
#include "ops/infer_context.h"
#include "sym/facts.h"
#include "sym/real.h"

namespace kiln::ir {

Graph::Graph() : Graph(std::make_shared<sym::Table>()) {}
Graph::Graph(std::shared_ptr<sym::Table> table) : table_(std::move(table)) {}

std::shared_ptr<Graph> Graph::new_body() const {
  auto body = std::make_shared<Graph>(table_);
  body->is_body_ = true;
  body->may_be_impossible_ = may_be_impossible_;
  return body;
}

void Graph::replace_content(Graph by) {
  by.is_body_ = is_body_;
  by.may_be_impossible_ = may_be_impossible_;
  *this = std::move(by);
}

ValueId Graph::add_input(std::string name, TensorType type) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({.type = std::move(type), .name = std::move(name)});
  inputs_.push_back(id);
  return id;
}

NodeId Graph::add_lazily(Op op, std::span<const ValueId> inputs, std::string name) {
  const auto id = static_cast<NodeId>(nodes_.size());
  auto node = std::make_unique<Node>();
  for (int i = 0; i < op.num_outputs(); ++i) {
    node->outputs.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back({.producer = id, .output = i});
  }
  node->op = std::move(op);
  node->name = std::move(name);
  node->inputs.assign(inputs.begin(), inputs.end());
  for (const ValueId input : inputs)
    if (input != ValueId::kNone) values_[index(input)].users.push_back(id);
  nodes_.push_back(std::move(node));
  stale_.push_back(true);
  return id;
}

Result<std::vector<ValueId>> Graph::add(Op op, std::span<const ValueId> inputs, std::string name,
                                        std::vector<std::shared_ptr<Graph>> bodies, std::vector<DecidedSize> sizes) {
  const Mark before = mark();
  const NodeId id = add_lazily(std::move(op), inputs, std::move(name));
  mutable_node(id).bodies = std::move(bodies);
  mutable_node(id).sizes = std::move(sizes);
  if (Status inferred = infer_node(id); !inferred) {
    roll_back(before);
    return std::unexpected(std::move(inferred).error());
  }
  name_sizes(id);
  return node(id).outputs;
}

void Graph::roll_back(const Mark& to) {
  for (; nodes_.size() > to.num_nodes; nodes_.pop_back(), stale_.pop_back()) {
    if (!nodes_.back()) continue;
    const auto id = static_cast<NodeId>(nodes_.size() - 1);
    for (const ValueId output : node(id).outputs) CHECK(num_uses(output) == 0);
    for (const ValueId input : node(id).inputs)
      if (input != ValueId::kNone) drop_use(input, id);
  }
  CHECK(inputs_.empty() || index(inputs_.back()) < to.num_values);
  values_.resize(to.num_values);
  assumptions_.resize(to.num_assumptions);
}

/// Gives the symbols of a node's sizes names that have the node's in them.
void Graph::name_sizes(NodeId id) {
  for (const DecidedSize& size : node(id).sizes) {
    const std::string_view now = size.symbol.name();
    const std::string name = size_name(now.substr(0, std::min(now.find(" of "), now.find('.'))), node(id).name);
    if (!node(id).name.empty() && !now.starts_with(name)) table_->rename(size.symbol, name);
  }
}

void Graph::set_name(NodeId id, std::string name) {
  mutable_node(id).name = std::move(name);
  name_sizes(id);
}

Result<ValueId> Graph::add_one(Op op, std::span<const ValueId> inputs, std::string name) {
  return TRY(add(std::move(op), inputs, std::move(name)))[0];
}
Result<ValueId> Graph::add_one(Op op, std::initializer_list<ValueId> inputs, std::string name) {
  return add_one(std::move(op), std::span(inputs.begin(), inputs.size()), std::move(name));
}

ValueId Graph::add_constant(HostTensor value, std::string name) {
  return add_constant(ops::Constant{std::move(value)}, std::move(name));
}
ValueId Graph::add_constant(ops::Constant constant, std::string name) {
  const auto added = add_one(std::move(constant), std::span<const ValueId>{}, name);
  CHECK(added.has_value());
  set_name(*added, std::move(name));
  return *added;
}

void Graph::mark_output(ValueId value, std::string name, std::string tap) {
  outputs_.push_back({value, std::move(name), std::move(tap)});
  ++values_[index(value)].num_outputs;
}

/// Removes the marks of an output, searching from the back: outputs that come and go, as the cover's do, stand last.
void Graph::unmark_output(ValueId value) {
  int& left = values_[index(value)].num_outputs;
  for (auto at = outputs_.end(); left > 0;)
    if ((--at)->value == value) {
      at = outputs_.erase(at);
      --left;
    }
}

void Graph::set_output_value(int output, ValueId value) {
  ValueId& slot = outputs_[static_cast<size_t>(output)].value;
  --values_[index(slot)].num_outputs;
  ++values_[index(value)].num_outputs;
  slot = value;
}

void Graph::set_origin(NodeId id, OriginRef origin) {
  mutable_node(id).op = ops::Constant{node(id).op.as<ops::Constant>()->value, std::move(origin)};
}

void Graph::mark_read(NodeId id) {
  ops::Constant constant = *node(id).op.as<ops::Constant>();
  constant.is_read = true;
  mutable_node(id).op = std::move(constant);
}

const HostTensor* Graph::constant(ValueId id) const {
  const auto* constant = id == ValueId::kNone ? nullptr : producer_as<ops::Constant>(id);
  return constant ? &constant->value : nullptr;
}

OriginRef Graph::origin(ValueId id) const {
  const auto* constant = id == ValueId::kNone ? nullptr : producer_as<ops::Constant>(id);
  return constant ? constant->origin : nullptr;
}

namespace {

/// Nodes by node: those that decide sizes which are in the attributes of its op. It has no edge from them, and has to
/// wait for them all the same. Empty where no node decides any.
std::vector<std::vector<NodeId>> deciders(const Graph& graph) {
  std::map<int, NodeId> by_symbol;
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph.alive(id))
      for (const DecidedSize& size : graph.node(id).sizes) by_symbol.emplace(size.symbol.symbol_id(), id);
  if (by_symbol.empty()) return {};
  std::vector<std::vector<NodeId>> result(static_cast<size_t>(graph.num_nodes()));
  for (size_t i = 0; i < result.size(); ++i) {
    if (!graph.alive(static_cast<NodeId>(i))) continue;
    std::vector<sym::Expr> symbols;
    collect_symbols(graph.node(static_cast<NodeId>(i)), symbols);
    for (const sym::Expr& symbol : symbols)
      if (const auto found = by_symbol.find(symbol.symbol_id());
          found != by_symbol.end() && index(found->second) != i)  // a body knows the symbols of its own node
        result[i].push_back(found->second);
  }
  return result;
}

/// How many inputs of a node must be there before it: those that nodes make and that are not fed back; only those
/// that are `of`, if it is given.
int num_awaited(const Graph& graph, const Node& node, ValueId of = ValueId::kNone) {
  int count = 0;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const ValueId input = node.inputs[k];
    if (input == ValueId::kNone || (of != ValueId::kNone && input != of)) continue;
    count += graph.value(input).producer != NodeId::kNone && !node.op.info().is_fed_back(k);
  }
  return count;
}

/// Live nodes by id, if that is a topological order: none of them waits for a later one.
std::optional<std::vector<NodeId>> order_of_ids(const Graph& graph, std::span<const std::vector<NodeId>> deciders) {
  std::vector<NodeId> order;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph.alive(id)) continue;
    const Node& node = graph.node(id);
    for (size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k] != ValueId::kNone && graph.value(node.inputs[k]).producer >= id &&
          !node.op.info().is_fed_back(k))
        return std::nullopt;
    if (!deciders.empty())
      for (const NodeId decider : deciders[index(id)])
        if (decider >= id) return std::nullopt;
    order.push_back(id);
  }
  return order;
}

}  // namespace

Result<std::vector<NodeId>> Graph::topological_order() const {
  const std::vector<std::vector<NodeId>> deciders = ir::deciders(*this);
  if (auto order = order_of_ids(*this, deciders)) return *std::move(order);
  std::vector<std::vector<NodeId>> readers(nodes_.size());  // of the sizes that a node decides
  std::vector<int> waiting(nodes_.size(), 0);
  for (size_t i = 0; i < deciders.size(); ++i)
    for (const NodeId decider : deciders[i]) readers[index(decider)].push_back(static_cast<NodeId>(i)), ++waiting[i];
  std::vector<NodeId> ready, order;
  int live = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i]) continue;
    ++live;
    waiting[i] += num_awaited(*this, *nodes_[i]);
    if (waiting[i] == 0) ready.push_back(static_cast<NodeId>(i));
  }
  const auto later = [](NodeId a, NodeId b) { return a > b; };  // a heap whose top is the smallest id
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const NodeId id = ready.back();
    ready.pop_back();
    order.push_back(id);
    const auto arrive = [&](NodeId user) {
      if (--waiting[index(user)] > 0) return;
      ready.push_back(user);
      std::push_heap(ready.begin(), ready.end(), later);
    };
    for (const ValueId output : node(id).outputs) {
      const std::vector<NodeId>& users = value(output).users;
      for (auto user = users.begin(); user != users.end(); ++user) {
        if (node(*user).op.info().fed_back == 0)
          arrive(*user);
        else if (std::find(users.begin(), user, *user) == user)
          for (int uses = num_awaited(*this, node(*user), output); uses > 0; --uses) arrive(*user);
      }
    }
    std::ranges::for_each(readers[index(id)], arrive);
  }
  if (static_cast<int>(order.size()) == live) return order;
  std::string names;
  for (size_t i = 0; i < nodes_.size() && names.size() < 200; ++i)
    if (nodes_[i] && waiting[i] > 0) names += (names.empty() ? "" : ", ") + describe(static_cast<NodeId>(i));
  return error(Code::kInvalidArgument, "the network has a cycle through ", names);
}

std::string Graph::describe(NodeId id) const {
  const Node& n = node(id);
  return n.name.empty() ? str(n.op.name(), " #", static_cast<int>(id)) : str(n.op.name(), " '", n.name, "'");
}

namespace {

/// Tells the table the assumptions, which hold whenever the network runs, so that expressions made of these extents
/// stay small.
void learn_from(std::span<const sym::Assumption> assumptions) {
  for (const sym::Assumption& assumption : assumptions) sym::learn(assumption);
}

/// Adds an assumption for each extent that might be negative otherwise.
Status require_extents(const Shape& shape, std::vector<sym::Assumption>& assumptions) {
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis].min() < 0)
      TRY(sym::assume(assumptions, {sym::Relation::kLessEqual, 0, shape[axis], str("the extent of axis ", axis)}));
  return {};
}

}  // namespace

/// The name of what gives a value: a node's, if it has one.
std::string_view Graph::giver(ValueId id) const {
  const Value& v = value(id);
  const bool is_named = v.producer != NodeId::kNone && !node(v.producer).name.empty();
  return is_named ? node(v.producer).name : v.name;
}

Status Graph::infer_node(NodeId id) {
  Node& n = mutable_node(id);
  std::vector<InferInput> inputs;
  for (const ValueId input : n.inputs)
    inputs.push_back(input == ValueId::kNone ? InferInput{} : InferInput{&type(input), constant(input), giver(input)});
  std::vector<sym::Assumption> assumptions;
  const std::vector<DecidedSize> sizes = n.sizes;
  NodeBodyTypes bodies(n.bodies);
  std::vector<TensorType> types =
      TRY(infer_types(n.op, inputs, *table_, &assumptions, &n.sizes, n.bodies.empty() ? nullptr : &bodies, n.name));
  for (size_t i = 0; i < types.size(); ++i) values_[index(n.outputs[i])].type = std::move(types[i]);
  const auto believe = [&](std::span<sym::Assumption> news) {
    for (sym::Assumption& assumption : news) assumption.reason = str(describe(id), ": ", assumption.reason);
    if (!is_body_) learn_from(news);
  };
  believe(assumptions);
  const size_t known = assumptions.size();  // with these known, most extents are
  for (const ValueId output : n.outputs) TRY(require_extents(type(output).shape, assumptions));
  believe(std::span(assumptions).subspan(known));
  for (sym::Assumption& assumption : assumptions) assume(std::move(assumption));
  stale_[index(id)] = false;
  for (size_t k = 0; k < std::min(sizes.size(), n.sizes.size()); ++k)  // a bound may have outgrown what was believed
    if (const std::pair change(sizes[k].symbol, n.sizes[k].symbol); change.first != change.second)
      replace_in_ops({&change, 1});
  return {};
}

/// Flags by symbol id: whether an input has it as an extent or an element, or a node decides it.
std::vector<bool> Graph::bound_symbols() const {
  std::vector<bool> result(table_->symbols().size(), false);
  const auto add = [&](sym::Expr e) {
    e = sym::integer_of(e);
    if (e.is_symbol()) result[static_cast<size_t>(e.symbol_id())] = true;
  };
  for (const ValueId input : inputs_) {
    std::ranges::for_each(type(input).shape, add);
    if (type(input).values) std::ranges::for_each(*type(input).values, add);
  }
  for (const auto& node : nodes_)
    if (node)
      for (const DecidedSize& size : node->sizes)
        if (!size.is_inner) add(size.symbol);
  return result;
}

std::vector<sym::Assumption> Graph::beliefs() const {
  const std::vector<bool> live = bound_symbols();
  std::vector<sym::Assumption> result = assumptions_;
  for (sym::Fact& fact : sym::known_facts(*table_)) {
    std::vector<sym::Expr> symbols;
    collect_symbols(fact.least, symbols), collect_symbols(fact.e, symbols);
    if (std::ranges::all_of(symbols, [&](const sym::Expr& s) { return live[static_cast<size_t>(s.symbol_id())]; }))
      result.push_back({sym::Relation::kLessEqual, fact.least, fact.e, std::move(fact.reason)});
  }
  return result;
}

Status Graph::infer(Which which) {
  if (which == Which::kAll) {
    forget_types();
    sym::forget_facts(*table_);
    assumptions_ = beliefs();
  }
  if (which == Which::kStale && std::find(stale_.begin(), stale_.end(), true) == stale_.end()) return {};
  for (const NodeId id : TRY(topological_order()))
    if (which == Which::kAll || stale_[index(id)]) TRY(in_context(infer_node(id), [&] { return describe(id); }));
  return {};
}

/// Makes all nodes stale, and forgets what was assumed of their types.
void Graph::forget_types() {
  assumptions_.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    stale_[i] = nodes_[i] != nullptr;
    if (!nodes_[i]) continue;
    for (const auto& body : nodes_[i]->bodies) body->forget_types();
  }
}

Result<Ref<const TensorType>> Graph::inferred_type(ValueId id) {
  std::vector<NodeId> pending;
  if (value(id).producer != NodeId::kNone) pending.push_back(value(id).producer);
  while (!pending.empty()) {
    const NodeId next = pending.back();
    const size_t before = pending.size();
    if (stale_[index(next)])
      for (size_t k = 0; k < node(next).inputs.size(); ++k) {
        const ValueId input = node(next).inputs[k];
        const NodeId producer = input == ValueId::kNone ? NodeId::kNone : value(input).producer;
        if (!node(next).op.info().is_fed_back(k) && producer != NodeId::kNone && stale_[index(producer)])
          pending.push_back(producer);
      }
    if (pending.size() > nodes_.size() * 8 + 64) return error(Code::kInvalidArgument, "the network has a cycle");
    if (pending.size() > before) continue;
    if (stale_[index(next)]) TRY(in_context(infer_node(next), [&] { return describe(next); }));
    pending.pop_back();
  }
  return std::cref(type(id));
}

std::vector<bool> decided_symbols(const Graph& graph) {
  std::vector<bool> result(graph.shared_table()->symbols().size(), false);
  const auto mark = [&](const Graph& of) {
    for (int i = 0; i < of.num_nodes(); ++i)
      if (const auto id = static_cast<NodeId>(i); of.alive(id))
        for (const DecidedSize& size : of.node(id).sizes)
          if (size.symbol.is_symbol()) result[static_cast<size_t>(size.symbol.symbol_id())] = true;
  };
  mark(graph);
  for_each_body(graph, mark);
  return result;
}

void Graph::mark_stale(NodeId id) {
  std::vector<NodeId> pending{id};
  while (!pending.empty()) {
    const NodeId next = pending.back();
    pending.pop_back();
    stale_[index(next)] = true;
    for (const ValueId output : node(next).outputs)
      for (const NodeId user : value(output).users)
        if (!stale_[index(user)]) pending.push_back(user);
  }
}

void Graph::set_op(NodeId id, Op op) {
  CHECK(op.num_outputs() == node(id).op.num_outputs());
  mutable_node(id).op = std::move(op);
  mark_stale(id);
}

void Graph::set_input(NodeId id, int i, ValueId value) {
  ValueId& slot = mutable_node(id).inputs[static_cast<size_t>(i)];
  if (slot == value) return;
  if (slot != ValueId::kNone) drop_use(slot, id);
  slot = value;
  if (value != ValueId::kNone) values_[index(value)].users.push_back(id);
  mark_stale(id);
}

void Graph::set_num_inputs(NodeId id, int count) {
  for (int i = count; i < static_cast<int>(node(id).inputs.size()); ++i) set_input(id, i, ValueId::kNone);
  mutable_node(id).inputs.resize(static_cast<size_t>(count), ValueId::kNone);
  mark_stale(id);
}

void Graph::set_input_type(ValueId graph_input, TensorType type) {
  CHECK(value(graph_input).producer == NodeId::kNone);
  const Shape old = std::exchange(values_[index(graph_input)].type, std::move(type)).shape;
  replace_in_ops(old, this->type(graph_input).shape);
  for (const NodeId user : std::vector(value(graph_input).users)) mark_stale(user);
}

void Graph::give_input_type(ValueId graph_input, const TensorType& type) {
  TensorType& mine = values_[index(graph_input)].type;
  const bool same_values = mine.values == type.values || (mine.values && type.values && *mine.values == *type.values);
  if (mine.same_type(type) && same_values) return;
  mine = type;
  for (const NodeId user : std::vector(value(graph_input).users)) mark_stale(user);
}

/// Replaces an input's extents in the attributes that an importer made of them, unless another input still has them.
void Graph::replace_in_ops(const Shape& old, const Shape& by) {
  if (old.size() != by.size()) return;
  const std::vector<bool> live = bound_symbols();
  std::vector<std::pair<sym::Expr, sym::Expr>> replacements;
  for (size_t axis = 0; axis < old.size(); ++axis)
    if (old[axis].is_symbol() && old[axis] != by[axis] && !live[static_cast<size_t>(old[axis].symbol_id())])
      replacements.emplace_back(old[axis], by[axis]);
  if (!replacements.empty()) replace_in_ops(replacements);
}

void Graph::replace_size(sym::Expr symbol, sym::Expr by) {
  const std::pair<sym::Expr, sym::Expr> replacement(symbol, by);
  replace_in_ops({&replacement, 1});
  replaced_sizes_.insert(replaced_sizes_.begin(), replacement);
}

void Graph::replace_in_ops(std::span<const std::pair<sym::Expr, sym::Expr>> replacements) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!alive(id)) continue;
    if (Op op = substitute(node(id).op, replacements); !(op == node(id).op)) set_op(id, std::move(op));
    if (node(id).bodies.empty()) continue;
    for (const auto& body : node(id).bodies) body->replace_in_ops(replacements);
    mark_stale(id);
  }
}

void Graph::drop_use(ValueId value, NodeId user) {
  auto& users = values_[index(value)].users;
  users.erase(std::find(users.begin(), users.end(), user));
}

void Graph::replace_uses(ValueId old, ValueId by) {
  if (old == by) return;
  for (const NodeId user : std::vector(value(old).users))
    for (size_t i = 0; i < node(user).inputs.size(); ++i)
      if (node(user).inputs[i] == old) set_input(user, static_cast<int>(i), by);
  for (size_t i = 0; i < outputs_.size() && is_output(old); ++i)
    if (outputs_[i].value == old) set_output_value(static_cast<int>(i), by);
  if (value(old).taps.empty()) return;
  const Value taps{.taps = std::exchange(values_[index(old)].taps, {})};
  add_taps(by, taps);
}

void Graph::remove(NodeId id) {
  for (const ValueId output : node(id).outputs) CHECK(num_uses(output) == 0);
  for (const ValueId input : node(id).inputs)
    if (input != ValueId::kNone) drop_use(input, id);
  stale_[index(id)] = false;
  nodes_[index(id)].reset();
}

void Graph::remove_input(ValueId graph_input) {
  CHECK(num_uses(graph_input) == 0);
  std::erase(inputs_, graph_input);
}

void Graph::assume(sym::Assumption assumption) {
  for (const sym::Assumption& known : assumptions_)
    if (known.relation == assumption.relation && known.lhs == assumption.lhs && known.rhs == assumption.rhs) return;
  assumptions_.push_back(std::move(assumption));
}

Graph Graph::clone() const {
  Graph copy(table_);
  copy.is_body_ = is_body_;
  copy.may_be_impossible_ = may_be_impossible_;
  for (const auto& node : nodes_) copy.nodes_.push_back(node ? std::make_unique<Node>(*node) : nullptr);
  for (const auto& node : copy.nodes_)
    if (node)
      for (auto& body : node->bodies) body = std::make_shared<Graph>(body->clone());
  copy.stale_ = stale_;
  copy.values_ = values_;
  copy.inputs_ = inputs_;
  copy.outputs_ = outputs_;
  copy.assumptions_ = assumptions_;
  copy.replaced_sizes_ = replaced_sizes_;
  return copy;
}

}  // namespace kiln::ir
