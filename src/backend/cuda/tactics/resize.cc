/// Resampling, row-major or channels last: kernels/resize.
#include "ops/resize.h"

#include <algorithm>

#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/resize/resize.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"
#include "tactics/resized_axes.h"

namespace kiln::cuda {
namespace {

/// From the first to the last axis that may be resized, in memory's order.
int span_of(const std::vector<bool>& resized, const Format& format) {
  int first = static_cast<int>(resized.size()), last = -1;
  for (int position = 0; position < static_cast<int>(resized.size()); ++position)
    if (resized[static_cast<size_t>(format.axis_at(position))]) first = std::min(first, position), last = position;
  return std::max(0, last - first + 1);
}

class ResizeTactic final : public Tactic {
 public:
  std::string_view name() const override { return "resize"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const auto& op = *node.op.as<ops::Resize>();
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (!can_resize(op.mode, x.dtype)) return reject("x is ", x, "; linear and cubic take f32, f16 and bf16");
    const auto is_given = [&](size_t i) { return i < node.inputs.size() && node.inputs[i] != ir::ValueId::kNone; };
    if (is_given(2) || is_given(3) || op.coordinate == CoordinateTransformation::kTfCropAndResize)
      return reject(
          "where y lies in x is computed while running; the kernel's "
          "tables are made before");
    Region region{{root}, {node.inputs[0]}, {node.outputs[0]}, {}};
    const Extents in = x.max_extents(), out = cx.graph.type(node.outputs[0]).max_extents();
    const std::vector<bool> resized = may_be_resized(cx.graph, root);
    for (const Format& format : {Format::linear(), Format::channels_last(x.rank())}) {
      if (const int span = span_of(resized, format); span > kMostResizedAxes)
        return reject("extents may change along ", span, " axes in a row; kernels have ", kMostResizedAxes);
      if (const auto plan = plan_resize(op, has_sizes(node), in, out, format); !plan)
        return reject(plan.error().message);
    }
    return region;
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    const int rank = cx.graph.type(region.inputs[0]).rank();
    if (!Format::channels_last(rank).is_linear()) result.push_back(channels_last_variant(region, rank));
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const ir::Node& node = cx.graph.node(region.nodes[0]);
    const auto& op = *node.op.as<ops::Resize>();
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const ResizePlan plan = TRY(plan_resize(op, has_sizes(node), x.opt_extents(),
                                            cx.graph.type(region.outputs[0]).opt_extents(), variant.inputs[0]));
    const int width = vector_width(plan.inner, bits_of(x.dtype) / 8);
    StepDraft draft = cuda_step("resize");
    draft.payload.set("resize", to_record(node.op)).set("from_sizes", has_sizes(node)).set("width", width);
    std::vector<std::string> wanted;  // where shapes are known, few kernels are; else all
    if (x.is_static() && cx.graph.type(region.outputs[0]).is_static())
      for (const ResizeLaunch& launch :
           resize_launches(plan, op.mode, bits_of(x.dtype) / 8, width, device_of(cx).properties().num_multiprocessors))
        wanted.push_back(launch.entry);
    draft.binary = TRY(compile_kernel(cx, resize_source(op.mode, x.dtype, width, wanted)));
    return draft;
  }

 private:
  static bool has_sizes(const ir::Node& node) { return node.inputs.size() > 1 && node.inputs[1] != ir::ValueId::kNone; }
};

}  // namespace

template <>
TacticList tactics_of<ops::Resize>() {
  static const ResizeTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
