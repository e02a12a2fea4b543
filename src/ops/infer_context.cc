#include "ops/infer_context.h"

#include <algorithm>
#include <utility>

#include "ops/bodies.h"
#include "ops/op.h"
#include "ops/reference_context.h"
#include "sym/broadcast.h"
#include "sym/real.h"
#include "sym/unbounded.h"
#include "tensor/view.h"

namespace kiln {
namespace {

bool may_be_one(sym::Expr extent) { return !sym::provably_different(extent, 1); }

}  // namespace

Result<Ref<const TensorType>> InferContext::input(int i) const {
  if (!has_input(i)) return error(Code::kInvalidArgument, "input ", i, " is missing");
  return std::cref(*inputs_[static_cast<size_t>(i)].type);
}

bool InferContext::has_values(int i) const {
  if (!has_input(i)) return false;
  if (inputs_[static_cast<size_t>(i)].type->values) return true;
  const HostTensor* known = constant(i);
  if (!known) return false;
  if (is_float(known->dtype())) return known->volume() <= kMaxSymbolicValues;
  return is_integer(known->dtype()) || known->dtype() == DType::kBool;
}

Result<SymbolicValues> InferContext::values(int i) const {
  const TensorType& type = TRY(input(i));
  if (type.values) return *type.values;
  if (const HostTensor* known = constant(i)) {
    TRY(kiln::require(has_values(i), "input ", i, " is ", type, "; its elements are not followed"));
    const View view(*known);
    SymbolicValues result;
    for (int64_t k = 0; k < view.volume(); ++k)
      result.push_back(is_float(known->dtype()) ? sym::real_of(view[k]) : sym::Expr(view.integer(k)));
    return result;
  }
  const std::string_view from = inputs_[static_cast<size_t>(i)].from;
  return error(Code::kInvalidArgument, "input ", i, " (", type, from.empty() ? "" : " from '", from,
               from.empty() ? "" : "'",
               ") must be known before the op runs, from constants, shapes or shape inputs; it is computed from data");
}

Result<TensorType> InferContext::input_type(int i) const {
  TensorType type = TRY(input(i));
  if (const HostTensor* known = constant(i); known && !type.values) type.values = type_of(*known).values;
  return type;
}

Result<Ref<BodyTypes>> InferContext::bodies() const {
  if (!bodies_) return error(Code::kInvalidArgument, "the node has no bodies");
  return std::ref(*bodies_);
}

Status InferContext::set_output(int i, TensorType type) {
  CHECK(i >= 0 && i < num_outputs());
  TRY(kiln::require(type.rank() <= kMaxRank, "output ", i, " would have rank ", type.rank(), "; at most ", kMaxRank,
                    " axes are possible"));
  for (size_t axis = 0; axis < type.shape.size(); ++axis) {
    const sym::Expr& e = type.shape[axis];
    TRY(kiln::require(e.is_valid(), "axis ", axis, " of output ", i, " has no extent: ", e.why_invalid()));
    TRY(kiln::require(e.max() >= 0, "output ", i, " would be ", type, ", with a negative extent in axis ", axis));
  }
  outputs_[static_cast<size_t>(i)] = std::move(type);
  return {};
}

Result<int> InferContext::axis(int64_t axis, const TensorType& x, std::string_view name) const {
  const int rank = x.rank();
  if (axis < -rank || axis >= rank)
    return error(Code::kInvalidArgument, "axis ", axis, " is outside [", -rank, ", ", rank, ") of ", name, " ", x);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

sym::Expr InferContext::decided_size(std::string_view name, sym::Expr most, std::optional<int64_t> opt) {
  if (!sym::reads_unbounded(most)) {
    // What is made of a size without a bound has to show that it is: floor_div(size, 2), too.
    const bool is_open = sym::is_no_bound(most) || sym::grows_without_bound(most);
    const int64_t max = is_open ? sym::kMostUnbounded : std::max<int64_t>(most.max(), 0);
    const int64_t typical = opt.value_or(sym::is_no_bound(most) ? sym::kTypicalSize : most.opt());
    return next_symbol(name, {0, std::clamp<int64_t>(typical, 0, max), max}, most, false);
  }
  const int64_t typical = std::clamp<int64_t>(opt.value_or(most.opt()), 0, sym::kMostUnbounded);
  return next_symbol(name, {0, typical, sym::kMostUnbounded}, sym::unbounded(table_), false);
}

sym::Expr InferContext::decided_number(std::string_view name) {
  return next_symbol(name, sym::kAnyNumber, sym::unbounded(table_), false);
}

sym::Expr InferContext::inner_element(std::string_view name, sym::Bounds bounds) {
  const bool is_open = bounds.max >= sym::kMostUnbounded;
  return next_symbol(name, bounds, is_open ? sym::unbounded(table_) : sym::Expr(bounds.max), true);
}

sym::Expr InferContext::next_symbol(std::string_view name, sym::Bounds bounds, sym::Expr most, bool is_inner) {
  const size_t k = num_sizes_++;
  if (k == sizes_.size())
    sizes_.push_back({table_.fresh(size_name(name, node_name_), bounds), most, is_inner});
  else if (table_.bounds(sizes_[k].symbol) != bounds && !table_.set_bounds(sizes_[k].symbol, bounds))
    sizes_[k].symbol = table_.fresh(size_name(name, node_name_),
                                    bounds);  // what was simplified by the former bounds may not hold any more
  sizes_[k].most = most;
  return sizes_[k].symbol;
}

std::string size_name(std::string_view what, std::string_view node) {
  return node.empty() ? std::string(what) : str(what, " of ", node);
}

Status InferContext::assume_equal(sym::Expr a, sym::Expr b, std::string_view why) {
  switch (sym::compare_equal(a, b)) {
    case sym::Truth::kYes: return {};
    case sym::Truth::kNo: return error(Code::kInvalidArgument, why, ": ", a, " and ", b, " differ");
    case sym::Truth::kUnknown: break;
  }
  return sym::assume(assumptions_, {sym::Relation::kEqual, a, b, std::string(why)});
}

Status InferContext::assume_one_or(sym::Expr small, sym::Expr extent, std::string_view why) {
  if (may_be_one(small)) return sym::assume(assumptions_, {sym::Relation::kOneOr, small, extent, std::string(why)});
  return assume_equal(extent, small, why);
}

Result<sym::Expr> InferContext::broadcast(sym::Expr a, sym::Expr b, std::string_view why) {
  if (a == sym::Expr(1)) return b;
  if (b == sym::Expr(1)) return a;
  if (sym::provably_equal(a, b) || (!may_be_one(a) && !may_be_one(b))) {
    TRY(assume_equal(a, b, why));
    return b.is_const() ? b : a;
  }
  if (may_be_one(a) && may_be_one(b)) {
    TRY(sym::assume(assumptions_, {sym::Relation::kBroadcast, a, b, std::string(why)}));
    return sym::broadcast(a, b);
  }
  const auto [small, extent] = may_be_one(a) ? std::pair(a, b) : std::pair(b, a);
  TRY(assume_one_or(small, extent, why));
  return extent;
}

Result<Shape> InferContext::broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    sym::Expr& extent = result[offset + i];
    if (extent == shorter[i]) continue;
    const bool known = extent.is_const() && shorter[i].is_const();
    extent = TRY(known ? broadcast(extent, shorter[i])
                       : broadcast(extent, shorter[i], str("axis ", offset + i, " of ", longer, " and ", shorter)));
  }
  return result;
}

Result<std::vector<TensorType>> infer_types(const Op& op, std::span<const InferInput> inputs, sym::Table& table,
                                            std::vector<sym::Assumption>* assumptions, std::vector<DecidedSize>* sizes,
                                            BodyTypes* bodies, std::string_view node_name) {
  const auto count = static_cast<int>(inputs.size());
  const OpInfo& info = op.info();
  TRY(require(count >= info.min_inputs && (info.max_inputs < 0 || count <= info.max_inputs), op.name(), " has ", count,
              " inputs; it takes ", info.min_inputs, " to ", info.max_inputs));
  InferContext context(table, inputs, op.num_outputs(), sizes ? *sizes : std::vector<DecidedSize>());
  context.set_bodies(bodies);
  context.set_node_name(node_name);
  TRY(op.infer(context));
  if (sizes) *sizes = std::move(context.sizes());
  if (assumptions) assumptions->insert(assumptions->end(), context.assumptions().begin(), context.assumptions().end());
  return std::move(context.outputs());
}

}  // namespace kiln
