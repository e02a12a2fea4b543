/// Reductions: kernels/lanes takes axes that are neighbours in memory, and a format brings others together.
#include "ops/reduce.h"

#include <algorithm>

#include "backend/cpu/kernels/lanes/reduce.h"
#include "backend/cpu/tactics/registry.h"
#include "steps/reduce.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

std::vector<bool> reduced_axes(const ops::Reduce& op, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : op.axes) reduced[static_cast<size_t>(*normalize_axis(axis, rank))] = true;
  return reduced;
}

/// First and last of the reduced axes in memory order, if they are neighbours there.
struct Run {
  int first, last;
};
std::optional<Run> run_of(const ops::Reduce& op, int rank, const Format& format) {
  int first = rank, last = -1;
  const std::vector<bool> reduced = reduced_axes(op, rank);
  for (int position = 0; position < rank; ++position)
    if (reduced[static_cast<size_t>(format.axis_at(position))]) first = std::min(first, position), last = position;
  const auto count = static_cast<int>(std::ranges::count(reduced, true));
  if (last < 0 || last - first + 1 != count) return std::nullopt;
  return Run{first, last};
}

/// What is kept in front, what is reduced behind: the kept axes stay in their order, so that the result is row-major.
Format reduced_last(const ops::Reduce& op, int rank) {
  const std::vector<bool> reduced = reduced_axes(op, rank);
  std::vector<int> order;
  for (const bool behind : {false, true})
    for (int axis = 0; axis < rank; ++axis)
      if (reduced[static_cast<size_t>(axis)] == behind) order.push_back(axis);
  return Format::permuted(order);
}

class ReduceTactic final : public Tactic {
 public:
  std::string_view name() const override { return "reduce"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const auto& op = *cx.graph.node(root).op.as<ops::Reduce>();
    const TensorType &x = cx.graph.input_type(root, 0), &y = cx.graph.output_type(root);
    if (op.kind == ops::ReduceKind::kNone) return reject("the operation is none");
    if (!can_reduce(x.dtype, y.dtype)) return reject("x is ", x, "; the kernel takes f32, f16, bf16, i32 and i64");
    if (op.axes.empty()) return reject("no axis is reduced");
    return single_node_region(cx.graph, root);
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result;
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Reduce>();
    const TensorType& x = cx.graph.type(region.inputs[0]);
    if (run_of(op, x.rank(), Format::linear()))
      result.push_back(linear_variant(region, "row-major"));
    else
      result.push_back({"reduced axes last", {reduced_last(op, x.rank())}, {Format::linear()}, {}, 0});
    if (x.rank() < 3) return result;
    const Format last = Format::channels_last(x.rank());
    // All spatial axes reduced: what is left, [N, C, 1, ...] or [N, C], is the same in either format.
    const auto run = run_of(op, x.rank(), last);
    if (run && run->first == 1 && run->last == x.rank() - 2)
      result.push_back({"channels last", {last}, {op.keep ? last : Format::linear()}, {}, 0});
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Reduce>();
    const auto run = run_of(op, cx.graph.type(region.inputs[0]).rank(), variant.inputs[0]);
    CHECK(run.has_value());
    return cpu_step(steps::Reduce{op.kind, run->first, run->last});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Reduce>() {
  static const ReduceTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
