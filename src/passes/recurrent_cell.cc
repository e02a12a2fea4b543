#include "passes/recurrent_cell.h"

#include <algorithm>
#include <array>

#include "ir/pattern.h"
#include "ops/unary.h"

namespace kiln::passes {
namespace {

using ir::ValueId;
using ops::ElementWiseKind;
using ops::GateActivation;
using ops::GateFunction;

using Pair = std::pair<ValueId, ValueId>;

/// Both orders of two operands.
std::array<Pair, 2> orders(const Pair& pair) { return {pair, Pair(pair.second, pair.first)}; }

/// The gate function that an activation is; nothing where no gate function is the same.
std::optional<GateActivation> gate_activation(const ops::Activation& a) {
  using enum ops::ActivationKind;
  switch (a.kind) {
    case kSigmoid: return GateActivation{GateFunction::kSigmoid};
    case kTanh: return GateActivation{GateFunction::kTanh};
    case kRelu: return GateActivation{GateFunction::kRelu};
    case kLeakyRelu: return GateActivation{GateFunction::kLeakyRelu, a.alpha};
    case kElu: return GateActivation{GateFunction::kElu, a.alpha};
    case kSoftsign: return GateActivation{GateFunction::kSoftsign};
    case kSoftplus:
      return a.alpha == 1 && a.beta == 1 ? std::optional(GateActivation{GateFunction::kSoftplus}) : std::nullopt;
    case kHardSigmoid: return GateActivation{GateFunction::kHardSigmoid, a.alpha, a.beta};
    case kScaledTanh: return GateActivation{GateFunction::kScaledTanh, a.alpha, a.beta};
    case kThresholdedRelu: return GateActivation{GateFunction::kThresholdedRelu, a.alpha};
    default: return std::nullopt;
  }
}

/// A gate as it is found: its activation, and the sum that is the activation's argument.
struct Gate {
  GateActivation activation;
  LinearForm form;
};

class CellFinder {
 public:
  CellFinder(LinearForms& forms, const CarriedState& h) : forms_(forms), h_(h.before), after_(h.after) {
    if (const auto features = forms.features(h.before)) hidden_ = volume(*features);
  }

  Result<RecurrentCell> plain();
  Result<RecurrentCell> gru();
  Result<RecurrentCell> lstm(const CarriedState& c);

 private:
  bool is(ValueId value, ValueId what) const { return forms_.without_views(value) == forms_.without_views(what); }
  bool is_number(ValueId value, double number) const { return ir::uniform_constant(forms_.body(), value) == number; }
  std::optional<Gate> gate(ValueId value);
  std::optional<GateActivation> activation_of(ValueId value, ValueId argument) const;
  std::optional<ValueId> less_than_one(ValueId value, RecurrentCell& cell) const;
  Result<CellGate> parts(const LinearForm& form, ValueId memory = ValueId::kNone);
  ValueId factor_of(const LinearTerm& term, ValueId memory);
  Status add_gates(RecurrentCell& cell, std::initializer_list<const LinearForm*> gates);

  /// h' = (1 - z) * n + z * h; or with z and 1 - z in the other's places.
  struct Mixture {
    ValueId z, n;
    bool is_swapped;
  };
  std::optional<Mixture> mixture(RecurrentCell& cell) const;
  std::optional<Mixture> mixture_of_products(RecurrentCell& cell) const;
  std::optional<Mixture> mixture_of_difference() const;
  Status add_new_gate(RecurrentCell& cell, const Gate& n);

  LinearForms& forms_;
  const ValueId h_, after_;
  int64_t hidden_ = 0;
};

std::optional<Gate> CellFinder::gate(ValueId value) {
  auto form = forms_.of(value);
  if (!form || !form->activation) return std::nullopt;
  const auto activation = gate_activation(*form->activation);
  return activation ? std::optional(Gate{*activation, std::move(*form)}) : std::nullopt;
}

/// The activation that makes `value` of `argument`.
std::optional<GateActivation> CellFinder::activation_of(ValueId value, ValueId argument) const {
  const ir::NodeId producer = forms_.body().value(forms_.without_views(value)).producer;
  if (producer == ir::NodeId::kNone) return std::nullopt;
  const ir::Node& node = forms_.body().node(producer);
  const auto* activation = node.op.as<ops::Activation>();
  return activation && is(node.inputs[0], argument) ? gate_activation(*activation) : std::nullopt;
}

/// Returns z where `value` is 1 - z.
std::optional<ValueId> CellFinder::less_than_one(ValueId value, RecurrentCell& cell) const {
  if (const auto difference = forms_.operands(value, ElementWiseKind::kSub)) {
    if (!is_number(difference->first, 1)) return std::nullopt;
    cell.decided_by.push_back(difference->first);
    return forms_.without_views(difference->second);
  }
  const auto sum = forms_.operands(value, ElementWiseKind::kSum);
  if (!sum) return std::nullopt;
  for (const auto& [one, rest] : orders(*sum)) {
    if (!is_number(one, 1)) continue;
    const ValueId base = forms_.without_views(rest);
    const ir::NodeId producer = forms_.body().value(base).producer;
    const auto* unary = producer == ir::NodeId::kNone ? nullptr : forms_.body().node(producer).op.as<ops::Unary>();
    if (!unary || unary->kind != ops::UnaryKind::kNeg) continue;
    cell.decided_by.push_back(one);
    return forms_.without_views(forms_.body().node(producer).inputs[0]);
  }
  return std::nullopt;
}

/// Returns p where a term is p * memory and p is constant; kNone for any other term.
ValueId CellFinder::factor_of(const LinearTerm& term, ValueId memory) {
  const auto product = memory == ValueId::kNone ? std::nullopt : forms_.operands(term.source, ElementWiseKind::kProd);
  if (!product || !forms_.is_whole(term)) return ValueId::kNone;
  for (const auto& [factor, other] : orders(*product))
    if (forms_.body().constant(factor) && is(other, memory)) return forms_.as_features(factor, term.source);
  return ValueId::kNone;
}

/// The product with the state, and what else a gate adds up. `memory` is the one that peepholes see.
Result<CellGate> CellFinder::parts(const LinearForm& form, ValueId memory) {
  CellGate result{.inputs = {}, .input_bias = form.bias};
  for (const LinearTerm& term : form.terms) {
    if (const ValueId factor = factor_of(term, memory); factor != ValueId::kNone) {
      TRY(require(result.peephole == ValueId::kNone, "a gate has two peepholes"));
      result.peephole = factor;
      continue;
    }
    if (term.source != forms_.without_views(h_)) {
      result.inputs.push_back(term);
      continue;
    }
    TRY(require(!term.picks, "a gate adds the state without a product"));
    result.r = term.weights;
  }
  TRY(require(result.r != ValueId::kNone, "a gate has no product with the state"));
  return result;
}

Status CellFinder::add_gates(RecurrentCell& cell, std::initializer_list<const LinearForm*> gates) {
  for (const LinearForm* form : gates) cell.gates.push_back(TRY(parts(*form)));
  cell.hidden = hidden_;
  return {};
}

Result<RecurrentCell> CellFinder::plain() {
  RecurrentCell cell{.op = {.cell = ops::RecurrenceCell::kRnn}};
  const auto f = gate(after_);
  TRY(require(f.has_value(), "h is no activation of a sum"));
  cell.op.activations = {f->activation};
  TRY(add_gates(cell, {&f->form}));
  return cell;
}

Result<RecurrentCell> CellFinder::lstm(const CarriedState& c) {
  RecurrentCell cell{.op = {.cell = ops::RecurrenceCell::kLstm}};
  std::optional<Gate> i, o, v, g;
  std::optional<GateActivation> k;
  if (const auto product = forms_.operands(after_, ElementWiseKind::kProd))
    for (const auto& [gated, squashed] : orders(*product)) {
      k = activation_of(squashed, c.after);
      if (k) o = gate(gated);
      if (o) break;
    }
  TRY(require(o.has_value(), "h is not o * k(c)"));
  const auto sum = forms_.operands(c.after, ElementWiseKind::kSum);
  TRY(require(sum.has_value(), "c is no sum of two products"));
  for (const auto& [kept, fresh] : orders(*sum)) {
    const auto kept_product = forms_.operands(kept, ElementWiseKind::kProd);
    const auto fresh_product = forms_.operands(fresh, ElementWiseKind::kProd);
    if (!kept_product || !fresh_product) continue;
    for (const auto& [gated, state] : orders(*kept_product))
      if (is(state, c.before)) v = gate(gated);
    if (!v) continue;
    for (const auto& [first, second] : orders(*fresh_product)) {
      i = gate(first), g = gate(second);
      if (i && g && i->activation == o->activation) break;
      i.reset();
    }
    break;
  }
  TRY(require(v.has_value(), "c is not v * c + i * g: no product has c"));
  TRY(require(i && g, "c is not v * c + i * g: i and g are no activations of sums"));
  TRY(require(i->activation == o->activation && v->activation == o->activation,
              "the gates i, o and v have different activations"));
  cell.op.activations = {o->activation, g->activation, *k};
  cell.hidden = hidden_;
  cell.gates.push_back(TRY(parts(i->form, c.before)));
  cell.gates.push_back(TRY(parts(o->form, c.after)));
  cell.gates.push_back(TRY(parts(v->form, c.before)));
  cell.gates.push_back(TRY(parts(g->form)));
  return cell;
}

std::optional<CellFinder::Mixture> CellFinder::mixture_of_products(RecurrentCell& cell) const {
  const auto sum = forms_.operands(after_, ElementWiseKind::kSum);
  if (!sum) return std::nullopt;
  for (const auto& [kept, fresh] : orders(*sum)) {
    const auto kept_product = forms_.operands(kept, ElementWiseKind::kProd);
    const auto fresh_product = forms_.operands(fresh, ElementWiseKind::kProd);
    if (!kept_product || !fresh_product) continue;
    for (const auto& [a, state] : orders(*kept_product)) {
      if (!is(state, h_)) continue;
      for (const auto& [b, n] : orders(*fresh_product)) {
        if (const auto z = less_than_one(b, cell); z && is(*z, a)) return Mixture{a, n, false};
        if (const auto z = less_than_one(a, cell); z && is(*z, b)) return Mixture{b, n, true};
      }
    }
  }
  return std::nullopt;
}

/// n + z * (h - n), n - z * (n - h), and these with h and n in each other's places.
std::optional<CellFinder::Mixture> CellFinder::mixture_of_difference() const {
  for (const ElementWiseKind kind : {ElementWiseKind::kSum, ElementWiseKind::kSub}) {
    const auto outer = forms_.operands(after_, kind);
    if (!outer) continue;
    const bool subtracts = kind == ElementWiseKind::kSub;
    for (const auto& [from, step] : orders(*outer)) {
      const auto product = forms_.operands(step, ElementWiseKind::kProd);
      for (const auto& [z, way] : product ? orders(*product) : std::array<Pair, 2>{}) {
        const auto difference =
            way == ValueId::kNone || !product ? std::nullopt : forms_.operands(way, ElementWiseKind::kSub);
        if (!difference) continue;
        const auto [to, start] = subtracts ? Pair(difference->second, difference->first) : *difference;
        if (!is(start, from)) continue;
        if (is(to, h_)) return Mixture{z, from, false};
        if (is(from, h_)) return Mixture{z, to, true};
      }
      if (subtracts) break;  // its operands have their places
    }
  }
  return std::nullopt;
}

std::optional<CellFinder::Mixture> CellFinder::mixture(RecurrentCell& cell) const {
  const auto products = mixture_of_products(cell);
  return products ? products : mixture_of_difference();
}

/// n = g(a_n + R (r * h) + rb), or g(a_n + r * (R h + rb)).
Status CellFinder::add_new_gate(RecurrentCell& cell, const Gate& n) {
  LinearForm arguments = n.form;
  for (auto term = arguments.terms.begin(); term != arguments.terms.end(); ++term) {
    const auto product = forms_.operands(term->source, ElementWiseKind::kProd);
    if (!product) continue;
    for (const auto& [reset, other] : orders(*product)) {
      const auto r = gate(reset);
      const bool before = is(other, h_);
      const auto state = before ? std::nullopt : forms_.of(other);
      if (!r || (!before && (!state || state->activation))) continue;
      const LinearTerm found = *term;
      arguments.terms.erase(term);
      TRY(require(before ? !found.picks : forms_.is_whole(found),
                  "the reset gate multiplies something else than the state or its product"));
      CellGate last{.inputs = arguments.terms, .input_bias = arguments.bias};
      if (before) {
        last.r = found.weights;
      } else {
        const CellGate inner = TRY(parts(*state));
        TRY(require(inner.inputs.empty(), "the reset gate multiplies more than a product of the state"));
        last.r = inner.r, last.state_bias = inner.input_bias;
      }
      TRY(require(r->activation == cell.op.activations[0], "the gates z and r have different activations"));
      cell.op.linear_before_reset = !before;
      TRY(add_gates(cell, {&r->form}));
      cell.gates.push_back(std::move(last));
      return {};
    }
  }
  return require(false, "n has no product with a reset gate");
}

Result<RecurrentCell> CellFinder::gru() {
  RecurrentCell cell{.op = {.cell = ops::RecurrenceCell::kGru}};
  const auto mixed = mixture(cell);
  TRY(require(mixed.has_value(), "h is not (1 - z) * n + z * h"));
  auto z = gate(mixed->z);
  const auto n = gate(mixed->n);
  TRY(require(z && n, "z and n are no activations of sums"));
  cell.op.activations = {z->activation, n->activation};
  if (mixed->is_swapped) {  // 1 - sigmoid(a) is sigmoid(-a)
    TRY(require(z->activation == GateActivation{GateFunction::kSigmoid}, "1 - z is of no sigmoid"));
    auto turned = forms_.negated(std::move(z->form));
    TRY(require(turned.has_value(), "z adds a value without a product, and 1 - z is needed"));
    z->form = std::move(*turned);
  }
  TRY(add_gates(cell, {&z->form}));
  TRY(add_new_gate(cell, *n));
  return cell;
}

/// Whether a value is the new state that one step of a Recurrence gives.
bool is_made_by(const ir::Graph& body, ValueId value, ir::NodeId step, int output) {
  const ir::Value& made = body.value(value);
  const bool is_y = output == ops::Recurrence::kYH && made.output == ops::Recurrence::kY;
  return made.producer == step && (made.output == output || is_y);
}

}  // namespace

Result<RecurrentCell> find_step(LinearForms& forms, const CarriedState& h, const CarriedState* c) {
  using ops::Recurrence;
  const ir::Graph& body = forms.body();
  const ir::NodeId id = body.value(forms.without_views(h.after)).producer;
  const auto* op = id == ir::NodeId::kNone ? nullptr : body.node(id).op.as<Recurrence>();
  TRY(require(op != nullptr, "no step: h is not made by a recurrence"));
  const ir::Node& node = body.node(id);
  const auto is = [&](ValueId value, ValueId what) {
    return value != ValueId::kNone && forms.without_views(value) == forms.without_views(what);
  };
  const bool is_lstm = op->cell == ops::RecurrenceCell::kLstm;
  TRY(require(
      op->num_directions() == 1 && node.input(Recurrence::kSequenceLens) == ValueId::kNone && is_lstm == (c != nullptr),
      "no step: its recurrence has more than one state in one direction"));
  const Shape& x = body.type(node.inputs[Recurrence::kX]).shape;
  TRY(require(x[op->is_batch_major() ? 1 : 0] == sym::Expr(1), "no step: its recurrence has more than one time step"));
  TRY(require(is(node.input(Recurrence::kInitialH), h.before) &&
                  is_made_by(body, forms.without_views(h.after), id, Recurrence::kYH),
              "no step: its recurrence does not carry h"));
  TRY(require(!c || (is(node.input(Recurrence::kInitialC), c->before) &&
                     is_made_by(body, forms.without_views(c->after), id, Recurrence::kYC)),
              "no step: its recurrence does not carry c"));
  for (const int i : {Recurrence::kW, Recurrence::kR, Recurrence::kB, Recurrence::kP})
    if (const ValueId weights = node.input(static_cast<size_t>(i)); weights != ValueId::kNone)
      TRY(require(body.constant(weights) != nullptr, "no step: its recurrence's weights are computed"));
  const auto form = forms.of(node.inputs[Recurrence::kX]);
  TRY(require(form && !form->activation && form->bias == ValueId::kNone && form->terms.size() == 1 &&
                  forms.is_whole(form->terms[0]),
              "no step: its recurrence's input is computed"));
  RecurrentCell cell{.op = *op, .gates = {CellGate{.inputs = form->terms}}, .step = id};
  cell.hidden = body.type(node.inputs[Recurrence::kR]).shape[2].value();
  return cell;
}

Result<RecurrentCell> find_plain_cell(LinearForms& forms, const CarriedState& h) {
  return in_context(CellFinder(forms, h).plain(), [] { return "no plain cell"; });
}
Result<RecurrentCell> find_gru_cell(LinearForms& forms, const CarriedState& h) {
  return in_context(CellFinder(forms, h).gru(), [] { return "no GRU"; });
}
Result<RecurrentCell> find_lstm_cell(LinearForms& forms, const CarriedState& h, const CarriedState& c) {
  return in_context(CellFinder(forms, h).lstm(c), [] { return "no LSTM"; });
}

}  // namespace kiln::passes
