/// A network as a graph of ops. Built by the API or an importer, rewritten by passes, tiled by the cover.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/constant.h"
#include "ops/infer_context.h"
#include "ops/op.h"
#include "sym/assumption.h"
#include "sym/table.h"
#include "tensor/host_tensor.h"
#include "tensor/tensor_type.h"

namespace kiln::ir {

enum class ValueId : int32_t { kNone = -1 };
enum class NodeId : int32_t { kNone = -1 };
constexpr size_t index(ValueId id) { return static_cast<size_t>(id); }
constexpr size_t index(NodeId id) { return static_cast<size_t>(id); }

class Graph;

/// An op placed in a graph.
struct Node {
  Op op;
  std::string name;
  std::vector<ValueId> inputs;  ///< kNone where an optional input is absent
  std::vector<ValueId> outputs;
  std::vector<std::string> provenance;         ///< ONNX nodes or API layers it came from: "Conv 'conv1'"
  std::vector<std::shared_ptr<Graph>> bodies;  ///< of If and Loop; each is the node's alone
  std::vector<DecidedSize> sizes;              ///< that its runs decide, as inference has found them

  /// An input, or kNone where it is absent, also behind the last one given.
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId::kNone; }
};

/// An edge: what one node, or the graph's surface, gives to others.
struct Value {
  TensorType type;  ///< sound only after inference: see Graph::type
  std::string name;
  NodeId producer = NodeId::kNone;  ///< kNone: a graph input
  int output = 0;                   ///< which output of the producer
  std::vector<NodeId> users;        ///< once a use, in order of first use
  int num_outputs = 0;              ///< how many of the graph's outputs it is
  /// Names under which somebody may want to watch it. They are no uses: they follow a value to what takes its place,
  /// and go with a value that goes.
  std::vector<std::string> taps;
};

/// A result of the graph. Its name is its own: passes may put any value of the same type in its place. One without a
/// name is nobody's: its node has to run for the sizes that it decides.
struct Output {
  ValueId value = ValueId::kNone;
  std::string name;
  std::string tap;  ///< of one without a name: it is kept for somebody who watches it under this one
};

/// Ids are indices that stay valid until `compact`; removed nodes leave holes.
class Graph {
 public:
  Graph();
  explicit Graph(std::shared_ptr<sym::Table> table);
  /// A body of a node of this graph. It shares the table, and does not teach it what it assumes: that holds when the
  /// body runs, and need not otherwise.
  std::shared_ptr<Graph> new_body() const;
  /// A branch of this graph that fails to be inferred becomes one that fails if it is taken: types are those of a
  /// profile, which need not fit both branches.
  void allow_impossible_branches() { may_be_impossible_ = true; }
  bool may_be_impossible() const { return may_be_impossible_; }
  /// Takes the inputs, nodes and outputs of a graph of the same table.
  void replace_content(Graph by);

  // Building. Names need not be unique; empty ones are allowed.
  ValueId add_input(std::string name, TensorType type);
  /// Adds a node and infers its output types; on failure the graph is unchanged. `sizes` are symbols that its bodies
  /// know already.
  Result<std::vector<ValueId>> add(Op op, std::span<const ValueId> inputs, std::string name = {},
                                   std::vector<std::shared_ptr<Graph>> bodies = {},
                                   std::vector<DecidedSize> sizes = {});
  /// The same for ops with one output.
  Result<ValueId> add_one(Op op, std::span<const ValueId> inputs, std::string name = {});
  Result<ValueId> add_one(Op op, std::initializer_list<ValueId> inputs, std::string name = {});
  ValueId add_constant(HostTensor value, std::string name = {});
  ValueId add_constant(ops::Constant constant, std::string name = {});
  /// Adds a node without inferring: the network API, which infers when asked.
  NodeId add_lazily(Op op, std::span<const ValueId> inputs, std::string name = {});
  void mark_output(ValueId value, std::string name, std::string tap = {});
  void unmark_output(ValueId value);
  /// How much there was of a graph at some time.
  struct Mark {
    size_t num_nodes = 0, num_values = 0, num_assumptions = 0;
  };
  Mark mark() const { return {nodes_.size(), values_.size(), assumptions_.size()}; }
  /// Removes the nodes that were added behind the mark, and what they assume. Their ids will be those of other nodes;
  /// no older node, and no output, may use them. What the table has learned from them stays (ADR 9).
  void roll_back(const Mark& to);

  // Reading.
  const Node& node(NodeId id) const { return *nodes_[index(id)]; }
  bool alive(NodeId id) const { return nodes_[index(id)] != nullptr; }
  const Value& value(ValueId id) const { return values_[index(id)]; }
  int num_nodes() const { return static_cast<int>(nodes_.size()); }  ///< holes included
  int num_values() const { return static_cast<int>(values_.size()); }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  const TensorType& type(ValueId id) const { return values_[index(id)].type; }
  /// The type after inferring whatever is stale above it; the error names the node that fails.
  Result<Ref<const TensorType>> inferred_type(ValueId id);
  const TensorType& input_type(NodeId id, int i) const { return type(node(id).inputs[static_cast<size_t>(i)]); }
  const TensorType& output_type(NodeId id, int i = 0) const { return type(node(id).outputs[static_cast<size_t>(i)]); }
  /// The op that makes this value as a T, or null.
  template <class T>
  const T* producer_as(ValueId id) const {
    const NodeId producer = value(id).producer;
    return producer == NodeId::kNone ? nullptr : node(producer).op.as<T>();
  }
  /// The elements of a value made by a Constant, else null.
  const HostTensor* constant(ValueId id) const;
  OriginRef origin(ValueId id) const;  ///< of a constant; null for what has none, kNone included
  bool is_output(ValueId id) const { return value(id).num_outputs > 0; }
  int num_uses(ValueId id) const {  ///< by nodes and by outputs
    return static_cast<int>(value(id).users.size()) + value(id).num_outputs;
  }
  /// Live nodes, producers first, but for inputs that are fed back; independent nodes in the order of their ids. Fails
  /// on a cycle, naming its nodes.
  Result<std::vector<NodeId>> topological_order() const;

  // Editing. Marks what lies below as stale; `infer` or `inferred_type` brings it up to date.
  void set_op(NodeId id, Op op);
  void set_input(NodeId id, int i, ValueId value);
  void set_origin(NodeId constant, OriginRef origin);  ///< of a Constant; nothing becomes stale
  void mark_read(NodeId constant);                     ///< sets Constant::is_read
  void set_num_inputs(NodeId id, int count);           ///< new ones are kNone
  void set_input_type(ValueId graph_input, TensorType type);
  /// Gives a body's input the type that its node says; attributes stay as they are.
  void give_input_type(ValueId graph_input, const TensorType& type);
  void set_name(NodeId id, std::string name);  ///< and the names of the sizes that its runs decide
  void set_name(ValueId id, std::string name) { values_[index(id)].name = std::move(name); }
  void add_tap(ValueId id, std::string name) { values_[index(id)].taps.push_back(std::move(name)); }
  /// Adds the taps of a value, of this graph or another.
  void add_taps(ValueId id, const Value& of) {
    auto& taps = values_[index(id)].taps;
    if (!of.taps.empty()) taps.insert(taps.end(), of.taps.begin(), of.taps.end());
  }
  /// Forgets the taps of a value that becomes another one.
  void drop_taps(ValueId id) { values_[index(id)].taps.clear(); }
  void set_provenance(NodeId id, std::vector<std::string> from) { mutable_node(id).provenance = std::move(from); }
  void set_bodies(NodeId id, std::vector<std::shared_ptr<Graph>> bodies) {
    mutable_node(id).bodies = std::move(bodies);
  }
  /// The symbols of an uninferred copy of a node with sizes.
  void set_sizes(NodeId id, std::vector<DecidedSize> sizes) { mutable_node(id).sizes = std::move(sizes); }
  /// Replaces a symbol that a node decides in the attributes of all ops, as the node goes: `by` is always its value.
  void replace_size(sym::Expr symbol, sym::Expr by);
  /// Each size that was replaced and what by, the latest first.
  std::span<const std::pair<sym::Expr, sym::Expr>> replaced_sizes() const { return replaced_sizes_; }
  void set_replaced_sizes(std::span<const std::pair<sym::Expr, sym::Expr>> sizes) {
    replaced_sizes_.assign(sizes.begin(), sizes.end());
  }
  void set_output_value(int output, ValueId value);
  void set_output_name(int output, std::string name) { outputs_[static_cast<size_t>(output)].name = std::move(name); }
  /// Every use of `old`, outputs included, becomes a use of `by`.
  void replace_uses(ValueId old, ValueId by);
  /// Removes a node none of whose outputs is used.
  void remove(NodeId id);
  void remove_input(ValueId graph_input);  ///< unused ones only
  /// Infers every stale node; with `all`, every node anew.
  enum class Which { kStale, kAll };
  Status infer(Which which = Which::kStale);

  // Shared by a graph and its bodies.
  sym::Table& table() { return *table_; }
  const std::shared_ptr<sym::Table>& shared_table() const { return table_; }
  /// The assumptions that inference had to make; checked when shapes are bound.
  const std::vector<sym::Assumption>& assumptions() const { return assumptions_; }
  void assume(sym::Assumption assumption);
  /// From here on, inference does not teach the table what it assumes: nodes may be parts of a body, which need not
  /// run.
  void stop_teaching() { is_body_ = true; }
  /// Conditions for the graph to be right: its assumptions, and what its table has learned of the symbols of its
  /// inputs and of the sizes that nodes decide. Other symbols are left out, because no run could tell their values:
  /// they were an input's before it got other extents.
  std::vector<sym::Assumption> beliefs() const;

  /// An independent copy: nodes and values are copied, constants and the symbol table are shared.
  Graph clone() const;

 private:
  Node& mutable_node(NodeId id) { return *nodes_[index(id)]; }
  Status infer_node(NodeId id);
  void name_sizes(NodeId id);
  std::string_view giver(ValueId id) const;
  void forget_types();
  void mark_stale(NodeId id);
  std::vector<bool> bound_symbols() const;
  void replace_in_ops(const Shape& old, const Shape& by);
  void replace_in_ops(std::span<const std::pair<sym::Expr, sym::Expr>> replacements);
  void drop_use(ValueId value, NodeId user);
  std::string describe(NodeId id) const;

  std::shared_ptr<sym::Table> table_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<bool> stale_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<Output> outputs_;
  std::vector<sym::Assumption> assumptions_;
  std::vector<std::pair<sym::Expr, sym::Expr>> replaced_sizes_;
  bool is_body_ = false, may_be_impossible_ = false;
};

/// Flags by symbol id: whether a node of the graph decides it.
std::vector<bool> decided_symbols(const Graph& graph);
/// Checks every invariant of a graph: ids in range, uses consistent, order acyclic, types as inference finds them.
Status verify(const Graph& graph);
/// "x: f32[2, 3]; a = Transpose{perm=[1, 0]}(x); return a", a statement a line.
std::string print(const Graph& graph);

}  // namespace kiln::ir
