/// Gathers in their three modes, row-major: kernels/gather.
#include "ops/gather.h"

#include <algorithm>

#include "backend/cuda/compile/gather/gather.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/gather.h"

namespace kiln::cuda {
namespace {

class GatherTactic final : public GatherRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const Op& op = cx.graph.node(region.nodes[0]).op;
    const auto& gather = *op.as<ops::Gather>();
    const TensorType &data = cx.graph.type(region.inputs[0]), &indices = cx.graph.type(region.inputs[1]);
    const int bytes = bits_of(data.dtype) / 8;
    std::vector<int> units;
    for (const auto at : {&TensorType::opt_extents, &TensorType::max_extents}) {
      const int unit = TRY(gather_launch(gather, bytes, 16, (data.*at)(), (indices.*at)())).unit_bytes;
      if (std::ranges::find(units, unit) == units.end()) units.push_back(unit);
    }
    if (std::ranges::find(units, bytes) == units.end()) units.push_back(bytes);
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, gather_source(gather.mode, indices.dtype, units)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Gather>() {
  return list_of<GatherTactic>();
}

}  // namespace kiln::cuda
