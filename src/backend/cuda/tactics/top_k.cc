/// The first elements of rows in their order: kernels/sort.
#include "tactics/top_k.h"

#include <algorithm>

#include "backend/cuda/compile/sort/top_k.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/top_k.h"

namespace kiln::cuda {
namespace {

class TopKTactic final : public TopKRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType &x = cx.graph.type(region.inputs[0]), &values = cx.graph.type(region.outputs[0]);
    const auto axis =
        static_cast<size_t>(TRY(normalize_axis(cx.graph.node(region.nodes[0]).op.as<ops::TopK>()->axis, x.rank())));
    const sym::Expr length = x.shape[axis], k = values.shape[axis];
    std::vector<TopKWay> ways;
    for (const int64_t rows_of : {length.min(), length.max()})
      for (const int64_t first : {k.min(), std::min(k.max(), rows_of)}) {
        const TopKWay way = top_k_way(x.dtype, rows_of, first);
        if (std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
      }
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, top_k_source(x.dtype, ways)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::TopK>() {
  return list_of<TopKTactic>();
}

}  // namespace kiln::cuda
