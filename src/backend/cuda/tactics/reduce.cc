/// Reductions along neighbouring axes: kernels/lanes.
#include "ops/reduce.h"

#include <algorithm>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/reduce.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/reduce.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// First and last of the reduced axes in memory order, if they are neighbours there.
struct Run {
  int first, last;
};
std::vector<bool> reduced_axes(const ops::Reduce& op, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : op.axes) reduced[static_cast<size_t>(*normalize_axis(axis, rank))] = true;
  return reduced;
}
std::optional<Run> run_of(const ops::Reduce& op, int rank, const Format& format) {
  int first = rank, last = -1;
  const std::vector<bool> reduced = reduced_axes(op, rank);
  for (int position = 0; position < rank; ++position)
    if (reduced[static_cast<size_t>(format.axis_at(position))]) first = std::min(first, position), last = position;
  const auto count = static_cast<int>(std::ranges::count(reduced, true));
  if (last < 0 || last - first + 1 != count) return std::nullopt;
  return Run{first, last};
}

class ReduceTactic final : public Tactic {
 public:
  std::string_view name() const override { return "reduce"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const auto& op = *cx.graph.node(root).op.as<ops::Reduce>();
    const TensorType& x = cx.graph.input_type(root, 0);
    if (op.kind == ops::ReduceKind::kNone) return reject("the operation is none");
    if (!can_fold(x.dtype)) return reject("x is ", x, "; the kernels fold f32, f16, bf16 and integers of 8 to 64 bits");
    if (!run_of(op, x.rank(), Format::linear())) return reject("axes ", op.axes, " of ", x, " are not neighbours");
    return single_node_region(cx.graph, root);
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Reduce>();
    const TensorType& x = cx.graph.type(region.inputs[0]);
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
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const auto lanes = [&](const Extents& extents) {
      return lane_extents(in_memory_order(variant.inputs[0], extents), static_cast<size_t>(run->first),
                          static_cast<size_t>(run->last));
    };
    const LaneExtents at = lanes(x.opt_extents()), most = lanes(x.max_extents());
    const bool average = op.kind == ops::ReduceKind::kAvg;
    ReduceKernels kernels{{.columns = most.inner > 1}, x.dtype, average ? Fold::kSum : static_cast<Fold>(op.kind)};
    kernels.vec = vector_width(kernels.columns ? at.inner : at.length, bits_of(x.dtype) / 8);
    const int element = bits_of(x.dtype) / 8, num_sms = device_of(cx).properties().num_multiprocessors;
    const auto staged = reduce_staged_launch({at.outer, at.length, at.inner}, element, average, num_sms);
    kernels.staged = !kernels.columns && kernels.vec * element < kStageAlign && staged;
    const ReduceTuning& tuning = kernels;
    StepDraft draft = cuda_step(steps::Reduce{op.kind, run->first, run->last}, tuning);
    std::vector<std::string> wanted;  // where shapes are known, few kernels are; else all
    for (const int vec : {kernels.vec, 1})
      for (const ReduceLaunch& launch :
           reduce_launches({at.outer, at.length, at.inner}, kernels.columns, vec, average, num_sms))
        if (x.is_static()) wanted.push_back(launch.entry);
    if (kernels.staged && x.is_static()) wanted.push_back(staged->entry);
    draft.binary = TRY(compile_kernel(cx, reduce_source(kernels, wanted)));
    return draft;
  }
};

/// Any axes: the same kernels' slower sibling.
class AxesTactic final : public Tactic {
 public:
  std::string_view name() const override { return "reduce axes"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const auto& op = *cx.graph.node(root).op.as<ops::Reduce>();
    const TensorType& x = cx.graph.input_type(root, 0);
    if (op.kind == ops::ReduceKind::kNone) return reject("the operation is none");
    if (!can_fold(x.dtype)) return reject("x is ", x, "; the kernel folds f32, f16, bf16 and integers of 8 to 64 bits");
    if (run_of(op, x.rank(), Format::linear())) return reject("axes ", op.axes, " of ", x, " are neighbours");
    if (const auto launch = reduce_axes_launch(x.max_extents(), reduced_axes(op, x.rank()), false); !launch)
      return reject(launch.error().message);
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "row-major")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Reduce>();
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const bool average = op.kind == ops::ReduceKind::kAvg;
    StepDraft draft = cuda_step("reduce_axes");
    draft.payload.set("axes", op.axes).set("average", average);
    draft.binary =
        TRY(compile_kernel(cx, reduce_axes_source(x.dtype, average ? Fold::kSum : static_cast<Fold>(op.kind))));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Reduce>() {
  static const ReduceTactic tactic;
  static const AxesTactic axes;
  static const Tactic* const kList[] = {&tactic, &axes};
  return kList;
}

}  // namespace kiln::cuda
