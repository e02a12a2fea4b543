#include "passes/hoist_invariants.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <set>

#include "ir/bodies.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/constant.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/identity.h"
#include "ops/loop.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/pooling.h"
#include "ops/recurrence.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "passes/captures.h"

namespace kiln::passes {
namespace {

template <class... Ops>
bool is_one_of(const Op& op) {
  return (op.as<Ops>() || ...);
}

/// Ops that cannot fail while they run, once their types are found, and whose result is worth its memory.
bool is_work(const Op& op) {
  return is_one_of<ops::Activation, ops::Cast, ops::Concatenation, ops::Convolution, ops::Deconvolution,
                   ops::ElementWise, ops::MatrixMultiply, ops::Normalization, ops::Pooling, ops::Recurrence,
                   ops::Reduce, ops::Select, ops::Softmax, ops::Transpose, ops::Unary>(op);
}

/// Ops that cannot fail either, and that a body does as cheaply: views, copies of one element, numbers of shapes.
bool is_free(const Op& op) {
  return is_one_of<ops::Constant, ops::DimValues, ops::Expand, ops::Identity, ops::Reshape, ops::Squeeze,
                   ops::Unsqueeze>(op);
}

/// The nodes of one loop's body that every iteration computes alike.
class Invariants {
 public:
  Invariants(ir::Graph& graph, ir::NodeId loop) : graph_(graph), loop_(loop), body_(*graph.node(loop).bodies[0]) {}

  Status hoist() {
    find_captures();
    find_inner_symbols();
    for (const ir::NodeId id : TRY(body_.topological_order()))
      if (is_invariant(id)) add(id);
    const std::vector<ir::ValueId> results = results_to_move();
    TRY(copy_makers_of(results));
    for (const ir::ValueId result : results) move(result);
    return {};
  }

 private:
  /// What a value of the body is outside of it.
  void find_captures() {
    const ir::Node& node = graph_.node(loop_);
    for (size_t i = first_captured(node); i < node.inputs.size(); ++i)
      if (node.inputs[i] != ir::ValueId::kNone) outside_[body_.inputs()[i - 1]] = node.inputs[i];
  }
  /// Symbols that mean something within the body alone.
  void find_inner_symbols() {
    for (const DecidedSize& size : graph_.node(loop_).sizes) inner_.push_back(size.symbol);
    for (int i = 0; i < body_.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); body_.alive(id))
        for (const DecidedSize& size : body_.node(id).sizes) inner_.push_back(size.symbol);
  }
  bool reads_inner_symbol(const ir::Node& node) const {
    std::vector<sym::Expr> symbols;
    ir::collect_symbols(node, symbols);
    for (const ir::ValueId output : node.outputs)
      for (const sym::Expr& extent : body_.type(output).shape) sym::collect_symbols(extent, symbols);
    return std::ranges::any_of(symbols, [&](const sym::Expr& s) { return std::ranges::count(inner_, s) > 0; });
  }
  bool is_invariant(ir::NodeId id) const {
    const ir::Node& node = body_.node(id);
    if (node.op.as<ops::Constant>()) return true;
    if (!(is_work(node.op) || is_free(node.op)) || node.op.has(Trait::kNondeterministic) || !node.sizes.empty() ||
        reads_inner_symbol(node))
      return false;
    const auto is_known = [&](ir::ValueId input) {
      return input == ir::ValueId::kNone || outside_.contains(input) || found_.contains(body_.value(input).producer);
    };
    return std::ranges::all_of(node.inputs, is_known) && !assumes_anything(node);
  }
  /// Whether the node works only if extents are as it assumes: a body that does not run may be wrong there.
  bool assumes_anything(const ir::Node& node) const {
    std::vector<InferInput> inputs;
    for (const ir::ValueId input : node.inputs)
      inputs.push_back(input == ir::ValueId::kNone ? InferInput{}
                                                   : InferInput{&body_.type(input), body_.constant(input)});
    std::vector<sym::Assumption> assumptions;
    return !infer_types(node.op, inputs, body_.table(), &assumptions) || !assumptions.empty();
  }
  void add(ir::NodeId id) {
    order_.push_back(id);
    found_.insert(id);
    if (std::ranges::any_of(body_.node(id).inputs, [&](ir::ValueId input) { return depends_on_captures(input); }))
      dependent_.insert(id);
  }
  /// Whether a value that every iteration computes alike follows from captures. What follows from constants alone is
  /// folded.
  bool depends_on_captures(ir::ValueId value) const {
    return value != ir::ValueId::kNone &&
           (outside_.contains(value) || dependent_.contains(body_.value(value).producer));
  }
  /// The results of work that nodes read which stay in the body, or that views make outputs of the body.
  std::vector<ir::ValueId> results_to_move() const {
    std::set<ir::ValueId> read;  // by nodes that stay, at once or through nodes that cost nothing
    for (const ir::NodeId id : std::views::reverse(order_))
      for (const ir::ValueId result : body_.node(id).outputs)
        if (is_read_by_others(result, read)) read.insert(result);
    std::vector<ir::ValueId> results;
    for (const ir::NodeId id : order_)
      if (is_work(body_.node(id).op))
        std::ranges::copy_if(body_.node(id).outputs, std::back_inserter(results),
                             [&](ir::ValueId result) { return read.contains(result); });
    return results;
  }
  /// `read` has the answers for results of the nodes behind. An output of the body stays one: it has to be made by a
  /// node of it.
  bool is_read_by_others(ir::ValueId result, const std::set<ir::ValueId>& read) const {
    const ir::Value& value = body_.value(result);
    if (value.num_outputs > 0 || !depends_on_captures(result)) return false;
    return std::ranges::any_of(value.users, [&](ir::NodeId user) {
      if (!found_.contains(user)) return true;
      return is_free(body_.node(user).op) && std::ranges::any_of(body_.node(user).outputs, [&](ir::ValueId made) {
               return body_.value(made).num_outputs > 0 || read.contains(made);
             });
    });
  }
  /// Copies the nodes that make these results, and all that those read, to the graph around the loop.
  Status copy_makers_of(std::span<const ir::ValueId> results) {
    std::set<ir::NodeId> needed;
    for (const ir::ValueId result : results) needed.insert(body_.value(result).producer);
    for (const ir::NodeId id : std::views::reverse(order_)) {
      if (!needed.contains(id)) continue;
      for (const ir::ValueId input : body_.node(id).inputs)
        if (input != ir::ValueId::kNone && !outside_.contains(input)) needed.insert(body_.value(input).producer);
    }
    for (const ir::NodeId id : order_)
      if (needed.contains(id)) TRY(copy(id));
    return {};
  }
  Status copy(ir::NodeId id) {
    const ir::Node& node = body_.node(id);
    if (const auto* constant = node.op.as<ops::Constant>()) {
      outside_[node.outputs[0]] = graph_.add_constant(*constant, body_.value(node.outputs[0]).name);
      return {};
    }
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : node.inputs)
      inputs.push_back(input == ir::ValueId::kNone ? input : outside_.at(input));
    const std::vector<ir::ValueId> outputs = TRY(graph_.add(node.op, inputs, node.name));
    graph_.set_provenance(graph_.value(outputs[0]).producer, node.provenance);
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph_.set_name(outputs[i], body_.value(node.outputs[i]).name);
      outside_[node.outputs[i]] = outputs[i];
    }
    return {};
  }
  /// Makes a result a capture.
  void move(ir::ValueId result) {
    const ir::ValueId outer = outside_.at(result);
    const std::string name = body_.value(result).name;
    for (const auto& body : graph_.node(loop_).bodies) {
      const ir::ValueId inside = body->add_input(name, graph_.type(outer));
      if (body.get() == &body_) body_.replace_uses(result, inside);
    }
    const auto count = static_cast<int>(graph_.node(loop_).inputs.size());
    graph_.set_num_inputs(loop_, count + 1);
    graph_.set_input(loop_, count, outer);
  }

  ir::Graph& graph_;
  const ir::NodeId loop_;
  ir::Graph& body_;
  std::map<ir::ValueId, ir::ValueId> outside_;  ///< values of the body, and what they are in the graph around it
  std::vector<ir::NodeId> order_;               ///< what is found, in topological order
  std::set<ir::NodeId> found_;
  std::set<ir::NodeId> dependent_;  ///< nodes of these that depend on captures
  std::vector<sym::Expr> inner_;
};

ir::ValueId carried_result(const ir::Node& node, int c) {
  const auto& loop = *node.op.as<ops::Loop>();
  return node.bodies[0]->outputs()[static_cast<size_t>((loop.tests ? 1 : 0) + c)].value;
}

/// Whether no iteration changes a carried value.
bool never_changes(const ir::Node& node, int c) {
  const auto& loop = *node.op.as<ops::Loop>();
  const ir::Graph& body = *node.bodies[0];
  ir::ValueId result = carried_result(node, c);
  while (body.producer_as<ops::Identity>(result)) result = body.node(body.value(result).producer).inputs[0];
  return result == body.inputs()[1 + static_cast<size_t>(c)] &&
         std::ranges::count(loop.decided, c, &DecidedAxis::output) == 0 &&
         std::ranges::count(loop.elements, 1 + c) == 0;
}

ops::Loop without(ops::Loop loop, int c) {
  --loop.carried;
  for (DecidedAxis& axis : loop.decided) axis.output -= axis.output > c ? 1 : 0;
  for (int& input : loop.elements) input -= input > 1 + c ? 1 : 0;
  return loop;
}

/// A body without its carried input, which becomes its last one, and without the output of that number; -1: it has
/// none.
std::shared_ptr<ir::Graph> capturing_body(const ir::Graph& old, size_t input, int output) {
  auto body = std::make_shared<ir::Graph>(old.clone());
  const ir::ValueId carried = body->inputs()[input];
  if (output >= 0) {
    const std::vector<ir::Output> outputs = body->outputs();
    for (const ir::Output& o : outputs) body->unmark_output(o.value);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (static_cast<int>(i) != output) body->mark_output(outputs[i].value, outputs[i].name, outputs[i].tap);
  }
  const ir::ValueId captured = body->add_input(body->value(carried).name, body->type(carried));
  body->replace_uses(carried, captured);
  body->remove_input(carried);
  return body;
}

/// Makes a capture of carried value `c`, which no iteration changes. Returns the loop that is there now.
Result<ir::NodeId> capture_carried(ir::Graph& graph, ir::NodeId id, int c) {
  const ir::Node& old = graph.node(id);
  const auto& loop = *old.op.as<ops::Loop>();
  std::vector<ir::ValueId> inputs = old.inputs;
  const auto at = static_cast<std::ptrdiff_t>(ops::Loop::kFirstCarried + c);
  const ir::ValueId initial = inputs[static_cast<size_t>(at)];
  inputs.erase(inputs.begin() + at);
  inputs.push_back(initial);
  std::vector<std::shared_ptr<ir::Graph>> bodies;
  for (size_t b = 0; b < old.bodies.size(); ++b) {
    const int output = b == 0 ? (loop.tests ? 1 : 0) + c : -1;
    bodies.push_back(capturing_body(*old.bodies[b], 1 + static_cast<size_t>(c), output));
  }
  const std::vector<ir::ValueId> before = old.outputs;
  const std::vector<std::string> provenance = old.provenance;
  std::vector<ir::ValueId> after =
      TRY(graph.add(without(loop, c), inputs, std::string(old.name), std::move(bodies), old.sizes));
  const ir::NodeId made = graph.value(after[0]).producer;
  graph.set_provenance(made, provenance);
  after.insert(after.begin() + c, initial);
  for (size_t i = 0; i < before.size(); ++i) {
    if (static_cast<int>(i) != c) graph.set_name(after[i], graph.value(before[i]).name);
    graph.replace_uses(before[i], after[i]);
  }
  graph.remove(id);
  return made;
}

/// Makes captures of all carried values that no iteration changes. A loop of nothing else is left to others.
Result<ir::NodeId> capture_unchanged(ir::Graph& graph, ir::NodeId id) {
  for (int c = graph.node(id).op.as<ops::Loop>()->carried; c-- > 0;)
    if (graph.node(id).outputs.size() > 1 && never_changes(graph.node(id), c)) id = TRY(capture_carried(graph, id, c));
  return id;
}

}  // namespace

Status hoist_invariants(ir::Graph& graph, PassContext& cx) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    // What leaves a loop may leave the next one, too: those within come first, before this pass sees their body alone.
    for (const auto& body : graph.node(id).bodies) TRY(hoist_invariants(*body, cx));
    if (graph.node(id).op.as<ops::Loop>()) TRY(Invariants(graph, TRY(capture_unchanged(graph, id))).hoist());
  }
  return graph.infer();
}

}  // namespace kiln::passes
