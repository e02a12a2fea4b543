#include "onnx/importer.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/copy.h"
#include "ir/source_names.h"
#include "ir/symbolic_values.h"
#include "onnx/dtypes.h"
#include "onnx/free_names.h"
#include "onnx/import/bodies.h"
#include "onnx/import/carried_nodes.h"
#include "onnx/import/importers.h"
#include "onnx/import/plugin.h"
#include "onnx/import/unknown_values.h"
#include "onnx/node_outcomes.h"
#include "onnx/problem.h"
#include "ops/assertion.h"
#include "ops/cast.h"
#include "ops/fold.h"
#include "ops/identity.h"
#include "ops/read_values.h"
#include "ops/reshape.h"
#include "ops/unary.h"

namespace kiln::onnx {
namespace {

class Importer {
 public:
  Importer(const Model& model, ir::Graph& graph, const ImportOptions& options, ImportReport& report,
           NodeOutcomes* outcomes, ImportState& state)
      : model_(model), graph_(graph), options_(options), report_(report), outcomes_(outcomes), state_(state) {}

  void run();
  /// Imports a body into the graph, whose inputs have these names. Returns the body's outputs.
  Result<BodyResults> run_body(const GraphDef& body, const std::map<std::string_view, ValueId>& inputs, int index);

 private:
  class Bodies;
  /// A branch that stands in the place of its If.
  struct TakenBranch {
    const GraphDef& graph;
    std::optional<ImportedBody> imported = std::nullopt;  // where that was done to see whether it can be taken
  };
  bool is_network_input(ValueId value) const;
  void add_input(const ValueInfo& input);
  Result<TensorType> type_of(const ValueInfo& info);
  void warn_of_carrier(std::string_view what, std::string_view name, ElementType type, DType carrier);
  Result<ValueId> add_initializer(const TensorDef& tensor);
  void add_node(const NodeDef& node, int index);
  bool is_poisoned(std::string_view name);
  std::optional<Values> inputs_of(const NodeDef& node);
  class Scope;
  Result<std::optional<TakenBranch>> known_branch(const NodeDef& node, const Values& inputs, Bodies& bodies);
  bool reads_numbers_of_data(const sym::Expr& e) const;
  Result<std::optional<TakenBranch>> assumed_branch(const NodeDef& node, ValueId condition, Bodies& bodies);
  Status take_branch(const TakenBranch& taken, Bodies& bodies, const NodeDef& node, int index);
  void add_branch(const GraphDef& branch, const NodeDef& node, int index);
  Status splice_branch(const ImportedBody& branch, Bodies& bodies, const NodeDef& node);
  Status import_node(const NodeDef& node, Values inputs, int index);
  ValueId read_by_host(std::string_view name, ValueId value);
  std::string describe_inputs(const NodeDef& node) const;
  void stand_in(const NodeDef& node);
  void add_output(const ValueInfo& output);
  void set_output(std::string_view name, std::optional<Sequence> sequence, ValueId value,
                  ElementType type = ElementType::kUndefined);
  void set_carried(std::string_view name, ElementType type);
  ElementType carried(std::string_view name) const { return type_carried(state_.carried, name); }
  ValueId at_the_edge(std::string_view what, std::string_view name, ValueId value, DType to);
  ValueId find(std::string_view name);

  void problem(Error error, int node = -1);

  const Model& model_;
  ir::Graph& graph_;
  const ImportOptions& options_;
  ImportReport& report_;
  NodeOutcomes* outcomes_;  // null where the graph is wanted
  ImportState& state_;
  /// Values by ONNX name. kNone: poisoned, the problem with it has been reported.
  std::unordered_map<std::string_view, ValueId> values_;
  std::unordered_map<std::string_view, const TensorDef*> initializers_;  // not yet added
  std::optional<std::set<ValueId>> network_inputs_;  // of a body: those of its inputs that are the network's
};

bool Importer::is_network_input(ValueId value) const {
  if (network_inputs_) return network_inputs_->contains(value);
  return graph_.value(value).producer == ir::NodeId::kNone;
}

void Importer::problem(Error error, int node) {
  report_.errors.push_back(problem_of(model_.graph, node, std::move(error)));
}

Result<TensorType> Importer::type_of(const ValueInfo& info) {
  if (info.type.kind == TypeKind::kSequence || info.type.kind == TypeKind::kOptional)
    return error(Code::kUnsupported, "is ", info.type.kind == TypeKind::kSequence ? "a sequence" : "an optional",
                 "; inputs are tensors: give each element an input of its own, and make it of them (SequenceConstruct, "
                 "Optional)");
  if (info.type.kind != TypeKind::kTensor)
    return error(Code::kUnsupported, "is not a dense tensor; maps and sparse tensors are not supported");
  const auto carrier = carrier_of(info.type.element_type);
  const DType dtype = carrier ? *carrier : TRY(need_dtype(info.type.element_type));
  if (!info.type.shape) return error(Code::kUnsupported, "has no shape; the rank at least must be known");
  TensorType type(dtype, {});
  for (size_t axis = 0; axis < info.type.shape->size(); ++axis) {
    const Dim& dim = (*info.type.shape)[axis];
    if (dim.value)
      type.shape.emplace_back(*dim.value);
    else if (!dim.param.empty())
      type.shape.push_back(graph_.table().dimension(dim.param));
    else
      type.shape.push_back(graph_.table().fresh(str(info.name, '_', axis)));
  }
  TRY(require(type.rank() <= kMaxRank, "has rank ", type.rank(), "; at most ", kMaxRank, " axes are possible"));
  return type;
}

void Importer::add_input(const ValueInfo& input) {
  if (initializers_.contains(input.name)) return;  // a weight, as models of IR version 3 list them
  auto type = in_context(type_of(input), [&] { return str("input '", input.name, "'"); });
  if (!type) {
    values_[input.name] = ValueId::kNone;
    return problem(std::move(type).error());
  }
  const bool is_double = type->dtype == DType::kF64;
  set_carried(input.name, input.type.element_type);
  if (carrier_of(input.type.element_type)) warn_of_carrier("input", input.name, input.type.element_type, type->dtype);
  if (is_double) type->dtype = DType::kF32;
  const ValueId value = graph_.add_input(std::string(input.name), *std::move(type));
  ir::give_symbolic_values(graph_, value);
  values_[input.name] = is_double ? at_the_edge("input", input.name, value, DType::kF64) : value;
}

void Importer::warn_of_carrier(std::string_view what, std::string_view name, ElementType type, DType carrier) {
  report_.warnings.push_back(str(what, " '", name, "' is ", type, " in the model and ", carrier, " in the network"));
}

/// Keeps the type of a value if another carries it.
void Importer::set_carried(std::string_view name, ElementType type) {
  if (carrier_of(type))
    state_.carried[std::string(name)] = type;
  else if (const auto found = state_.carried.find(name); found != state_.carried.end())
    state_.carried.erase(found);
}

/// TensorRT has no DOUBLE: what a program sees of such an input or output is FLOAT, as in TensorRT's own parser.
ValueId Importer::at_the_edge(std::string_view what, std::string_view name, ValueId value, DType to) {
  report_.warnings.push_back(str(what, " '", name, "' is DOUBLE in the model and FLOAT in the network"));
  const auto cast = graph_.add_one(ops::Cast{.to = to}, {value}, std::string(name));
  CHECK(cast.has_value());
  graph_.set_provenance(graph_.value(*cast).producer, {str(what, " '", name, "'")});
  return *cast;
}

Result<ValueId> Importer::add_initializer(const TensorDef& tensor) {
  TensorData data = TRY(tensor_data(model_, tensor));
  const std::shared_ptr<const void> owner = data.owner;  // of what is copied
  if (options_.copy_weights) data.owner = nullptr;
  const HostTensor elements =
      TRY(in_context(host_tensor(data), [&] { return str("initializer '", tensor.name, "'"); }));
  TRY(require(elements.rank() <= kMaxRank, "initializer '", tensor.name, "' has rank ", elements.rank(), "; at most ",
              kMaxRank, " axes are possible"));
  std::string& source = state_.source_of[&tensor];  // a body may be imported more than once
  if (source.empty()) source = ir::take_name(state_.sources, tensor.name);
  const ValueId value = graph_.add_constant(source_constant(source, elements), std::string(tensor.name));
  set_carried(tensor.name, tensor.type);
  graph_.set_provenance(graph_.value(value).producer, {str("initializer '", tensor.name, "'")});
  return value;
}

/// The value of that name, kNone if there was a problem with it. Initializers are added when first used.
ValueId Importer::find(std::string_view name) {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  const auto initializer = initializers_.find(name);
  ValueId value = ValueId::kNone;
  if (initializer != initializers_.end()) {
    auto added = add_initializer(*initializer->second);
    if (added)
      value = *added;
    else
      problem(std::move(added).error());
  }
  values_[name] = value;
  return value;
}

/// " of x f32[2, 3], w f32[3]"
std::string Importer::describe_inputs(const NodeDef& node) const {
  std::string text;
  for (const std::string_view name : node.inputs) {
    const auto found = values_.find(name);
    if (name.empty() || found == values_.end() || found->second == ValueId::kNone) continue;
    text += str(text.empty() ? " of " : ", ", name, ' ', graph_.type(found->second));
  }
  return text;
}

/// Imports a node's bodies by importers of their own.
class Importer::Bodies final : public BodyImporter {
 public:
  Bodies(Importer& around, int index) : around_(around), index_(index) {}

  Result<Captures> captures(std::span<const GraphDef* const> bodies) override {
    Captures captures;
    for (const GraphDef* body : bodies)
      for (const std::string_view name : free_names(*body, around_.state_.free_names))
        if (std::ranges::find(captures.names, name) == captures.names.end()) captures.names.push_back(name);
    const auto add = [&](ValueId value) {
      if (!around_.graph_.constant(value) && std::ranges::find(captures.values, value) == captures.values.end())
        captures.values.push_back(value);
    };
    for (const std::string_view name : captures.names) {
      if (const auto sequence = around_.state_.sequences.find(name); sequence != around_.state_.sequences.end()) {
        for (const SequencePart& part : sequence->second.parts)
          if (part.value != ValueId::kNone) add(part.value);
        continue;
      }
      const ValueId value = around_.find(name);
      if (value == ValueId::kNone)
        return error(Code::kUnsupported, "a body reads '", name, "', which could not be imported");
      add(value);
    }
    return captures;
  }

  Result<ImportedBody> import(const GraphDef& body, std::span<const BodyInput> inputs, const Captures& captures,
                              const MakeSequences& make_sequences = {}) override {
    const auto kept = std::ranges::find(kept_, &body, [](const auto& entry) { return entry.first; });
    if (kept == kept_.end()) return import_anew(body, inputs, captures, make_sequences);
    auto imported = std::move(kept->second);
    kept_.erase(kept);
    return imported;
  }
  /// Keeps a body without inputs of its own for whoever imports it next: importing bodies twice would take twice as
  /// long with each level of them.
  void keep(const GraphDef& body, Result<ImportedBody> imported) { kept_.emplace_back(&body, std::move(imported)); }

  Result<BodyResults> import_here(const GraphDef& body, const BodyArguments& arguments) override {
    const GraphDef* const bodies[] = {&body};
    std::map<std::string_view, ValueId> names = arguments.values;
    Sequences sequences = arguments.sequences;
    for (const std::string_view name : TRY(captures(bodies)).names) {
      if (names.contains(name) || sequences.contains(name)) continue;
      const auto sequence = around_.state_.sequences.find(name);
      if (sequence == around_.state_.sequences.end())
        names[name] = around_.find(name);
      else
        sequences[std::string(name)] = sequence->second;
    }
    ImportReport report;
    const int first = around_.graph_.num_nodes();
    Importer importer(around_.model_, around_.graph_, around_.options_, report, nullptr, around_.state_);
    importer.network_inputs_ = around_.network_inputs_;
    BodyResults results = TRY(run(importer, report, body, names, std::move(sequences)));
    for (int i = first; i < around_.graph_.num_nodes() && !arguments.suffix.empty(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); !around_.graph_.node(id).name.empty())
        around_.graph_.set_name(id, around_.graph_.node(id).name + arguments.suffix);
    return results;
  }

  bool is_network_input(ValueId value) const override { return around_.is_network_input(value); }

  void warn(std::span<const std::string> warnings) override {
    std::vector<std::string>& known = around_.report_.warnings;
    for (const std::string& warning : warnings)  // iterations of an unrolled loop tell the same
      if (std::ranges::find(known, warning) == known.end()) known.push_back(warning);
  }

 private:
  /// Runs the importer of a body, within which the sequences are these.
  Result<BodyResults> run(Importer& importer, ImportReport& report, const GraphDef& body,
                          const std::map<std::string_view, ValueId>& names, Sequences sequences) {
    const CarriedTypes carried = around_.state_.carried;  // names that the body does not give another meaning keep it
    std::swap(around_.state_.sequences, sequences);
    auto results = importer.run_body(body, names, index_);
    std::swap(around_.state_.sequences, sequences);
    around_.state_.carried = carried;
    if (!report.errors.empty()) return error(report.errors[0].code, report.errors[0].message);
    if (results) results->warnings = std::move(report.warnings);
    return results;
  }

  Result<ImportedBody> import_anew(const GraphDef& body, std::span<const BodyInput> inputs, const Captures& captures,
                                   const MakeSequences& make_sequences) {
    ImportedBody result{.graph = around_.graph_.new_body(), .outputs = {}, .copies = {}};
    ir::Graph& graph = *result.graph;
    std::map<std::string_view, ValueId> names;
    for (const BodyInput& input : inputs) {
      const std::string name(input.name);
      if (input.captured != ValueId::kNone) continue;
      const ValueId value =
          input.constant ? graph.add_constant(*input.constant, name) : graph.add_input(name, input.type);
      if (!input.name.empty()) names[input.name] = value;
    }
    Sequences sequences;
    if (make_sequences) sequences = TRY(make_sequences(graph));
    std::map<ValueId, ValueId> inside;
    const ir::Graph& outside = around_.graph_;
    for (const ValueId value : captures.values)
      inside[value] = graph.add_input(outside.value(value).name, outside.type(value));
    const auto moved = [&](ValueId value) {
      const auto found = inside.find(value);
      if (found != inside.end()) return found->second;
      const auto* constant = outside.producer_as<ops::Constant>(value);
      return inside[value] = graph.add_constant(*constant, outside.value(value).name);
    };
    for (const BodyInput& input : inputs)
      if (input.captured != ValueId::kNone) names[input.name] = moved(input.captured);
    for (const std::string_view name : captures.names) {
      if (names.contains(name) || sequences.contains(name)) continue;
      const auto sequence = around_.state_.sequences.find(name);
      if (sequence == around_.state_.sequences.end()) {
        names[name] = moved(around_.find(name));
        continue;
      }
      Sequence& copy = sequences[std::string(name)] = sequence->second;
      for (SequencePart& part : copy.parts)
        if (part.value != ValueId::kNone) part.value = moved(part.value);
    }
    for (const auto& [value, copy] : inside) result.copies.emplace_back(copy, value);
    ImportReport report;
    Importer importer(around_.model_, graph, around_.options_, report, nullptr, around_.state_);
    importer.network_inputs_.emplace();
    for (const auto& [value, copy] : inside)
      if (around_.is_network_input(value)) importer.network_inputs_->insert(copy);
    auto outputs = run(importer, report, body, names, std::move(sequences));
    for (const auto& [value, copy] : inside)  // elements that the body's importers have given to such an input
      if (around_.is_network_input(value) && graph.type(copy).values && !outside.type(value).values)
        around_.graph_.set_input_type(value, graph.type(copy));
    result.outputs = TRY(std::move(outputs));
    return result;
  }

  Importer& around_;
  const int index_;
  std::vector<std::pair<const GraphDef*, Result<ImportedBody>>> kept_;
};

Result<BodyResults> Importer::run_body(const GraphDef& body, const std::map<std::string_view, ValueId>& inputs,
                                       int index) {
  for (const auto& [name, value] : inputs) values_[name] = read_by_host(name, value);
  for (const ValueInfo& input : body.inputs) set_carried(input.name, ElementType::kUndefined);
  for (const TensorDef& tensor : body.initializers) initializers_[tensor.name] = &tensor;
  for (const NodeDef& node : body.nodes) add_node(node, index);
  BodyResults outputs;
  for (const ValueInfo& output : body.outputs) {
    const size_t i = outputs.values.size();
    TRY(require(!output.name.empty(), "output ", i, " of the body has no name"));
    TRY(require(!carrier_of(carried(output.name)), "output '", output.name, "' of the body is ", carried(output.name),
                "; bodies with such outputs are not in Kiln"));
    const auto sequence = state_.sequences.find(output.name);
    if (sequence != state_.sequences.end()) outputs.sequences[i] = sequence->second;
    const ValueId value = sequence == state_.sequences.end() ? find(output.name) : ValueId::kNone;
    if (sequence == state_.sequences.end() && value == ValueId::kNone) {
      if (report_.errors.empty()) return error(Code::kInvalidArgument, "the body has no value '", output.name, "'");
      return outputs;
    }
    outputs.values.push_back(value);
  }
  return outputs;
}

Status Importer::import_node(const NodeDef& node, Values inputs, int index) {
  Bodies bodies(*this, index);
  if (const auto taken = TRY(known_branch(node, inputs, bodies))) return take_branch(*taken, bodies, node, index);
  const ImportFunction import = find_importer(node.domain, node.op_type);
  const auto plugin = TRY(known_plugin(node, import && !options_.prefers_plugins ? nullptr : options_.plugins));
  if (!import && !plugin) return no_importer(node, options_.plugins);
  ImportContext cx(model_, node, model_.opset_of(node).value_or(1), graph_, std::move(inputs), state_);
  cx.set_bodies(&bodies);
  const ImporterOfNode importer = import ? ImporterOfNode::kThere : ImporterOfNode::kNone;
  if (!plugin || !TRY(import_plugin(cx, *plugin, *options_.plugins, importer))) {
    TRY(model_.opset_of(node));
    bodies.warn(unknown_attributes(node));
    TRY(import_by_type(cx, import));
    note_unread(node, cx.node(), state_.unread_attributes);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (const auto sequence = cx.output_sequences().find(i); sequence != cx.output_sequences().end()) {
      set_output(node.outputs[i], sequence->second, ValueId::kNone);
      continue;
    }
    if (cx.outputs()[i] == ValueId::kNone)
      return error(Code::kUnsupported, "output ", i, " '", node.outputs[i],
                   "' is not one that Kiln produces for operator ", node.op_type);
    set_output(node.outputs[i], std::nullopt, read_by_host(node.outputs[i], cx.outputs()[i]), cx.output_type(i));
  }
  return {};
}

/// Gives the name of a node's output its meaning: a sequence or an optional, or else a value.
void Importer::set_output(std::string_view name, std::optional<Sequence> sequence, ValueId value, ElementType type) {
  set_carried(name, type);
  state_.sequences.erase(std::string(name));  // a branch may give a name another meaning
  if (sequence)
    state_.sequences[std::string(name)] = *std::move(sequence);
  else
    values_[name] = value;
}

/// The value with elements that shapes may depend on, if an earlier try to import the model found that some do.
ValueId Importer::read_by_host(std::string_view name, ValueId value) {
  const TensorType& type = graph_.type(value);
  if (!state_.read_values.contains(name) || type.values || graph_.constant(value) || !is_readable(type)) return value;
  if (!type.volume().is_const()) {
    // A slice of one element at a place that only the run knows, which may be none: that fails the run.
    const auto one = graph_.add_one(ops::Reshape{{1}, false}, {value}, std::string(name));
    CHECK(one.has_value());
    value = *one;
  }
  const auto read = graph_.add_one(ops::ReadValues{}, {value}, std::string(name));
  CHECK(read.has_value());
  graph_.set_provenance(graph_.value(*read).producer, {str("numbers of '", name, "'")});
  graph_.set_name(*read, str(name, "/numbers"));
  return *read;
}

/// Whether there was a problem with the value of that name, which a body reads. Initializers are not looked at: a
/// branch that is never taken needs none.
bool Importer::is_poisoned(std::string_view name) {
  return !state_.sequences.contains(name) && (values_.contains(name) || !initializers_.contains(name)) &&
         find(name) == ValueId::kNone;
}

/// The values that the node reads; none where there was a problem with one of them, or with one that its bodies read.
std::optional<Values> Importer::inputs_of(const NodeDef& node) {
  Values inputs;
  bool poisoned = false;
  for (const std::string_view name : node.inputs) {
    const bool is_tensor = !name.empty() && !state_.sequences.contains(name);
    inputs.push_back(is_tensor ? find(name) : ValueId::kNone);
    poisoned = poisoned || (is_tensor && inputs.back() == ValueId::kNone);
  }
  for (const AttributeDef& attribute : node.attributes)
    for (const auto& body : attribute.graphs)
      for (const std::string_view name : free_names(*body, state_.free_names)) poisoned = poisoned || is_poisoned(name);
  return poisoned ? std::nullopt : std::optional(std::move(inputs));
}

/// The branch that an If takes in every run, because its condition follows from constants and extents. Exporters write
/// such an If to squeeze an axis whose extent they do not know. Nothing for other nodes, and where the run decides.
Result<std::optional<Importer::TakenBranch>> Importer::known_branch(const NodeDef& node, const Values& inputs,
                                                                    Bodies& bodies) {
  if (node.op_type != "If" || !node.domain.empty() || inputs.size() != 1) return std::nullopt;
  ImportContext cx(model_, node, TRY(model_.opset_of(node)), graph_, inputs, state_);
  const auto condition = cx.values(inputs[0], "");  // one of data is nothing that the host should read
  if (!condition || condition->size() != 1) return std::nullopt;
  const sym::Expr holds = (*condition)[0];
  if (reads_numbers_of_data(holds) || state_.reads_iteration(holds)) return std::nullopt;
  if (!holds.is_const()) return assumed_branch(node, inputs[0], bodies);
  return TakenBranch{TRY(NodeReader(node).need_graph(holds.value() ? "then_branch" : "else_branch"))};
}

/// Whether an expression has a number that the host reads while the network runs. A branch that such a number decides
/// is never assumed: what makes the number would be removed with the other branch, and nothing would be left to check.
bool Importer::reads_numbers_of_data(const sym::Expr& e) const {
  if (state_.read_values.empty()) return false;
  std::vector<sym::Expr> symbols;
  collect_symbols(e, symbols);
  const auto is_read = [&](const DecidedSize& size) { return std::ranges::count(symbols, size.symbol) > 0; };
  for (int i = 0; i < graph_.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (graph_.alive(id) && graph_.node(id).op.as<ops::ReadValues>() &&
        std::ranges::any_of(graph_.node(id).sizes, is_read))
      return true;
  }
  return false;
}

/// The branch that is taken although the condition may be otherwise, because no value can be what both branches give:
/// of other ranks, or one of them cannot be. That the condition is so is checked when extents are known. Nothing where
/// the branches agree.
Result<std::optional<Importer::TakenBranch>> Importer::assumed_branch(const NodeDef& node, ValueId condition,
                                                                      Bodies& bodies) {
  const std::array<const GraphDef*, 2> branches = {&TRY(NodeReader(node).need_graph("then_branch")).get(),
                                                   &TRY(NodeReader(node).need_graph("else_branch")).get()};
  std::vector<Result<ImportedBody>> imported;
  const Captures captures = TRY(bodies.captures(branches));
  const auto unknown = [&] { return std::pair(state_.met_elements_in_floats, state_.wanted_values.size()); };
  const auto unknown_before = unknown();
  for (const GraphDef* branch : branches) imported.push_back(bodies.import(*branch, {}, captures));
  const bool works[] = {imported[0].has_value(), imported[1].has_value()};
  if (works[0] != works[1] && unknown() != unknown_before && state_.could_learn())
    return std::unexpected(imported[works[0] ? 1 : 0].error());  // it may work in the next try
  if (works[0] == works[1] && (!works[0] || ranks_agree(*imported[0], *imported[1]))) {
    for (size_t b = 0; b < branches.size(); ++b) bodies.keep(*branches[b], std::move(imported[b]));
    return std::nullopt;
  }
  const size_t taken = works[0] ? 0 : 1;
  const auto why =
      str(node, " takes its ", taken == 0 ? "then" : "else", "_branch: ",
          works[0] && works[1] ? "its branches give values of different ranks"
                               : str("the other one cannot be imported (", imported[1 - taken].error().message, ')'));
  ValueId holds = condition;
  if (taken == 1) holds = TRY(graph_.add_one(ops::Unary{ops::UnaryKind::kNot}, {condition}));
  TRY(graph_.add(ops::Assertion{why}, Values{holds}, std::string(label_of(node))));
  report_.warnings.push_back(why);
  return TakenBranch{*branches[taken], *std::move(imported[taken])};
}

/// Saves what names outside a branch mean where the branch gives them to its own tensors, and restores them behind it.
class Importer::Scope {
 public:
  Scope(Importer& importer, const GraphDef& branch) : importer_(importer) {
    for (const TensorDef& tensor : branch.initializers) {
      save(tensor.name);
      importer.values_.erase(tensor.name);
      importer.initializers_[tensor.name] = &tensor;
    }
    for (const NodeDef& node : branch.nodes)
      for (const std::string_view output : node.outputs) save(output);
  }
  ~Scope() {
    for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved) {  // a name may be saved twice
      restore(importer_.values_, saved->name, saved->value);
      restore(importer_.initializers_, saved->name, saved->initializer);
    }
    importer_.state_.sequences = sequences_;
    importer_.state_.carried = carried_;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  struct Saved {
    std::string_view name;
    std::optional<ValueId> value;
    std::optional<const TensorDef*> initializer;
  };
  template <class Map>
  static std::optional<typename Map::mapped_type> look_up(const Map& map, std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
  template <class Map>
  static void restore(Map& map, std::string_view name, const std::optional<typename Map::mapped_type>& before) {
    if (before)
      map[name] = *before;
    else
      map.erase(name);
  }
  void save(std::string_view name) {
    saved_.push_back({name, look_up(importer_.values_, name), look_up(importer_.initializers_, name)});
  }

  Importer& importer_;
  const Sequences sequences_ = importer_.state_.sequences;
  const CarriedTypes carried_ = importer_.state_.carried;
  std::vector<Saved> saved_;
};

/// Puts a branch in the place of the If, which stands at `index` and disappears.
Status Importer::take_branch(const TakenBranch& taken, Bodies& bodies, const NodeDef& node, int index) {
  const GraphDef& branch = taken.graph;
  TRY(require(branch.outputs.size() == node.outputs.size(), "the branch has ", branch.outputs.size(),
              " outputs; the node has ", node.outputs.size()));
  TRY(require(branch.inputs.empty(), "the branch has inputs; a branch takes what it reads from the graph around it"));
  if (taken.imported) return splice_branch(*taken.imported, bodies, node);
  add_branch(branch, node, index);
  return {};
}

/// Adds the nodes of a branch that has not been imported yet.
void Importer::add_branch(const GraphDef& branch, const NodeDef& node, int index) {
  Values results;
  std::vector<std::optional<Sequence>> sequences;
  std::vector<ElementType> types;
  {
    const Scope scope(*this, branch);
    for (const NodeDef& inner : branch.nodes) add_node(inner, index);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const auto sequence = state_.sequences.find(branch.outputs[i].name);
      const bool is_tensor = !node.outputs[i].empty() && sequence == state_.sequences.end();
      results.push_back(is_tensor ? find(branch.outputs[i].name) : ValueId::kNone);
      sequences.push_back(sequence == state_.sequences.end() ? std::nullopt : std::optional(sequence->second));
      types.push_back(carried(branch.outputs[i].name));
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) set_output(node.outputs[i], std::move(sequences[i]), results[i], types[i]);
}

/// Adds the nodes of a branch that has been imported as a body. What its importers found of values around it holds for
/// these: elements that they read, and inputs of the network of which they made shape tensors.
Status Importer::splice_branch(const ImportedBody& branch, Bodies& bodies, const NodeDef& node) {
  ir::Places places(static_cast<size_t>(branch.graph->num_values()), ValueId::kNone);
  for (const auto& [inside, outside] : branch.copies) {
    places[ir::index(inside)] = outside;
    const auto* constant = branch.graph->producer_as<ops::Constant>(inside);
    if (constant && constant->is_read) graph_.mark_read(graph_.value(outside).producer);
    const bool is_input = graph_.value(outside).producer == ir::NodeId::kNone;
    const TensorType& type = branch.graph->type(inside);
    if (is_input && type.values && !graph_.type(outside).values) graph_.set_input_type(outside, type);
  }
  places = TRY(ir::splice(graph_, *branch.graph, std::move(places), {str(node.op_type, " '", label_of(node), "'")}));
  bodies.warn(branch.outputs.warnings);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (const auto found = branch.outputs.sequences.find(i); found != branch.outputs.sequences.end()) {
      Sequence sequence = found->second;
      for (SequencePart& part : sequence.parts)
        if (part.value != ValueId::kNone) part.value = places[ir::index(part.value)];
      set_output(node.outputs[i], std::move(sequence), ValueId::kNone);
    } else {
      set_output(node.outputs[i], std::nullopt, places[ir::index(branch.outputs.values[i])]);
    }
  }
  return {};
}

void Importer::add_node(const NodeDef& node, int index) {
  auto inputs = inputs_of(node);
  const bool poisoned = !inputs;
  // The node's operator may be unknown besides. That is a problem of its own, so it is reported too.
  const bool known = has_importer(node.domain, node.op_type);
  if (!poisoned || !known) {
    auto wanted_before = state_.wanted_values;
    const size_t num_problems = report_.errors.size();  // nodes of a branch tell theirs by themselves
    auto done = in_context(import_node(node, inputs ? *std::move(inputs) : Values{}, index),
                           [&] { return str(node, describe_inputs(node)); });
    if (done && report_.errors.size() == num_problems) state_.wanted_values = std::move(wanted_before);
    if (done) return;
    problem(std::move(done).error(), index);
  }
  if (outcomes_) outcomes_->fail(index, node, poisoned && known, [&](auto name) { return is_poisoned(name); });
  for (const std::string_view output : node.outputs)
    if (!output.empty()) values_[output] = ValueId::kNone;
  if (outcomes_) stand_in(node);
}

/// Stands in for a node that could not be imported: its outputs get the types that the model states, so that the nodes
/// behind it are tried too.
void Importer::stand_in(const NodeDef& node) {
  for (const std::string_view output : node.outputs)
    if (const ValueInfo* info = outcomes_->stated_type(output))
      if (auto type = type_of(*info)) {
        values_[output] = graph_.add_input(std::string(output), *std::move(type));
        set_carried(output, info->type.element_type);
      }
}

void Importer::add_output(const ValueInfo& output) {
  if (const auto found = state_.sequences.find(output.name); found != state_.sequences.end()) {
    const bool is_optional = found->second.kind != Sequence::Kind::kSequence;
    const std::string_view what = is_optional ? "' is an optional; outputs are tensors: give its element"
                                              : "' is a sequence; outputs are tensors: give its elements, or join them";
    return problem({Code::kUnsupported, str("output '", output.name, what)});
  }
  ValueId value = find(output.name);
  if (value == ValueId::kNone) return;  // reported
  if (carrier_of(carried(output.name)))
    warn_of_carrier("output", output.name, carried(output.name), graph_.type(value).dtype);
  if (graph_.type(value).dtype == DType::kF64) value = at_the_edge("output", output.name, value, DType::kF32);
  // Outputs are values of nodes: neither an input, nor an initializer, nor an output twice.
  const bool plain = graph_.value(value).producer != ir::NodeId::kNone && !graph_.constant(value);
  if (plain && !graph_.is_output(value)) return graph_.mark_output(value, std::string(output.name));
  const auto copy = graph_.add_one(ops::Identity{}, {value}, std::string(output.name));
  CHECK(copy.has_value());
  graph_.set_provenance(graph_.value(*copy).producer, {str("output '", output.name, "'")});
  if (graph_.value(value).producer == ir::NodeId::kNone) graph_.set_name(*copy, std::string(output.name));
  graph_.mark_output(*copy, std::string(output.name));
}

void Importer::run() {
  state_.sources = ir::source_names(graph_);
  for (const TensorDef& tensor : model_.graph.initializers) initializers_[tensor.name] = &tensor;
  for (const ValueInfo& input : model_.graph.inputs) add_input(input);
  for (size_t i = 0; i < model_.graph.nodes.size(); ++i) add_node(model_.graph.nodes[i], static_cast<int>(i));
  for (const ValueInfo& output : model_.graph.outputs) add_output(output);
  for (const auto& [attribute, warning] : state_.unread_attributes) report_.warnings.push_back(warning);
}

}  // namespace

constexpr int kMostTries = 64;  // to import a model; each finds more elements that shapes depend on

void import_checked(const Model& model, ir::Graph& graph, const ImportOptions& options, ImportReport& report,
                    NodeOutcomes* outcomes) {
  ir::Graph graph_before = graph.clone();
  const ImportReport report_before = report;
  const auto outcomes_before = outcomes ? std::optional(*outcomes) : std::nullopt;
  ImportState state;
  for (int tries = 0; tries < kMostTries; ++tries) {
    Importer(model, graph, options, report, outcomes, state).run();
    if (report.errors.size() == report_before.errors.size() || !state.learn()) return;
    // An empty graph begins with names of its own; others keep what the first try called its symbols.
    graph = graph_before.inputs().empty() && graph_before.num_nodes() == 0 ? ir::Graph() : graph_before.clone();
    report = report_before;
    if (outcomes) *outcomes = *outcomes_before;
  }
}

}  // namespace kiln::onnx
