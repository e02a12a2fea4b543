#include "backend/cuda/tactics/attention.h"

#include "backend/cuda/kernels/attention/attention.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/tactics/backend.h"
#include "backend/cuda/tactics/contraction.h"
#include "tactics/attention.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// Kernels for the region; none where its heads are too deep.
Result<std::vector<AttentionCandidate>> candidates_of(const TacticContext& cx, const Region& region) {
  const TensorType &q = cx.graph.type(region.inputs[0]), &v = cx.graph.type(region.inputs[2]);
  const auto depth_q = q.shape.back().constant(), depth_v = v.shape.back().constant();
  TRY(require(depth_q && depth_v, "heads' channels are known when the plan is built: ", q, ", ", v));
  const TensorType& out = cx.graph.type(region.outputs[0]);
  const Extents q_opt = q.opt_extents(), k_opt = cx.graph.type(region.inputs[1]).opt_extents();
  const std::vector<int64_t> q_axes = TRY(region.data.get_ints("q")), k_axes = TRY(region.data.get_ints("k"));
  AttentionTraits traits;
  traits.element = q.dtype;
  traits.depth = std::max(*depth_q, *depth_v);
  traits.align = std::min(power_of_two_in(*depth_q, 8), power_of_two_in(*depth_v, 8));
  traits.has_mask = region.inputs[3] != ir::ValueId::kNone;
  traits.nan_rows_are_zero = TRY(region.data.get_bool("nan_rows_are_zero"));
  traits.queries = q_opt[static_cast<size_t>(q_axes[q_axes.size() - 2])];
  traits.keys = k_opt[static_cast<size_t>(k_axes[k_axes.size() - 2])];
  traits.heads = volume(out.opt_extents()) / std::max<int64_t>(1, traits.queries * *depth_v);
  return attention_candidates(traits, machine_of(device_of(cx).properties()));
}

class AttentionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "attention"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    static constexpr DType kTypes[] = {DType::kF16, DType::kBF16};
    Match region = attention_region(cx, root, kTypes);
    if (!region) return region;
    for (const std::string_view operand : {"k", "v"}) {
      const auto axes = region->data.get_ints(operand);
      if (!axes || axes->back() != static_cast<int64_t>(axes->size()) - 1)
        return reject("the channels of ", operand, " are not its last axis");
    }
    const DType type = cx.graph.type(region->inputs[0]).dtype;
    for (const ir::ValueId value : {region->inputs[1], region->inputs[2], region->inputs[3], region->outputs[0]})
      if (value != ir::ValueId::kNone && cx.graph.type(value).dtype != type)
        return reject("q is ", type, ", another operand ", cx.graph.type(value));
    const auto candidates = candidates_of(cx, *region);
    if (!candidates) return reject(candidates.error().message);
    if (candidates->empty())
      return reject("heads of ", cx.graph.type(region->inputs[0]), " are too deep for the kernels");
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result;
    const auto candidates = candidates_of(cx, region);
    CHECK(candidates.has_value());
    for (const AttentionCandidate& candidate : *candidates) {
      result.push_back(linear_variant(region, candidate.kernel.name()));
      result.back().estimate_us = candidate.estimate_us;
      result.back().params = candidate.kernel.record();
    }
    keep_likeliest(cx, result);
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft draft{.executor = "cuda", .kernel = "attention", .payload = region.data};
    draft.payload.set("attention", variant.params);
    const AttentionKernel kernel = TRY(AttentionKernel::parse(variant.params));
    draft.binary = TRY(device_of(cx).compiler().compile(source_of(kernel)));
    return draft;
  }
};

}  // namespace

const Tactic& attention_tactic() {
  static const AttentionTactic tactic;
  return tactic;
}

}  // namespace kiln::cuda
