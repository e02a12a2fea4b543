#include "passes/recognize_recurrence.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "ops/activation.h"
#include "ops/concatenation.h"
#include "ops/dim_values.h"
#include "ops/einsum.h"
#include "ops/element_wise.h"
#include "ops/fold.h"
#include "ops/gather.h"
#include "ops/loop.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "passes/captures.h"
#include "passes/decompose/decompose.h"
#include "passes/drop_expands.h"
#include "passes/fold_constants.h"
#include "passes/recurrent_cell.h"
#include "passes/remove_dead.h"
#include "passes/remove_identities.h"
#include "passes/rest_of_loop.h"
#include "passes/shape_arithmetic.h"
#include "passes/sliced_inputs.h"
#include "passes/source_uses.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::ValueId;
using ops::Recurrence;

constexpr int64_t kMostHidden = 2048;  // all backends have kernels for as many hidden units
constexpr int kMostNodes = 512;        // larger bodies are no cells

/// Copies a loop's body. The copy holds the constants that the loop captures, and passes have simplified it so that
/// LinearForms knows its ops.
Result<ir::Graph> simple_body(const ir::Graph& graph, ir::NodeId loop, PassContext& cx) {
  const ir::Node& node = graph.node(loop);
  ir::Graph body = node.bodies[0]->clone();
  for (size_t i = first_captured(node); i < node.inputs.size(); ++i)
    if (const ValueId inside = body.inputs()[i - 1];
        node.inputs[i] != ValueId::kNone && graph.constant(node.inputs[i]) && body.num_uses(inside) > 0)
      body.replace_uses(inside,
                        body.add_constant(*graph.producer_as<ops::Constant>(node.inputs[i]), body.value(inside).name));
  constexpr bool kAccounts = true;
  static constexpr NamedPass kPasses[] = {
      {"remove_dead", remove_dead, kAccounts},  {"decompose", decompose},
      {"shape_arithmetic", shape_arithmetic},   {"fold_constants", fold_constants, kAccounts},
      {"remove_identities", remove_identities}, {"drop_expands", drop_expands},
  };
  SourceUses sources(body, cx);
  for (const NamedPass& pass : kPasses) {
    TRY(pass.run(body, cx));
    pass.accounts ? sources.skip(body, cx) : sources.recount(body, pass.name, cx);
  }
  return body;
}

/// How many rows a state may have: all of its axes but the last; where that has one element, also a single row, which
/// is a column.
std::vector<sym::Expr> rows_of(const TensorType& state) {
  if (state.rank() == 0 || !state.shape.back().is_const()) return {};
  sym::Expr rows = 1;
  for (size_t i = 0; i + 1 < state.shape.size(); ++i) rows *= state.shape[i];
  if (state.shape.back() != sym::Expr(1) || !rows.is_const() || rows == sym::Expr(1)) return {rows};
  return {rows, 1};
}

/// A loop as a recurrence.
struct Recognized {
  RecurrentCell cell;
  size_t h = 0;
  std::optional<size_t> c;          ///< carried values
  std::vector<SlicedInput> inputs;  ///< of the cell's terms, in the order of gates
  bool has_products = false;        ///< whether the inputs are multiplied outside already
};

class Recognizer {
 public:
  Recognizer(ir::Graph& graph, ir::NodeId loop, const PassContext& cx)
      : graph_(graph), loop_(loop), inner_(context(cx)) {}

  /// Finds the recurrence. The error is why the loop is none.
  Status find();
  /// Adds it in the loop's place. Nothing has changed where that fails.
  Status replace();
  /// The sources of constants whose elements decided whether this is a cell.
  FixedSources& fixed_sources() { return inner_.fixed_sources; }
  const RecurrentCell& cell() const { return found_.cell; }
  bool leaves_rest() const { return rest_.has_value(); }

 private:
  PassContext context(const PassContext& cx) {
    PassContext inner{log_};
    inner.strongly_typed = cx.strongly_typed;
    inner.refittable = cx.refittable;
    inner.fold_budget_bytes = cx.fold_budget_bytes;
    inner.is_body = true;
    return inner;
  }
  const ir::Node& node() const { return graph_.node(loop_); }
  const ops::Loop& op() const { return *node().op.as<ops::Loop>(); }
  CarriedState carried(size_t k) const { return {body_->inputs()[1 + k], body_->outputs()[k].value}; }
  bool is_used(size_t output) const { return graph_.num_uses(node().outputs[output]) > 0; }

  Status check_loop() const;
  std::optional<Recognized> find_cell_of(size_t h, std::string& reason);
  Result<Recognized> find_cell();
  Status find_inputs(Recognized& found);
  bool take_products(Recognized& found);
  bool is_new_state(const Recognized& found, ValueId value) const;
  Result<RestOfLoop> find_rest();
  Status check_outputs(const Recognized& found) const;
  Status check_constants(const RecurrentCell& cell);

  Status build(std::vector<ValueId>& results);
  Status add_cell_inputs(std::vector<ValueId>& inputs);
  Status add_step_inputs(std::vector<ValueId>& inputs);
  Status add_rest(ValueId y, std::vector<ValueId>& results);
  Result<ValueId> add(Op op, std::vector<ValueId> inputs) { return graph_.add_one(std::move(op), inputs, name_); }
  Result<ValueId> with_shape(ValueId x, const Shape& shape);
  Result<ValueId> add_numbers(const Shape& values);
  Result<ValueId> whole_input(size_t term);
  Result<ValueId> joined_inputs();
  Result<ValueId> input_products();
  Result<ValueId> flipped(ValueId y);
  Result<ValueId> add_weights(ValueId made, const Extents& extents, std::string_view what);
  Result<ValueId> input_weights();
  Result<ValueId> state_weights();
  Result<ValueId> biases();
  Result<ValueId> peepholes();
  ValueId vector_or_zeros(ValueId bias);
  Shape states() const { return {1, rows_, found_.cell.hidden}; }

  ir::Graph& graph_;
  const ir::NodeId loop_;
  NullLog log_;
  PassContext inner_;
  std::string name_;
  std::unique_ptr<ir::Graph> body_;
  std::optional<SlicedInputs> slices_;
  std::unique_ptr<LinearForms> forms_;
  sym::Expr rows_ = 0;
  Recognized found_;
  PartOfLoop part_;
  std::optional<RestOfLoop> rest_;  ///< where the loop does more than the cell
};

Status Recognizer::check_loop() const {
  TRY(require(op().carried > 0, "it carries nothing"));
  TRY(require(std::ranges::all_of(node().sizes, &DecidedSize::is_inner), "its runs decide extents"));
  for (const ir::Output& output : body_->outputs())
    TRY(require(!output.name.empty(), "its body has to run for what no output gives"));
  for (int i = 0; i < body_->num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); body_->alive(id))
      TRY(require(!body_->node(id).outputs.empty(), "its body asserts something"));
  return {};
}

/// The cell whose state a carried value is, alone or with another one as the memory. `reason` gets what is different.
std::optional<Recognized> Recognizer::find_cell_of(size_t h, std::string& reason) {
  std::optional<Recognized> found;
  const auto take = [&](Result<RecurrentCell> cell, std::optional<size_t> c) {
    if (cell)
      found = Recognized{.cell = std::move(*cell), .h = h, .c = c, .inputs = {}};
    else
      reason += str(reason.empty() ? "" : "; ", cell.error().message);
    return cell.has_value();
  };
  const CarriedState state = carried(h);
  for (size_t c = 0; c < static_cast<size_t>(op().carried); ++c) {
    const CarriedState memory = carried(c);
    if (c == h || !body_->type(memory.before).same_type(body_->type(state.before))) continue;
    if (take(find_step(*forms_, state, &memory), c) || take(find_lstm_cell(*forms_, state, memory), c)) return found;
  }
  if (!take(find_step(*forms_, state, nullptr), {}) && !take(find_gru_cell(*forms_, state), {}))
    take(find_plain_cell(*forms_, state), {});
  return found;
}

/// Tries all carried values as the state. The error has all that is different.
Result<Recognized> Recognizer::find_cell() {
  std::string reason;
  const auto count = static_cast<size_t>(op().carried);
  for (size_t h = 0; h < count; ++h) {
    const TensorType type = body_->type(carried(h).before);  // a copy: forms add values to the body
    if (!is_float(type.dtype) || body_->num_uses(carried(h).before) == 0) continue;
    const bool rounds = inner_.strongly_typed && type.dtype != DType::kF32;
    if (type.dtype == DType::kF64 || rounds) {
      reason += str(reason.empty() ? "" : "; ", "a state is ", type.dtype);
      continue;
    }
    for (const sym::Expr& rows : rows_of(type)) {
      rows_ = rows;
      forms_ = std::make_unique<LinearForms>(*body_, rows_);
      auto found = find_cell_of(h, reason);
      if (!found) continue;
      const Status inputs = find_inputs(*found);
      if (inputs) return *std::move(found);
      reason += str(reason.empty() ? "" : "; ", inputs.error().message);
    }
  }
  return error(Code::kUnsupported, reason.empty() ? "it carries no state of floats" : reason);
}

/// Finds what the gates read, and whether they multiply it.
Status Recognizer::find_inputs(Recognized& found) {
  const std::vector<CellGate>& gates = found.cell.gates;
  const bool is_step = found.cell.step != ir::NodeId::kNone;
  const bool has_products = !is_step && gates[0].inputs.size() == 1 && gates[0].inputs[0].picks;
  for (const CellGate& gate : gates) {
    TRY(require(!gate.inputs.empty(), "a gate reads no input"));
    for (const LinearTerm& term : gate.inputs) {
      found.inputs.push_back(TRY(slices_->find(term.source)));
      found.inputs.back().width = volume(*forms_->features(term.source));
      TRY(require(is_step || term.picks == has_products, "it adds inputs and products of inputs"));
      TRY(require(found.inputs.back().direction == found.inputs[0].direction,
                  "it reads one input forward and one in reverse"));
    }
    TRY(require(gate.inputs.size() == gates[0].inputs.size(), "its gates read different inputs"));
  }
  found.has_products = has_products && !take_products(found);
  if (has_products || is_step) return {};
  for (const CellGate& gate : gates)
    for (const LinearTerm& term : gates[0].inputs)
      TRY(require(std::ranges::count(gate.inputs, term.source, &LinearTerm::source) == 1,
                  "its gates read different inputs"));
  return {};
}

/// Where the network multiplies the inputs by one constant matrix for the loop alone, takes that over: the matrix is
/// cut into gates while the network is built, its products only when it runs. Returns whether that is so.
bool Recognizer::take_products(Recognized& found) {
  const ValueId whole = found.inputs[0].whole;
  const bool is_for_all = std::ranges::all_of(
      found.inputs, [&](const SlicedInput& input) { return input.whole == whole && input.axis == 0; });
  if (!is_for_all || graph_.num_uses(whole) != 1) return false;
  const ir::Graph::Mark mark = graph_.mark();
  LinearForms outside(graph_, slices_->trips() * rows_);
  const auto form = outside.of(whole);
  const bool is_product = form && !form->activation && form->terms.size() == 1 && !form->terms[0].picks;
  const auto computed = [&](ValueId value) -> Result<ops::Constant> {
    return value == ValueId::kNone ? ops::Constant{} : outside.compute(value);
  };
  const auto matrix = computed(is_product ? form->terms[0].weights : ValueId::kNone);
  const auto biases = computed(is_product ? form->bias : ValueId::kNone);
  graph_.roll_back(mark);
  if (!is_product || !matrix || !biases) return false;
  const int64_t width = matrix->value.extents().back(), count = matrix->value.volume() / width;
  if (count != found.inputs[0].width) return false;
  const auto rows_at = [&](const ops::Constant& all, const Extents& extents, ValueId positions) {
    return forms_->add(ops::Gather{}, {body_->add_constant(reshaped(all, extents)), positions});
  };
  for (size_t g = 0; g < found.cell.gates.size(); ++g) {
    CellGate& gate = found.cell.gates[g];
    const ValueId positions = gate.inputs[0].weights;
    gate.inputs[0] = {found.cell.gates[0].inputs[0].source, rows_at(*matrix, {count, width}, positions), false};
    found.inputs[g].whole = form->terms[0].source;
    found.inputs[g].width = width;
    if (form->bias == ValueId::kNone) continue;
    const ValueId bias = rows_at(*biases, {count}, positions);
    gate.input_bias = gate.input_bias == ValueId::kNone
                          ? bias
                          : forms_->add(ops::ElementWise{ops::ElementWiseKind::kSum}, {gate.input_bias, bias});
  }
  return true;
}

/// Whether a value of the body is the new state. A step of a Recurrence gives it twice.
bool Recognizer::is_new_state(const Recognized& found, ValueId value) const {
  const ValueId base = forms_->without_views(value), state = forms_->without_views(carried(found.h).after);
  if (base == state || found.cell.step == ir::NodeId::kNone) return base == state;
  const ir::Value& made = body_->value(base);
  return made.producer == found.cell.step && made.output <= Recurrence::kYH;
}

Status Recognizer::check_outputs(const Recognized& found) const {
  const auto count = static_cast<size_t>(op().carried);
  for (size_t k = 0; k < node().outputs.size(); ++k) {
    if (!is_used(k) || k == found.h || k == found.c) continue;
    const ValueId result = body_->outputs()[k].value;
    TRY(require(k >= count, "it carries '", body_->value(carried(k).before).name,
                "' besides, which is read behind it"));
    TRY(require(is_new_state(found, result), "it stacks '", body_->outputs()[k].name, "', which is not its new state"));
  }
  return {};
}

/// Constants that the form depends on cannot become others.
Status Recognizer::check_constants(const RecurrentCell& cell) {
  for (const ValueId constant : cell.decided_by) {
    const OriginRef origin = body_->origin(constant);
    TRY(require(!origin || !inner_.refittable, "its form depends on a constant that may be replaced"));
    fix(inner_.fixed_sources, origin, "its elements decided a rewrite (recognize_recurrence)");
  }
  return {};
}

/// What is left of the loop behind the cell.
Result<RestOfLoop> Recognizer::find_rest() {
  const CarriedState state = carried(found_.h);
  part_ = {.result = forms_->without_views(state.after), .direction = found_.inputs[0].direction, .outputs = {}};
  for (size_t k = 0; k < node().outputs.size(); ++k) {
    const bool is_stacked = k >= static_cast<size_t>(op().carried);
    const bool is_state = is_stacked && is_new_state(found_, body_->outputs()[k].value);
    if (k == found_.h || k == found_.c || is_state || (is_stacked && !is_used(k))) part_.outputs.push_back(k);
  }
  return rest_of_loop(op(), *body_, part_);
}

Status Recognizer::find() {
  name_ = node().name;
  TRY(SlicedInputs::of(graph_, loop_, *node().bodies[0]));  // most loops end here, and need no copy
  body_ = std::make_unique<ir::Graph>(TRY(simple_body(graph_, loop_, inner_)));
  TRY(check_loop());
  slices_.emplace(TRY(SlicedInputs::of(graph_, loop_, *body_)));
  found_ = TRY(find_cell());
  TRY(require(found_.cell.hidden <= kMostHidden, "it has ", found_.cell.hidden, " hidden units; kernels take ",
              kMostHidden));
  if (Status whole = check_outputs(found_); !whole) {
    auto rest = find_rest();
    if (!rest) return error(Code::kUnsupported, whole.error().message, "; ", rest.error().message);
    rest_ = std::move(*rest);
  }
  return check_constants(found_.cell);
}

Result<ValueId> Recognizer::add_numbers(const Shape& values) {
  return add(ops::DimValues{values, DType::kI64, {std::ssize(values)}}, {});
}

Result<ValueId> Recognizer::with_shape(ValueId x, const Shape& shape) {
  if (graph_.type(x).shape == shape) return x;
  ops::Reshape reshape{.dims = {}, .zero_is_placeholder = false};
  if (!std::ranges::all_of(shape, [](const sym::Expr& extent) { return extent.is_const(); }))
    return add(reshape, {x, TRY(add_numbers(shape))});
  for (const sym::Expr& extent : shape) reshape.dims.push_back(extent.value());
  return add(std::move(reshape), {x});
}

/// The input of a term, [time, rows, width].
Result<ValueId> Recognizer::whole_input(size_t term) {
  const SlicedInput& input = found_.inputs[term];
  ValueId x = input.whole;
  if (input.axis > 0) x = TRY(add(ops::Transpose{axis_to_front(graph_.type(x).rank(), input.axis)}, {x}));
  return with_shape(x, {slices_->trips(), rows_, input.width});
}

/// All inputs side by side.
Result<ValueId> Recognizer::joined_inputs() {
  std::vector<ValueId> all;
  for (size_t k = 0; k < found_.cell.gates[0].inputs.size(); ++k) all.push_back(TRY(whole_input(k)));
  return all.size() == 1 ? Result<ValueId>(all[0]) : add(ops::Concatenation{.axis = 2}, std::move(all));
}

/// The products of all gates side by side, which the network makes outside of the loop.
Result<ValueId> Recognizer::input_products() {
  const int64_t hidden = found_.cell.hidden;
  std::vector<ValueId> parts;
  bool is_whole = true;
  for (size_t g = 0; g < found_.cell.gates.size(); ++g) {
    const LinearTerm& term = found_.cell.gates[g].inputs[0];
    const HostTensor positions = TRY(forms_->compute(term.weights)).value;
    const std::vector<int64_t> at = View(positions).integers();
    for (size_t i = 0; i < at.size(); ++i)
      TRY(require(at[i] == at[0] + static_cast<int64_t>(i), "a gate reads scattered elements of its input"));
    is_whole &= term.source == found_.cell.gates[0].inputs[0].source && at[0] == static_cast<int64_t>(g) * hidden;
    const ops::Slice slice{.starts = {at[0]}, .sizes = {hidden}, .strides = {1}, .axes = {2}};
    parts.push_back(TRY(add(slice, {TRY(whole_input(g))})));
  }
  const ValueId first = TRY(whole_input(0));
  const int64_t all = hidden * static_cast<int64_t>(parts.size());
  if (is_whole && graph_.type(first).shape[2] == sym::Expr(all)) return first;
  return parts.size() == 1 ? Result<ValueId>(parts[0]) : add(ops::Concatenation{.axis = 2}, std::move(parts));
}

/// Adds a constant to the graph: the elements of `made`, which the copy of the body computes of constants.
Result<ValueId> Recognizer::add_weights(ValueId made, const Extents& extents, std::string_view what) {
  const ops::Reshape reshape{.dims = {extents.begin(), extents.end()}, .zero_is_placeholder = false};
  const ValueId shaped = forms_->add(reshape, {made});
  if (shaped == ValueId::kNone) return error(Code::kInternal, "its ", what, " have wrong extents");
  return graph_.add_constant(TRY(forms_->compute(shaped)), str(name_, ' ', what));
}

Result<ValueId> Recognizer::input_weights() {
  const int64_t hidden = found_.cell.hidden;
  std::vector<ValueId> gates;
  int64_t width = 0;
  for (const CellGate& gate : found_.cell.gates) {
    std::vector<ValueId> columns;
    width = 0;
    for (const LinearTerm& first : found_.cell.gates[0].inputs) {
      const LinearTerm& term = *std::ranges::find(gate.inputs, first.source, &LinearTerm::source);
      const int64_t own = body_->type(term.weights).volume().value() / hidden;
      columns.push_back(forms_->add(ops::Reshape{.dims = {hidden, own}, .zero_is_placeholder = false}, {term.weights}));
      width += own;
    }
    gates.push_back(forms_->add(ops::Concatenation{.axis = 1}, columns));
  }
  const int64_t rows = hidden * std::ssize(gates);
  return add_weights(forms_->add(ops::Concatenation{.axis = 0}, gates), {1, rows, width}, "input weights");
}

Result<ValueId> Recognizer::state_weights() {
  const int64_t hidden = found_.cell.hidden;
  std::vector<ValueId> gates;
  for (const CellGate& gate : found_.cell.gates)
    gates.push_back(forms_->add(ops::Reshape{.dims = {hidden, hidden}, .zero_is_placeholder = false}, {gate.r}));
  const int64_t rows = hidden * std::ssize(gates);
  return add_weights(forms_->add(ops::Concatenation{.axis = 0}, gates), {1, rows, hidden}, "state weights");
}

ValueId Recognizer::vector_or_zeros(ValueId bias) {
  const int64_t hidden = found_.cell.hidden;
  if (bias != ValueId::kNone) return forms_->add(ops::Reshape{.dims = {hidden}, .zero_is_placeholder = false}, {bias});
  const std::vector<double> zeros(static_cast<size_t>(hidden), 0);
  return body_->add_constant(HostTensor::of(body_->type(found_.cell.gates[0].r).dtype, {hidden}, zeros));
}

/// kNone where no gate has any.
Result<ValueId> Recognizer::biases() {
  std::vector<ValueId> all;
  bool has_any = false;
  for (const CellGate& gate : found_.cell.gates) {
    all.push_back(vector_or_zeros(gate.input_bias));
    has_any |= gate.input_bias != ValueId::kNone || gate.state_bias != ValueId::kNone;
  }
  for (const CellGate& gate : found_.cell.gates) all.push_back(vector_or_zeros(gate.state_bias));
  if (!has_any) return ValueId::kNone;
  const int64_t count = found_.cell.hidden * std::ssize(all);
  return add_weights(forms_->add(ops::Concatenation{.axis = 0}, all), {1, count}, "biases");
}

/// The peephole weights of the gates i, o and v, one behind the other; kNone where no gate has any.
Result<ValueId> Recognizer::peepholes() {
  const std::span<const CellGate> gates = found_.cell.gates;
  const auto has = [](const CellGate& gate) { return gate.peephole != ValueId::kNone; };
  if (std::ranges::none_of(gates, has)) return ValueId::kNone;
  std::vector<ValueId> all;
  for (const CellGate& gate : gates.first(3)) all.push_back(vector_or_zeros(gate.peephole));
  return add_weights(forms_->add(ops::Concatenation{.axis = 0}, all), {1, 3 * found_.cell.hidden}, "peepholes");
}

/// y with the last time step first.
Result<ValueId> Recognizer::flipped(ValueId y) {
  const sym::Expr time = slices_->trips();
  return add(ops::Slice{.starts = {}, .sizes = {}, .strides = {-1}, .axes = {0}},
             {y, TRY(add_numbers({time - 1})), TRY(add_numbers({time}))});
}

/// x, and the weights of the gates.
Status Recognizer::add_cell_inputs(std::vector<ValueId>& inputs) {
  inputs[Recurrence::kX] = found_.has_products ? TRY(input_products()) : TRY(joined_inputs());
  if (!found_.has_products) inputs[Recurrence::kW] = TRY(input_weights());
  inputs[Recurrence::kR] = TRY(state_weights());
  inputs[Recurrence::kB] = TRY(biases());
  inputs[Recurrence::kP] = TRY(peepholes());
  return {};
}

/// x, and the weights of the node that is one step.
Status Recognizer::add_step_inputs(std::vector<ValueId>& inputs) {
  inputs[Recurrence::kX] = TRY(joined_inputs());
  const ir::Node& step = body_->node(found_.cell.step);
  for (const int i : {Recurrence::kW, Recurrence::kR, Recurrence::kB, Recurrence::kP}) {
    const auto at = static_cast<size_t>(i);
    if (step.input(at) == ValueId::kNone) continue;
    inputs[at] =
        graph_.add_constant(*body_->producer_as<ops::Constant>(step.inputs[at]), body_->value(step.inputs[at]).name);
  }
  return {};
}

/// Adds what is left of the loop, which reads the new states one after the other.
Status Recognizer::add_rest(ValueId y, std::vector<ValueId>& results) {
  Shape all{slices_->trips()};
  const Shape slice = body_->type(part_.result).shape;
  all.insert(all.end(), slice.begin(), slice.end());
  const ValueId states = TRY(with_shape(y, all));
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < node().inputs.size(); ++i) {
    if (static_cast<int>(i) == op().first_captured()) inputs.push_back(states);
    const bool is_carried = i >= ops::Loop::kFirstCarried && static_cast<int>(i) < op().first_scanned();
    if (!is_carried || std::ranges::count(part_.outputs, i - ops::Loop::kFirstCarried) == 0)
      inputs.push_back(node().inputs[i]);
  }
  if (static_cast<int>(node().inputs.size()) == op().first_captured()) inputs.push_back(states);
  const std::vector<ValueId> outputs = TRY(graph_.add(rest_->op, inputs, name_, {rest_->body}));
  for (size_t k = 0, next = 0; k < results.size(); ++k)
    if (std::ranges::count(part_.outputs, k) == 0) results[k] = outputs[next++];
  return {};
}

/// `results` get what takes the place of the loop's outputs; kNone where nothing reads one.
Status Recognizer::build(std::vector<ValueId>& results) {
  Recurrence recurrence = found_.cell.op;
  const int direction = found_.inputs[0].direction;
  recurrence.direction = direction < 0 ? ops::RecurrenceDirection::kReverse : ops::RecurrenceDirection::kForward;
  recurrence.layout = ops::RecurrenceLayout::kTimeMajor;
  std::vector<ValueId> inputs(Recurrence::kP + 1, ValueId::kNone);
  TRY(found_.cell.step == ir::NodeId::kNone ? add_cell_inputs(inputs) : add_step_inputs(inputs));
  const auto first = [&](size_t k) { return node().inputs[static_cast<size_t>(ops::Loop::kFirstCarried) + k]; };
  inputs[Recurrence::kInitialH] = TRY(with_shape(first(found_.h), states()));
  if (found_.c) inputs[Recurrence::kInitialC] = TRY(with_shape(first(*found_.c), states()));
  while (inputs.back() == ValueId::kNone) inputs.pop_back();
  const std::vector<ValueId> outputs = TRY(graph_.add(recurrence, inputs, name_));
  const auto carried = static_cast<size_t>(op().carried);
  results.assign(node().outputs.size(), ValueId::kNone);
  if (rest_) TRY(add_rest(outputs[Recurrence::kY], results));
  for (size_t k = 0; k < results.size(); ++k) {
    if (!is_used(k) || (rest_ && std::ranges::count(part_.outputs, k) == 0)) continue;
    ValueId y = outputs[k == found_.h ? Recurrence::kYH : k == found_.c ? Recurrence::kYC : Recurrence::kY];
    if (k >= carried && op().stacks[k - carried] != direction) y = TRY(flipped(y));
    results[k] = TRY(with_shape(y, Shape(graph_.type(node().outputs[k]).shape)));
  }
  return {};
}

Status Recognizer::replace() {
  const ir::Graph::Mark mark = graph_.mark();
  std::vector<ValueId> results;
  Status built = build(results);
  if (built && graph_.mark().num_assumptions > mark.num_assumptions)
    built = error(Code::kUnsupported, "its extents fit only if an assumption about shapes holds");
  if (!built) {
    graph_.roll_back(mark);
    return built;
  }
  const std::vector<std::string> provenance = node().provenance;
  for (auto i = static_cast<int>(mark.num_nodes); i < graph_.num_nodes(); ++i)
    graph_.set_provenance(static_cast<ir::NodeId>(i), provenance);
  const std::vector<ValueId> outputs = node().outputs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (results[k] == ValueId::kNone) continue;
    graph_.set_name(results[k], graph_.value(outputs[k]).name);
    graph_.replace_uses(outputs[k], results[k]);
  }
  graph_.remove(loop_);
  return {};
}

/// Whether a loop's body has what cells have: a state, a product and an activation.
bool looks_like_cell(const ir::Node& node) {
  const auto* loop = node.op.as<ops::Loop>();
  if (!loop || loop->carried == 0 || node.bodies.empty() || node.bodies[0]->num_nodes() > kMostNodes) return false;
  const ir::Graph& body = *node.bodies[0];
  bool has_product = false, has_activation = false, has_step = false;
  for (int i = 0; i < body.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!body.alive(id)) continue;
    const Op& op = body.node(id).op;
    if (!body.node(id).bodies.empty()) return false;
    has_product |= op.as<ops::MatrixMultiply>() || op.as<ops::Einsum>();
    has_activation |= op.as<ops::Activation>() != nullptr;
    has_step |= op.as<Recurrence>() != nullptr;
  }
  return (has_product && has_activation) || has_step;
}

}  // namespace

Status recognize_recurrence(ir::Graph& graph, PassContext& cx) {
  for (int i = 0; i < graph.num_nodes(); ++i) {  // what is left of a loop is a new one
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || !looks_like_cell(graph.node(id))) continue;
    const std::string name = graph.node(id).name;
    Recognizer recognizer(graph, id, cx);
    Status done = recognizer.find();
    if (done) done = recognizer.replace();
    if (!done) {
      cx.log.verbose("loop '", name, "' stays a loop: ", done.error().message);
      continue;
    }
    cx.fixed_sources.merge(recognizer.fixed_sources());
    cx.log.verbose("loop '", name,
                   recognizer.leaves_rest() ? "' gives away a recurrence: " : "' becomes a recurrence: ",
                   recognizer.cell().op.cell, " of ", recognizer.cell().hidden, " hidden units");
  }
  return graph.infer();
}

}  // namespace kiln::passes
