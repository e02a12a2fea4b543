/// Scatters in both modes, row-major: kernels/scatter.
#include "ops/scatter.h"

#include <algorithm>

#include "backend/cuda/compile/scatter/scatter.h"
#include "backend/cuda/kernels/scatter/reduce.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/scatter.h"

namespace kiln::cuda {
namespace {

/// Bytes of the units in which the optimum's and the maximum's scatters copy and write, and those of an element.
struct Units {
  std::vector<int> copied, rows;

  static Result<Units> of(const ops::Scatter& op, const TensorType& data, const TensorType& indices) {
    const int bytes = bits_of(data.dtype) / 8;
    Units units;
    for (const auto at : {&TensorType::opt_extents, &TensorType::max_extents}) {
      const ScatterLaunch launch = TRY(scatter_launch(op, bytes, 16, (data.*at)(), (indices.*at)()));
      add(units.copied, launch.copy_bytes);
      add(units.rows, launch.row_bytes);
    }
    add(units.copied, bytes);
    add(units.rows, bytes);
    return units;
  }

 private:
  static void add(std::vector<int>& units, int unit) {
    if (std::ranges::find(units, unit) == units.end()) units.push_back(unit);
  }
};

class ScatterTactic final : public ScatterRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Scatter>();
    const TensorType &data = cx.graph.type(region.inputs[0]), &indices = cx.graph.type(region.inputs[1]);
    Units units = TRY(Units::of(op, data, indices));
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    if (op.reduction == ScatterReduction::kNone) {
      step.binary = TRY(compile_kernel(cx, scatter_source(op.mode, indices.dtype, units.copied, units.rows)));
      return step;
    }
    const auto coordinates = static_cast<size_t>(op.mode == ScatterMode::kNd);  // the last axis holds them
    const sym::Expr picks = sym::product(std::span(indices.shape).first(indices.shape.size() - coordinates));
    step.binary = TRY(compile_kernel(cx, scatter_reduce_source({.op = op,
                                                                .data = data.dtype,
                                                                .indices = indices.dtype,
                                                                .copied = std::move(units.copied),
                                                                .may_be_short = picks.min() <= kMostScatterSorted,
                                                                .may_be_long = picks.max() > kMostScatterSorted})));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Scatter>() {
  return list_of<ScatterTactic>();
}

}  // namespace kiln::cuda
