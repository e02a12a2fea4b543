/// Reductions along neighbouring axes: kernels/lanes.
#include "tactics/reduce.h"

#include "backend/cuda/compile/lanes/reduce.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// An average is a sum that is divided.
Fold fold_of(const steps::Reduce& step) { return step.averages() ? Fold::kSum : static_cast<Fold>(step.kind); }

class ReduceTactic final : public ReduceRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const steps::Reduce step = reduce_step(cx.graph, region.nodes[0], variant.inputs[0]);
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const LaneExtents at = step.lanes(variant.inputs[0], x.opt_extents()),
                      most = step.lanes(variant.inputs[0], x.max_extents());
    ReduceKernels kernels{{.columns = most.inner > 1}, x.dtype, fold_of(step)};
    kernels.vec = vector_width(kernels.columns ? at.inner : at.length, bits_of(x.dtype) / 8);
    const int element = bits_of(x.dtype) / 8, num_sms = device_of(cx).properties().num_multiprocessors;
    const auto staged = reduce_staged_launch({at.outer, at.length, at.inner}, element, step.averages(), num_sms);
    kernels.staged = !kernels.columns && kernels.vec * element < kStageAlign && staged;
    const ReduceTuning& tuning = kernels;
    StepDraft draft = cuda_step(step, tuning);
    std::vector<std::string> wanted;  // where shapes are known, few kernels are; else all
    for (const int vec : {kernels.vec, 1})
      for (const ReduceLaunch& launch :
           reduce_launches({at.outer, at.length, at.inner}, kernels.columns, vec, step.averages(), num_sms))
        if (x.is_static()) wanted.push_back(launch.entry);
    if (kernels.staged && x.is_static()) wanted.push_back(staged->entry);
    draft.binary = TRY(compile_kernel(cx, reduce_source(kernels, wanted)));
    return draft;
  }

 private:
  std::string_view why_not(DType x, DType) const override {
    return can_fold(x) ? "" : "the kernels fold f32, f16, bf16, f64 and integers of 8 to 64 bits";
  }
  bool moves_axes() const override { return false; }
};

/// Reduces any axes, by a kernel that is slower than the one for neighbouring axes.
class AxesTactic final : public Tactic {
 public:
  std::string_view name() const override { return "reduce axes"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& x = cx.graph.input_type(root, 0);
    const steps::Reduce step = reduce_step(cx.graph, root, Format::linear());
    if (step.kind == ops::ReduceKind::kNone) return reject("the operation is none");
    if (!can_fold(x.dtype))
      return reject("x is ", x, "; the kernel folds f32, f16, bf16, f64 and integers of 8 to 64 bits");
    if (step.are_neighbours()) return reject("axes ", step.axes, " of ", x, " are neighbours");
    if (const auto launch = reduce_axes_launch(x.max_extents(), step.axes, false); !launch)
      return reject(launch.error().message);
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "row-major")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const steps::Reduce step = reduce_step(cx.graph, region.nodes[0], variant.inputs[0]);
    StepDraft draft = cuda_step(step);
    const DType type = cx.graph.type(region.inputs[0]).dtype;
    draft.binary = TRY(compile_kernel(cx, reduce_axes_source(type, fold_of(step))));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Reduce>() {
  return list_of<ReduceTactic, AxesTactic>();
}

}  // namespace kiln::cuda
