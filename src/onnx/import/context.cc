#include "onnx/import/context.h"

#include <algorithm>
#include <cmath>

#include "ir/symbolic_values.h"
#include "onnx/import/bodies.h"
#include "onnx/import/unknown_values.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/identity.h"
#include "ops/reference_context.h"
#include "sym/real.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

// Constants are computed while importing where a parameter needs them: never weights, never whole networks.
constexpr int64_t kLargestEvaluated = 1 << 16;
constexpr int kDeepestEvaluated = 32;
constexpr int64_t kMostEvaluated = 1 << 24;  // numbers for one value: those of thousands of nodes may be joined

}  // namespace

std::string_view label_of(const NodeDef& node) {
  if (!node.name.empty()) return node.name;
  for (const std::string_view output : node.outputs)
    if (!output.empty()) return output;
  return node.op_type;
}

ImportContext::ImportContext(const Model& model, const NodeDef& node, int64_t opset, ir::Graph& graph, Values inputs,
                             ImportState& state)
    : model_(model),
      node_(node),
      reader_(node),
      opset_(opset),
      graph_(graph),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size(), ValueId::kNone),
      state_(state),
      first_node_(graph.num_nodes()) {}

Result<ValueId> ImportContext::input(size_t i) const {
  if (has_input(i)) return inputs_[i];
  if (const Sequence* found = find_sequence(i))
    return error(Code::kInvalidArgument, "input '", input_name(i), "' is ",
                 found->kind == Sequence::Kind::kSequence ? "a sequence" : "an optional", "; a tensor is needed");
  return error(Code::kInvalidArgument, "input ", i, " is missing");
}

const Sequence* ImportContext::find_sequence(size_t i) const {
  if (i >= node_.inputs.size()) return nullptr;
  const auto found = state_.sequences.find(node_.inputs[i]);
  return found == state_.sequences.end() ? nullptr : &found->second;
}

Result<Ref<const Sequence>> ImportContext::sequence(size_t i) const {
  const Sequence* found = find_sequence(i);
  if (found && found->kind == Sequence::Kind::kSequence) return std::cref(*found);
  return error(Code::kInvalidArgument, "input ", i, " is ",
               found          ? "an optional"
               : has_input(i) ? "a tensor"
                              : "missing",
               "; a sequence is needed");
}

Status ImportContext::output(size_t i, Sequence sequence) {
  std::optional<DType> first;
  std::string first_text;
  for (const SequencePart& part : sequence.parts) {
    const bool is_gathered = part.kind == SequencePart::Kind::kGathered;  // the shape of its elements is not known
    if (is_gathered && !part.loop->dtype) continue;
    TensorType element = is_gathered ? TensorType(*part.loop->dtype, {}) : type(part.value);
    if (part.kind == SequencePart::Kind::kStack) element.shape.erase(element.shape.begin());
    std::string text = is_gathered ? str("elements of ", element.dtype) : str(element);
    TRY(require(!first || element.dtype == *first, "the sequence would hold ", first_text, " and ", text,
                "; one type is needed"));
    if (!first) first = element.dtype, first_text = std::move(text);
  }
  if (wants(i)) output_sequences_[i] = std::move(sequence);
  return {};
}

Result<int> ImportContext::int_attribute(std::string_view attribute, int64_t otherwise) {
  const int64_t value = TRY(reader_.get_int(attribute, otherwise));
  TRY(require(value == static_cast<int>(value), attribute, " is ", value, "; a number of 32 bits is needed"));
  return static_cast<int>(value);
}

Result<int> ImportContext::axis(int64_t axis, int rank) const { return normalize_axis(axis, rank); }

const HostTensor* ImportContext::evaluate(ValueId value, int depth) {
  if (const auto* constant = graph_.producer_as<ops::Constant>(value)) {
    // What an importer reads goes into attributes: it is part of the network then, and cannot become others.
    if (!constant->is_read) graph_.mark_read(graph_.value(value).producer);
    return graph_.constant(value);
  }
  if (const auto found = evaluated_.find(value); found != evaluated_.end()) return &found->second;
  const TensorType& type = graph_.type(value);
  if (type.values && !is_float(type.dtype) && type.is_static()) {
    std::vector<int64_t> numbers;
    for (const sym::Expr& e : *type.values)
      if (e.is_const()) numbers.push_back(e.value());
    if (numbers.size() == type.values->size())
      return &evaluated_.emplace(value, HostTensor::of_ints(type.dtype, *type.extents(), numbers)).first->second;
  }
  const ir::NodeId producer = graph_.value(value).producer;
  const auto count = type.volume().constant();
  if (producer == ir::NodeId::kNone || !count || *count > kLargestEvaluated) return nullptr;
  const ir::Node& node = graph_.node(producer);
  if (depth > kDeepestEvaluated || node.op.has(Trait::kNondeterministic)) return nullptr;
  if ((num_evaluated_ += 1 + *count) > kMostEvaluated) return nullptr;
  std::vector<const HostTensor*> inputs;
  for (const ValueId input : node.inputs) {
    inputs.push_back(input == ValueId::kNone ? nullptr : evaluate(input, depth + 1));
    if (input != ValueId::kNone && !inputs.back()) return nullptr;
  }
  auto results = run_reference(node.op, inputs);
  if (!results) return nullptr;
  for (size_t i = 0; i < node.outputs.size(); ++i) evaluated_.emplace(node.outputs[i], std::move((*results)[i]));
  return &evaluated_.at(value);
}

Result<HostTensor> ImportContext::constant(ValueId value, std::string_view what) {
  num_evaluated_ = 0;
  if (const HostTensor* found = evaluate(value, 0)) return *found;
  return error(Code::kUnsupported, what, " '", graph_.value(value).name, "' (", type(value),
               ") must follow from constants; it is computed at run time");
}

Result<SymbolicValues> ImportContext::values(ValueId value, std::string_view what) {
  if (type(value).values && !is_float(type(value).dtype)) return *type(value).values;
  const auto known = constant(value, what);
  if (!known && !what.empty())
    for (std::string& name : values_to_read(graph_, value)) state_.wanted_values.insert(std::move(name));
  if (!known)
    return error(Code::kUnsupported, what, " '", graph_.value(value).name, "' (", type(value),
                 ") must follow from constants, shapes or shape inputs; ", why_unknown(graph_, value));
  TRY(require(is_integer(known->dtype()) || known->dtype() == DType::kBool, what, " '", graph_.value(value).name,
              "' is ", type(value), "; integers are needed"));
  const std::vector<int64_t> numbers = View(*known).integers();
  return SymbolicValues(numbers.begin(), numbers.end());
}

Result<std::vector<int64_t>> ImportContext::ints(ValueId value, std::string_view what) {
  std::vector<int64_t> numbers;
  for (const sym::Expr& e : TRY(values(value, what))) {
    if (!e.is_const())
      return error(Code::kUnsupported, what, " '", graph_.value(value).name, "' must be constant; it is ",
                   TRY(values(value, what)));
    numbers.push_back(e.value());
  }
  return numbers;
}

Result<double> ImportContext::number(ValueId value, std::string_view what) {
  const HostTensor known = TRY(constant(value, what));
  TRY(require(known.volume() == 1, what, " has ", known.volume(), " elements; one is needed"));
  return View(known)[0];
}

Result<sym::Expr> ImportContext::whole_number(ValueId value, std::string_view what) {
  constexpr double kLargest = 0x1p53;
  const std::string_view name = graph_.value(value).name;
  if (const auto known = number(value, what)) {
    TRY(require(std::abs(*known) <= kLargest && std::trunc(*known) == *known, what, " '", name, "' is ", *known,
                "; a whole number is needed"));
    return sym::Expr(static_cast<int64_t>(*known));
  }
  ValueId from = value;
  if (bodies_->is_network_input(value))
    ir::give_whole_values(graph_, value);
  else if (graph_.producer_as<ops::Cast>(value))
    from = graph_.node(graph_.value(value).producer).inputs[0];
  const TensorType& source = type(from);
  if (source.values && source.values->size() == 1) {
    const sym::Expr element = (*source.values)[0];
    if (!is_float(source.dtype)) return element;
    if (const auto ratio = sym::ratio_of(element); ratio && ratio->under == 1) return ratio->over;
  }
  return error(Code::kUnsupported, what, " '", name, "' (", type(value),
               ") must follow from constants, shapes or shape inputs; ", why_unknown(graph_, value));
}

std::optional<std::vector<int64_t>> ImportContext::stated_extents(size_t i) const {
  for (const auto* infos : {&model_.graph.outputs, &model_.graph.value_infos})
    for (const ValueInfo& info : *infos) {
      if (info.name != node_.outputs[i] || !info.type.shape) continue;
      std::vector<int64_t> extents;
      for (const Dim& dim : *info.type.shape)
        if (dim.value) extents.push_back(*dim.value);
      if (extents.size() == info.type.shape->size()) return extents;
    }
  return std::nullopt;
}

void ImportContext::label(ir::NodeId node, std::string_view suffix) {
  const std::string_view name = label_of(node_);
  graph_.set_name(node, suffix.empty() ? std::string(name) : str(name, '/', suffix));
  graph_.set_provenance(node, {str(node_.op_type, " '", name, "'")});
}

Result<Values> ImportContext::add_all(Op op, std::span<const ValueId> inputs,
                                      std::vector<std::shared_ptr<ir::Graph>> bodies, std::vector<DecidedSize> sizes) {
  const std::string_view kind = op.name();
  std::string name(label_of(node_));  // what inference assumes names it
  Values made = TRY(graph_.add(std::move(op), inputs, std::move(name), std::move(bodies), std::move(sizes)));
  label(graph_.value(made[0]).producer, kind);
  return made;
}

Result<ValueId> ImportContext::add(Op op, std::span<const ValueId> inputs) {
  return TRY(add_all(std::move(op), inputs))[0];
}

ValueId ImportContext::add_constant(ops::Constant constant) {
  const ValueId made = graph_.add_constant(std::move(constant));
  label(graph_.value(made).producer, "Constant");
  return made;
}

Status ImportContext::refuse_output(size_t i, std::string_view what) const {
  if (!wants(i)) return {};
  return error(Code::kUnsupported, "output ", i, " '", node_.outputs[i], "' (", what, ") is not supported");
}

Status ImportContext::output(size_t i, ValueId value) {
  if (!wants(i)) return {};
  if (finish_) value = TRY(finish_(i, value));
  const ir::NodeId producer = graph_.value(value).producer;
  // A value of others keeps its name, and so does one that another output of this node is.
  const bool own = producer != ir::NodeId::kNone && static_cast<int>(producer) >= first_node_;
  if (!own || !graph_.value(value).name.empty()) value = TRY(add(ops::Identity{}, {value}));
  label(graph_.value(value).producer, "");
  graph_.set_name(value, std::string(node_.outputs[i]));
  outputs_[i] = value;
  return {};
}

Status ImportContext::output(size_t i, ValueId value, ElementType type) {
  set_carried(i, type);
  return output(i, value);
}

ElementType type_carried(const CarriedTypes& types, std::string_view name) {
  const auto found = types.find(name);
  return found == types.end() ? ElementType::kUndefined : found->second;
}

ElementType ImportContext::carried(size_t i) const {
  return i < node_.inputs.size() ? type_carried(state_.carried, node_.inputs[i]) : ElementType::kUndefined;
}

ElementType ImportContext::output_type(size_t i) const {
  const auto found = output_types_.find(i);
  return found == output_types_.end() ? ElementType::kUndefined : found->second;
}

void ImportContext::roll_back(const ir::Graph::Mark& to) {
  graph_.roll_back(to);
  std::erase_if(evaluated_, [&](const auto& known) { return ir::index(known.first) >= to.num_values; });
  outputs_.assign(outputs_.size(), ValueId::kNone);
  output_sequences_.clear();
  output_types_.clear();
}

bool ImportState::reads_iteration(sym::Expr e) const {
  std::vector<sym::Expr> symbols;
  if (!iterations.empty()) collect_symbols(e, symbols);
  return std::ranges::find_first_of(symbols, iterations) != symbols.end();
}

bool ImportState::could_learn() const {
  const auto is_new = [&](const std::string& name) { return !read_values.contains(name); };
  return (met_elements_in_floats && !follows_elements_through_floats) || std::ranges::any_of(wanted_values, is_new);
}

/// Sets what another try could do about shapes that depend on elements: follow them through floats, or read them while
/// the network runs. Whether there is anything that the last try did not do.
bool ImportState::learn() {
  ImportState next{.follows_elements_through_floats = follows_elements_through_floats};
  next.read_values = read_values;
  bool is_new = false;
  if (met_elements_in_floats && !follows_elements_through_floats)
    next.follows_elements_through_floats = is_new = true;
  else
    for (const std::string& name : wanted_values) is_new |= next.read_values.insert(name).second;
  *this = std::move(next);
  return is_new;
}

}  // namespace kiln::onnx
