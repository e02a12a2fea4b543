/// The view of an operator's importer: one ONNX node, the values it reads, and the graph it writes to.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"
#include "ir/loop_draft.h"
#include "onnx/free_names.h"
#include "onnx/import/ignored_attributes.h"
#include "onnx/import/sequence_parts.h"
#include "onnx/model.h"
#include "onnx/node_reader.h"

namespace kiln::onnx {

using ir::ValueId;
using Values = std::vector<ValueId>;

/// A graph that an importer makes for a node, to be the body of a loop over rows.
struct RowGraph {
  GraphDef graph;
  std::deque<std::string> texts;  ///< names that the model does not have
};

/// By name, the types of values whose elements a wider type carries, because Kiln's ops lack theirs (carrier_of).
using CarriedTypes = std::map<std::string, ElementType, std::less<>>;
ElementType type_carried(const CarriedTypes& types, std::string_view name);  ///< kUndefined where nothing carries it

/// Permissions of importers while they import a model, and findings of theirs.
struct ImportState {
  /// Integers that a network computes from elements of its inputs through floats are known, like those that it computes
  /// from extents. Shapes may need them; but they make a shape tensor of an input that may be mere data.
  bool follows_elements_through_floats = false;
  bool met_elements_in_floats = false;                ///< there were some, not followed
  std::set<std::string> sources;                      ///< names of the graph's sources of weights
  std::map<const TensorDef*, std::string> source_of;  ///< an initializer's
  Sequences sequences;                                ///< of the graph that is being imported
  CarriedTypes carried;                               ///< likewise
  std::map<const NodeDef*, std::shared_ptr<const RowGraph>> row_graphs;
  FreeNames free_names;               ///< that a body reads from around it
  ir::LoopHistory loops;              ///< by the graphs of their bodies
  std::vector<sym::Expr> iterations;  ///< their numbers, of the loops around what is being imported
  UnreadAttributes unread_attributes;
  /// How loops carry sequences, by their bodies and the position of the carried value.
  std::map<std::pair<const GraphDef*, size_t>, CarriedSequence> carried_sequences;
  int num_sequence_tries = 0;  ///< to import loops that carry sequences in another way than before
  int64_t times = 1;           ///< that what is imported stands in the graph, for loops around that are unrolled
  /// Names of values of data that the host reads while the network runs, because shapes depend on them.
  std::set<std::string, std::less<>> read_values;
  std::set<std::string, std::less<>> wanted_values;  ///< that would have to be, for nodes that could not be imported

  /// Whether an expression has the number of an iteration of a loop around: it has one value after the other.
  bool reads_iteration(sym::Expr e) const;
  /// Whether something was found that this try did not do.
  bool could_learn() const;
  /// Makes it the state of another try to import the model, if something was found that the last one did not do.
  bool learn();
};

class BodyImporter;

class ImportContext {
 public:
  ImportContext(const Model& model, const NodeDef& node, int64_t opset, ir::Graph& graph, Values inputs,
                ImportState& state);

  const Model& model() const { return model_; }
  const NodeDef& def() const { return node_; }
  NodeReader& node() { return reader_; }    ///< the node's attributes
  int64_t opset() const { return opset_; }  ///< the version of the node's operator set
  ir::Graph& graph() { return graph_; }
  ImportState& state() { return state_; }
  /// What imports the node's bodies.
  BodyImporter& bodies() { return *bodies_; }
  void set_bodies(BodyImporter* bodies) { bodies_ = bodies; }

  // The node's inputs. An input that is left out is kNone.
  size_t num_inputs() const { return inputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != ValueId::kNone; }
  ValueId optional_input(size_t i) const { return has_input(i) ? inputs_[i] : ValueId::kNone; }
  Result<ValueId> input(size_t i) const;  ///< fails where it is left out
  const Values& inputs() const { return inputs_; }
  /// An input that is a sequence; fails where it is a tensor, an optional or left out.
  Result<Ref<const Sequence>> sequence(size_t i) const;
  /// An input that is a sequence or an optional; null where it is neither.
  const Sequence* find_sequence(size_t i) const;
  bool is_sequence(size_t i) const { return find_sequence(i); }
  std::string_view input_name(size_t i) const { return node_.inputs[i]; }
  /// The model's type of an input that another type carries; kUndefined for every other.
  ElementType carried(size_t i) const;
  void set_input(size_t i, ValueId value) { inputs_[i] = value; }
  const TensorType& type(ValueId value) const { return graph_.type(value); }
  DType dtype(ValueId value) const { return type(value).dtype; }
  int rank(ValueId value) const { return type(value).rank(); }
  sym::Expr extent(ValueId value, int axis) const { return type(value).shape[static_cast<size_t>(axis)]; }
  /// An attribute of the node that Kiln's op keeps in 32 bits: what is beyond is an error, and not another number.
  Result<int> int_attribute(std::string_view attribute, int64_t otherwise);
  /// `axis` from the front of a tensor of `rank` axes.
  Result<int> axis(int64_t axis, int rank) const;

  // Knowledge about values while importing.
  /// The elements of a value that follows from constants alone. Fails where it does not, or is large and computed.
  Result<HostTensor> constant(ValueId value, std::string_view what);
  bool is_constant(ValueId value) { return constant(value, "").has_value(); }
  /// The elements of an integer or boolean value that follows from constants, shapes and shape inputs.
  Result<SymbolicValues> values(ValueId value, std::string_view what);
  /// The same where they must be constants.
  Result<std::vector<int64_t>> ints(ValueId value, std::string_view what);
  /// The only element of a value that follows from constants.
  Result<double> number(ValueId value, std::string_view what);
  /// The only element of a float that is a whole number: a constant, an integer cast to float, or an input of the
  /// network, which becomes a shape tensor by it.
  Result<sym::Expr> whole_number(ValueId value, std::string_view what);

  // Writing. Nodes are named after the ONNX node, and keep it as their provenance.
  Result<Values> add_all(Op op, std::span<const ValueId> inputs, std::vector<std::shared_ptr<ir::Graph>> bodies = {},
                         std::vector<DecidedSize> sizes = {});
  Result<ValueId> add(Op op, std::span<const ValueId> inputs);
  Result<ValueId> add(Op op, std::initializer_list<ValueId> inputs) {
    return add(std::move(op), std::span(inputs.begin(), inputs.size()));
  }
  ValueId add_constant(ops::Constant constant);
  ValueId add_constant(HostTensor value) { return add_constant(ops::Constant{std::move(value)}); }

  size_t num_outputs() const { return node_.outputs.size(); }
  bool wants(size_t i) const { return node_.has_output(i); }
  /// The extents that the model states of output i; none where it states no shape, or not all of them as numbers. Where
  /// extents depend on data, this is how they are known.
  std::optional<std::vector<int64_t>> stated_extents(size_t i) const;
  /// Fails where output i is asked for, of which Kiln knows nothing; `what` names it.
  Status refuse_output(size_t i, std::string_view what) const;
  Status output(size_t i, ValueId value);
  Status output(ValueId value) { return output(0, value); }
  /// Output i, of a type that value's type carries.
  Status output(size_t i, ValueId value, ElementType type);
  void set_carried(size_t i, ElementType type) { output_types_[i] = type; }
  ElementType output_type(size_t i) const;  ///< kUndefined where nothing carries it
  /// Sets what is done with each value that becomes an output.
  void set_finish(std::function<Result<ValueId>(size_t i, ValueId value)> finish) { finish_ = std::move(finish); }
  /// Output i, as a sequence or an optional. Fails where the types of elements differ.
  Status output(size_t i, Sequence sequence);
  Status output(Sequence sequence) { return output(0, std::move(sequence)); }
  /// Forgets what was added to the graph behind the mark, and the outputs that were given.
  void roll_back(const ir::Graph::Mark& to);
  const std::map<size_t, Sequence>& output_sequences() const { return output_sequences_; }
  const Values& outputs() const { return outputs_; }

 private:
  const HostTensor* evaluate(ValueId value, int depth);
  void label(ir::NodeId node, std::string_view suffix);

  const Model& model_;
  const NodeDef& node_;
  NodeReader reader_;
  int64_t opset_;
  ir::Graph& graph_;
  Values inputs_, outputs_;
  std::map<size_t, Sequence> output_sequences_;
  std::map<size_t, ElementType> output_types_;
  std::function<Result<ValueId>(size_t i, ValueId value)> finish_;
  ImportState& state_;
  BodyImporter* bodies_ = nullptr;
  int first_node_;  // of the graph, that this ONNX node made
  std::map<ValueId, HostTensor> evaluated_;
  int64_t num_evaluated_ = 0;  // numbers, and a node each
};

/// An attempt at importing a node. Unless it is kept, what it has added to the graph goes with it.
class Attempt {
 public:
  explicit Attempt(ImportContext& cx) : cx_(cx), before_(cx.graph().mark()) {}
  ~Attempt() {
    if (!is_kept_) cx_.roll_back(before_);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  void keep() { is_kept_ = true; }

 private:
  ImportContext& cx_;
  const ir::Graph::Mark before_;
  bool is_kept_ = false;
};

/// The ONNX node's name, or where it has none that of its first output.
std::string_view label_of(const NodeDef& node);

}  // namespace kiln::onnx
