#include "ops/if.h"

#include <algorithm>

#include "ops/define.h"
#include "ops/movement.h"
#include "ops/result_copies.h"

template const kiln::OpInfo& kiln::op_info<kiln::ops::If>();

namespace kiln::ops {

Result<std::vector<DecidedAxis>> differing_axes(std::span<const TensorType> a, std::span<const TensorType> b) {
  TRY(require(a.size() == b.size(), "the branches have ", a.size(), " and ", b.size(), " outputs"));
  std::vector<DecidedAxis> result;
  for (size_t i = 0; i < a.size(); ++i) {
    TRY(require(a[i].dtype == b[i].dtype && a[i].rank() == b[i].rank(), "output ", i, " is ", a[i],
                " from the first branch and ", b[i], " from the second; types and ranks must agree"));
    for (int axis = 0; axis < a[i].rank(); ++axis) {
      const auto at = static_cast<size_t>(axis);
      if (a[i].shape[at] != b[i].shape[at]) result.push_back({static_cast<int>(i), axis});
    }
  }
  return result;
}

namespace {

using BranchTypes = std::pair<std::vector<TensorType>, std::vector<TensorType>>;

/// The types of both branches. At most one of them may be impossible for the shapes of a profile: it must not be taken.
Result<BranchTypes> infer_branches(BodyTypes& bodies, std::span<const TensorType> captured,
                                   std::span<const DecidedAxis> decided) {
  auto first = bodies.infer(0, captured), second = bodies.infer(1, captured);
  if (first.has_value() == second.has_value()) return BranchTypes{TRY(std::move(first)), TRY(std::move(second))};
  const int failed = first ? 1 : 0;
  std::vector<TensorType> types = first ? *first : *second;
  for (TensorType& type : types) type.values = nullptr;
  for (const DecidedAxis& axis : decided)
    types[static_cast<size_t>(axis.output)].shape[static_cast<size_t>(axis.axis)] = 0;
  TRY(bodies.give_up(failed, first ? second.error() : first.error(), types));
  return first ? BranchTypes{*first, types} : BranchTypes{types, *second};
}

/// Gives the node's output `y` its elements where the host knows the condition and what both branches would give.
Status choose_values(InferContext& cx, const BodyTypes& bodies, const TensorType& first, const TensorType& second,
                     TensorType& y) {
  if (!cx.has_values(0) || !first.values || !second.values || is_float(y.dtype)) return {};
  if (!first.same_type(second) || !carries_values(y)) return {};
  const sym::Expr condition = TRY(cx.values(0))[0];
  SymbolicValues chosen;
  for (size_t i = 0; i < first.values->size(); ++i) {
    const sym::Expr then = (*first.values)[i], otherwise = (*second.values)[i];
    if (!bodies.is_known_outside(0, then) || !bodies.is_known_outside(1, otherwise)) return {};
    chosen.push_back(then == otherwise ? then : sym::element_at(SymbolicValues{otherwise, then}, condition));
  }
  give_values(y, std::move(chosen));
  return {};
}

}  // namespace

Status If::infer(InferContext& cx) const {
  const TensorType& condition = TRY(cx.input(0));
  TRY(cx.require(condition.dtype == DType::kBool && sym::provably_equal(condition.volume(), 1), "the condition is ",
                 condition, "; one boolean is needed"));
  BodyTypes& bodies = TRY(cx.bodies());
  TRY(cx.require(bodies.count() == 2, "an If has ", bodies.count(), " bodies; two are needed"));
  std::vector<TensorType> captured;
  for (int i = 1; i < cx.num_inputs(); ++i) captured.push_back(TRY(cx.input_type(i)));
  const auto [first, second] = TRY(infer_branches(bodies, captured, decided));
  TRY(cx.require(std::ssize(first) == outputs, "the branches have ", first.size(), " outputs; the node has ", outputs));
  for (const DecidedAxis& axis : TRY(differing_axes(first, second)))
    TRY(cx.require(find_axis(decided, axis.output, axis.axis) >= 0, "axis ", axis.axis, " of output ", axis.output,
                   " is of extent ", first[static_cast<size_t>(axis.output)].shape[static_cast<size_t>(axis.axis)],
                   " in the first branch and of ",
                   second[static_cast<size_t>(axis.output)].shape[static_cast<size_t>(axis.axis)],
                   " in the second, which was not foreseen when the node was made"));
  std::vector<kiln::Shape> shapes;
  for (const TensorType& type : first) shapes.push_back(type.shape);
  for (const DecidedAxis& axis : decided) {
    const auto output = static_cast<size_t>(axis.output), at = static_cast<size_t>(axis.axis);
    TRY(cx.require(output < first.size() && at < first[output].shape.size(), "axis ", axis.axis, " of output ",
                   axis.output, " does not exist"));
    const sym::Expr most = sym::max(bodies.most(0, first[output].shape[at]), bodies.most(1, second[output].shape[at]));
    shapes[output][at] = cx.decided_size("extent", most);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    TensorType y{first[i].dtype, std::move(shapes[i])};
    TRY(choose_values(cx, bodies, first[i], second[i], y));
    TRY(cx.set_output(static_cast<int>(i), std::move(y)));
  }
  return {};
}

Status If::reference(ReferenceContext& cx) const {
  const View condition = TRY(cx.input(0));
  std::vector<HostTensor> captured;
  for (int i = 1; i < cx.num_inputs(); ++i) captured.push_back(TRY(cx.input_tensor(i)));
  BodyRuns& bodies = TRY(cx.bodies());
  const std::vector<HostTensor> results = TRY(bodies.run(condition[0] != 0 ? 0 : 1, captured));
  return copy_results(cx, results, decided);
}

}  // namespace kiln::ops
