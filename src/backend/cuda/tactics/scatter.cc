/// Scatters in both modes, row-major, without a reduction: kernels/scatter.
#include "ops/scatter.h"

#include <algorithm>

#include "backend/cuda/compile/scatter/scatter.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/scatter.h"

namespace kiln::cuda {
namespace {

class ScatterTactic final : public ScatterRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const Op& op = cx.graph.node(region.nodes[0]).op;
    const auto& scatter = *op.as<ops::Scatter>();
    const TensorType &data = cx.graph.type(region.inputs[0]), &indices = cx.graph.type(region.inputs[1]);
    const int bytes = bits_of(data.dtype) / 8;
    std::vector<int> copied, rows;
    const auto add = [](std::vector<int>& units, int unit) {
      if (std::ranges::find(units, unit) == units.end()) units.push_back(unit);
    };
    for (const auto at : {&TensorType::opt_extents, &TensorType::max_extents}) {
      const ScatterLaunch launch = TRY(scatter_launch(scatter, bytes, 16, (data.*at)(), (indices.*at)()));
      add(copied, launch.copy_bytes);
      add(rows, launch.row_bytes);
    }
    add(copied, bytes);
    add(rows, bytes);
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, scatter_source(scatter.mode, indices.dtype, copied, rows)));
    return step;
  }

 private:
  std::string_view why_not(ScatterReduction reduction, DType) const override {
    return reduction == ScatterReduction::kNone ? "" : "kernels only write, one update of an element over the other";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Scatter>() {
  return list_of<ScatterTactic>();
}

}  // namespace kiln::cuda
