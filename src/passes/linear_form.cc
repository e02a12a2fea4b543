#include "passes/linear_form.h"

#include <algorithm>
#include <numeric>

#include "ops/concatenation.h"
#include "ops/expand.h"
#include "ops/fold.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "passes/slice_spec_of.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::ValueId;
using ops::ElementWiseKind;

constexpr int kDeepest = 64;  // nodes above each other in one form

bool is_view(const Op& op) {
  return op.as<ops::Identity>() || op.as<ops::Reshape>() || op.as<ops::Squeeze>() || op.as<ops::Unsqueeze>();
}

ops::Reshape reshape_op(Extents extents) {
  return {.dims = std::vector<int64_t>(extents.begin(), extents.end()), .zero_is_placeholder = false};
}

Extents with_width(Extents features, int64_t width) {
  features.push_back(width);
  return features;
}

/// An op on the features of a value, as an op on weights whose axes are these features. Nothing where it does more.
std::optional<Op> on_features(const ir::Graph& graph, ir::NodeId id, size_t num_rows_axes, size_t num_features) {
  const ir::Node& node = graph.node(id);
  const auto lead = static_cast<int64_t>(num_rows_axes);
  if (const auto* transpose = node.op.as<ops::Transpose>()) {
    ops::Transpose result;
    for (size_t i = 0; i < transpose->perm.size(); ++i) {
      const int64_t from = transpose->perm[i];
      if (i < num_rows_axes ? from != static_cast<int64_t>(i) : from < lead) return std::nullopt;
      if (i >= num_rows_axes) result.perm.push_back(from - lead);
    }
    return result;
  }
  if (const auto* gather = node.op.as<ops::Gather>()) {
    const int rank = graph.type(node.inputs[0]).rank(), axis = gather->axis < 0 ? gather->axis + rank : gather->axis;
    if (gather->mode != GatherMode::kDefault || gather->num_elementwise_dims != 0 || axis < lead) return std::nullopt;
    return ops::Gather{.axis = axis - static_cast<int>(lead)};
  }
  const auto* slice = node.op.as<ops::Slice>();
  const auto spec = slice && slice->mode == SliceMode::kStrictBounds ? slice_spec_of(graph, id) : std::nullopt;
  if (!spec) return std::nullopt;
  ops::Slice result;
  for (size_t i = 0; i < num_rows_axes + num_features; ++i) {
    const sym::Expr start = spec->starts[i], size = spec->sizes[i], stride = spec->strides[i];
    const bool whole = start == sym::Expr(0) && stride == sym::Expr(1) &&
                       sym::provably_equal(size, graph.type(node.inputs[0]).shape[i]);
    if (i < num_rows_axes && !whole) return std::nullopt;
    if (i < num_rows_axes || whole) continue;
    if (!start.is_const() || !size.is_const() || !stride.is_const()) return std::nullopt;
    result.axes.push_back(static_cast<int64_t>(i) - lead);
    result.starts.push_back(start.value()), result.sizes.push_back(size.value());
    result.strides.push_back(stride.value());
  }
  return result.axes.empty() ? std::optional<Op>(ops::Identity{}) : std::optional<Op>(std::move(result));
}

/// The same op where there is one axis more behind the features.
Op with_last_axis(Op op, size_t num_features) {
  auto* transpose = op.as<ops::Transpose>();
  if (!transpose) return op;
  ops::Transpose result = *transpose;
  result.perm.push_back(static_cast<int64_t>(num_features));
  return result;
}

}  // namespace

std::optional<Extents> LinearForms::features(ValueId value) const {
  const TensorType& type = body_.type(value);
  Extents result;
  int64_t count = 1;
  for (size_t axis = type.shape.size(); axis-- > 0;) {
    const auto extent = type.shape[axis].constant();
    if (!extent || *extent < 1 || *extent > (int64_t{1} << 31) / count) return std::nullopt;
    result.insert(result.begin(), *extent);
    count *= *extent;
    if (sym::provably_equal(type.volume(), rows_ * count)) return result;
  }
  return std::nullopt;
}

ValueId LinearForms::without_views(ValueId value) const {
  while (body_.value(value).producer != ir::NodeId::kNone && is_view(maker(value).op)) value = maker(value).inputs[0];
  return value;
}

/// Whether an elementwise op has no operand that it repeats, constants aside.
bool LinearForms::repeats_nothing(ValueId value) const {
  return std::ranges::all_of(maker(value).inputs, [&](ValueId input) {
    return body_.constant(input) || sym::provably_equal(body_.type(input).volume(), body_.type(value).volume());
  });
}

std::optional<std::pair<ValueId, ValueId>> LinearForms::operands(ValueId value, ElementWiseKind kind) const {
  value = without_views(value);
  const auto* op =
      body_.value(value).producer == ir::NodeId::kNone ? nullptr : body_.producer_as<ops::ElementWise>(value);
  if (!op || op->kind != kind || !repeats_nothing(value)) return std::nullopt;
  return std::pair(maker(value).inputs[0], maker(value).inputs[1]);
}

ValueId LinearForms::add(Op op, std::span<const ValueId> inputs) {
  if (std::ranges::count(inputs, ValueId::kNone) > 0) return ValueId::kNone;
  const auto made = body_.add_one(std::move(op), inputs);
  return made ? *made : ValueId::kNone;
}

Result<ops::Constant> LinearForms::compute(ValueId value) {
  if (const auto* constant = body_.producer_as<ops::Constant>(value)) return *constant;
  if (const auto known = computed_.find(value); known != computed_.end()) return known->second;
  const ir::Node& node = maker(value);
  std::vector<ops::Constant> inputs;
  for (const ValueId input : node.inputs)
    inputs.push_back(input == ValueId::kNone ? ops::Constant{} : TRY(compute(input)));
  std::vector<const ops::Constant*> given;
  for (size_t i = 0; i < inputs.size(); ++i) given.push_back(node.inputs[i] == ValueId::kNone ? nullptr : &inputs[i]);
  const auto output = static_cast<size_t>(body_.value(value).output);
  return computed_[value] = TRY(fold(node.op, given))[output];
}

std::optional<LinearForm> LinearForms::of(ValueId value) {
  if (const auto known = found_.find(value); known != found_.end()) return known->second;
  std::optional<LinearForm> form;
  if (depth_ < kDeepest && body_.value(value).producer != ir::NodeId::kNone && features(value)) {
    ++depth_;
    form = find(value);
    --depth_;
  }
  return found_[value] = form ? form : term_of(value);
}

/// A value as a term of itself.
std::optional<LinearForm> LinearForms::term_of(ValueId value) {
  const auto extents = features(value);
  if (!extents || body_.constant(value)) return std::nullopt;
  std::vector<int64_t> positions(static_cast<size_t>(volume(*extents)));
  std::iota(positions.begin(), positions.end(), 0);
  const ValueId weights = body_.add_constant(HostTensor::of_ints(DType::kI64, *extents, positions));
  return LinearForm{.terms = {{without_views(value), weights, true}}, .bias = ValueId::kNone, .activation = {}};
}

std::optional<LinearForm> LinearForms::without_activation(ValueId value) {
  auto form = of(value);
  return form && form->activation ? term_of(value) : form;
}

std::optional<LinearForm> LinearForms::find(ValueId value) {
  const ir::Node& node = maker(value);
  if (const auto* activation = node.op.as<ops::Activation>()) {
    const ops::Activation op = *activation;
    auto form = without_activation(node.inputs[0]);
    if (form) form->activation = op;
    return form;
  }
  if (const auto* op = node.op.as<ops::ElementWise>()) {
    if (!repeats_nothing(value)) return std::nullopt;
    if (op->kind == ElementWiseKind::kSum) return sum(value);
    if (op->kind == ElementWiseKind::kSub) return difference(value);
    return op->kind == ElementWiseKind::kProd ? scaled(value) : std::nullopt;
  }
  if (node.op.as<ops::MatrixMultiply>()) return product(value);
  return moved(value);
}

bool LinearForms::is_whole(const LinearTerm& term) {
  if (!term.picks) return false;
  const auto positions = compute(term.weights);
  const auto extents = features(term.source);
  if (!positions || !extents || positions->value.volume() != volume(*extents)) return false;
  const std::vector<int64_t> at = View(positions->value).integers();
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// The weights and the bias, under other extents of the features.
std::optional<LinearForm> LinearForms::reshaped(LinearForm form, const Extents& features) {
  for (LinearTerm& term : form.terms) {
    const Shape& shape = body_.type(term.weights).shape;
    const Extents to = term.picks ? features : with_width(features, shape.back().value());
    term.weights = add(reshape_op(to), {term.weights});
    if (term.weights == ValueId::kNone) return std::nullopt;
  }
  if (form.bias == ValueId::kNone) return form;
  form.bias = add(reshape_op(features), {form.bias});
  return form.bias == ValueId::kNone ? std::nullopt : std::optional(std::move(form));
}

/// A value whose elements are those of another one: some of its features, or all in another order.
std::optional<LinearForm> LinearForms::moved(ValueId value) {
  const ir::NodeId id = body_.value(value).producer;
  const Op op = body_.node(id).op;
  if (body_.node(id).inputs.empty()) return std::nullopt;
  const ValueId from = body_.node(id).inputs[0];
  const bool moves = is_view(op) || op.as<ops::Transpose>() || op.as<ops::Gather>() || op.as<ops::Slice>();
  if (!moves || body_.constant(from)) return std::nullopt;
  auto form = of(from);
  const Extents after = *features(value);
  if (!form || is_view(op)) return form ? reshaped(std::move(*form), after) : std::nullopt;
  const auto before = features(from);
  const size_t lead = body_.type(from).shape.size() - before->size();
  const auto change = on_features(body_, id, lead, before->size());
  if (!change) return std::nullopt;
  ValueId indices = ValueId::kNone;
  if (op.as<ops::Gather>()) {
    indices = body_.node(id).inputs[1];
    if (!body_.constant(indices)) return std::nullopt;
  }
  const auto apply = [&](ValueId weights, bool has_width) {
    const Op changed = has_width ? with_last_axis(*change, before->size()) : *change;
    return indices == ValueId::kNone ? add(changed, {weights}) : add(changed, {weights, indices});
  };
  for (LinearTerm& term : form->terms)
    if ((term.weights = apply(term.weights, !term.picks)) == ValueId::kNone) return std::nullopt;
  if (form->bias != ValueId::kNone && (form->bias = apply(form->bias, false)) == ValueId::kNone) return std::nullopt;
  return reshaped(std::move(*form), after);
}

ValueId LinearForms::as_features(ValueId constant, ValueId like) {
  const Extents& extents = body_.constant(constant)->extents();
  const Extents wanted = *features(like);
  const size_t lead = body_.type(like).shape.size() - wanted.size();
  if (extents.size() != lead + wanted.size()) return ValueId::kNone;
  if (std::any_of(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(lead),
                  [](int64_t extent) { return extent != 1; }))
    return ValueId::kNone;
  const Extents own(extents.begin() + static_cast<std::ptrdiff_t>(lead), extents.end());
  const ValueId row = add(reshape_op(own), {constant});
  return own == wanted ? row : add(ops::Expand{.dims = {wanted.begin(), wanted.end()}}, {row});
}

std::optional<LinearForm> LinearForms::added(LinearForm a, const LinearForm& b) {
  constexpr ops::ElementWise kSum{ElementWiseKind::kSum};
  for (const LinearTerm& term : b.terms) {
    const auto same = std::ranges::find(a.terms, term.source, &LinearTerm::source);
    if (same == a.terms.end()) {
      a.terms.push_back(term);
      continue;
    }
    if (same->picks || term.picks) return std::nullopt;
    if ((same->weights = add(kSum, {same->weights, term.weights})) == ValueId::kNone) return std::nullopt;
  }
  if (a.bias == ValueId::kNone || b.bias == ValueId::kNone) {
    if (a.bias == ValueId::kNone) a.bias = b.bias;
    return a;
  }
  a.bias = add(kSum, {a.bias, b.bias});
  return a.bias == ValueId::kNone ? std::nullopt : std::optional(std::move(a));
}

std::optional<LinearForm> LinearForms::negated(LinearForm form) {
  constexpr ops::Unary kNeg{ops::UnaryKind::kNeg};
  for (LinearTerm& term : form.terms)
    if (term.picks || (term.weights = add(kNeg, {term.weights})) == ValueId::kNone) return std::nullopt;
  if (form.bias != ValueId::kNone && (form.bias = add(kNeg, {form.bias})) == ValueId::kNone) return std::nullopt;
  return form;
}

std::optional<LinearForm> LinearForms::sum(ValueId value) {
  const std::vector<ValueId> inputs = maker(value).inputs;
  for (size_t i = 0; i < 2; ++i) {
    if (!body_.constant(inputs[i])) continue;
    auto form = without_activation(inputs[1 - i]);
    const ValueId bias = as_features(inputs[i], value);
    if (!form || bias == ValueId::kNone) return std::nullopt;
    return added(std::move(*form), {.terms = {}, .bias = bias, .activation = {}});
  }
  auto a = without_activation(inputs[0]), b = without_activation(inputs[1]);
  return a && b ? added(std::move(*a), *b) : std::nullopt;
}

std::optional<LinearForm> LinearForms::difference(ValueId value) {
  const std::vector<ValueId> inputs = maker(value).inputs;
  if (body_.constant(inputs[0])) return std::nullopt;
  auto a = without_activation(inputs[0]);
  if (body_.constant(inputs[1])) {
    const ValueId bias = as_features(inputs[1], value);
    const ValueId less = bias == ValueId::kNone ? bias : add(ops::Unary{ops::UnaryKind::kNeg}, {bias});
    if (!a || less == ValueId::kNone) return std::nullopt;
    return added(std::move(*a), {.terms = {}, .bias = less, .activation = {}});
  }
  auto b = without_activation(inputs[1]);
  if (b) b = negated(std::move(*b));
  return a && b ? added(std::move(*a), *b) : std::nullopt;
}

/// The product of a value and a constant.
std::optional<LinearForm> LinearForms::scaled(ValueId value) {
  constexpr ops::ElementWise kProd{ElementWiseKind::kProd};
  const std::vector<ValueId> inputs = maker(value).inputs;
  const size_t at = body_.constant(inputs[0]) ? 0 : 1;
  if (!body_.constant(inputs[at])) return std::nullopt;
  auto form = without_activation(inputs[1 - at]);
  const ValueId factor = as_features(inputs[at], value);
  if (!form || factor == ValueId::kNone) return std::nullopt;
  const ValueId column = add(ops::Unsqueeze{{body_.type(factor).rank()}}, {factor});
  for (LinearTerm& term : form->terms)
    if (term.picks || (term.weights = add(kProd, {term.weights, column})) == ValueId::kNone) return std::nullopt;
  if (form->bias != ValueId::kNone && (form->bias = add(kProd, {form->bias, factor})) == ValueId::kNone)
    return std::nullopt;
  return form;
}

/// Appends the values that a vector of each row consists of, whole ones side by side. Whether it does.
bool LinearForms::find_pieces(ValueId value, std::vector<Piece>& pieces) {
  const auto extents = features(value);
  if (!extents) return false;
  const ValueId base = without_views(value);
  const auto* joined =
      body_.value(base).producer == ir::NodeId::kNone ? nullptr : body_.producer_as<ops::Concatenation>(base);
  if (const auto inner = features(base); joined && inner && inner->size() == 1) {
    const int rank = body_.type(base).rank(), axis = joined->axis < 0 ? joined->axis + rank : joined->axis;
    if (axis != rank - 1) return false;
    const std::vector<ValueId> inputs = maker(base).inputs;
    return std::ranges::all_of(inputs, [&](ValueId input) { return find_pieces(input, pieces); });
  }
  const auto form = without_activation(value);
  if (!form || form->bias != ValueId::kNone || form->terms.size() != 1 || !is_whole(form->terms[0])) return false;
  pieces.push_back({form->terms[0].source, volume(*extents)});
  return true;
}

/// The form of a matrix [N, K] times the vectors that have these pieces.
std::optional<LinearForm> LinearForms::product_of(const std::vector<Piece>& pieces, ValueId matrix, ValueId value) {
  const Shape shape = body_.type(matrix).shape;
  std::optional<LinearForm> form(LinearForm{});
  int64_t first = 0;
  for (const Piece& piece : pieces) {
    const ops::Slice columns{.starts = {first}, .sizes = {piece.width}, .strides = {1}, .axes = {1}};
    const ValueId part = pieces.size() == 1 ? matrix : add(columns, {matrix});
    if (part == ValueId::kNone) return std::nullopt;
    form = added(std::move(*form), {.terms = {{piece.source, part, false}}, .bias = ValueId::kNone, .activation = {}});
    if (!form) return std::nullopt;
    first += piece.width;
  }
  if (!sym::provably_equal(shape[1], first)) return std::nullopt;
  return reshaped(std::move(*form), *features(value));
}

/// The product of a constant matrix and a vector of each row, whichever operand it is.
std::optional<LinearForm> LinearForms::product(ValueId value) {
  const auto op = *body_.producer_as<ops::MatrixMultiply>(value);
  const std::vector<ValueId> inputs = maker(value).inputs;
  const bool matrix_first = body_.constant(inputs[0]);
  const ValueId constant = inputs[matrix_first ? 0 : 1], vectors = inputs[matrix_first ? 1 : 0];
  const ops::MatrixOp matrix_op = matrix_first ? op.a : op.b, vector_op = matrix_first ? op.b : op.a;
  if (!body_.constant(constant) || matrix_op == ops::MatrixOp::kVector) return std::nullopt;
  const Extents extents = body_.constant(constant)->extents();
  const int64_t rows = extents[extents.size() - 2], columns = extents.back();
  if (volume(extents) != rows * columns) return std::nullopt;
  // A matrix on the left gives columns of one row only, unless its right operand is made of vectors.
  const bool by_columns = matrix_first && vector_op != ops::MatrixOp::kVector;
  if (by_columns && rows_ != sym::Expr(1)) return std::nullopt;
  if (!matrix_first && vector_op == ops::MatrixOp::kTranspose) return std::nullopt;
  std::vector<Piece> pieces;
  if (!find_pieces(vectors, pieces)) return std::nullopt;
  const bool is_turned = matrix_first == (matrix_op == ops::MatrixOp::kTranspose);  // [K, N]
  ValueId matrix = add(reshape_op({rows, columns}), {constant});
  if (is_turned) matrix = add(ops::Transpose{{1, 0}}, {matrix});
  return matrix == ValueId::kNone ? std::nullopt : product_of(pieces, matrix, value);
}

}  // namespace kiln::passes
