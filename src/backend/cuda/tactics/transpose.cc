/// Transposes: copies, or nothing at all where the formats around them already have the order.
#include "ops/transpose.h"

#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/transpose.h"

namespace kiln::cuda {
namespace {

class TransposeTactic final : public TransposeRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& perm = cx.graph.node(region.nodes[0]).op.as<ops::Transpose>()->perm;
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    if (step.is_view()) return step;
    const TensorType& x = cx.graph.type(region.inputs[0]);
    step.binary = TRY(compile_moves(device_of(cx), x.dtype,
                                    [&](ExtentsOf at) { return std::vector{transpose_copy((x.*at)(), perm)}; }));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Transpose>() {
  static const TransposeTactic tactic;
  static const Tactic* const kList[] = {&joined_attention_tactic(), &byte_attention_tactic(), &attention_tactic(),
                                        &tactic};
  return kList;
}

}  // namespace kiln::cuda
