/// Layer, instance and group normalisation: kernels/lanes.
#include "tactics/normalization.h"

#include <algorithm>
#include <optional>

#include "backend/cuda/compile/lanes/normalize.h"
#include "backend/cuda/compile/lanes/tile.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/normalize_family.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/normalization.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/normalization.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

class NormalizationTactic final : public NormalizationRegions {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    Match region = NormalizationRegions::match(cx, root);
    if (region && is_quantized(*region) && !tile_of(cx, *region))
      return reject("rows of ", cx.graph.type(region->inputs[0]), " exceed registers; no kernel quantizes them");
    return region;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType& x = cx.graph.type(region.inputs[0]);
    NormalizationKernels kernels{x.dtype, x.dtype, {}};
    for (const ir::ValueId coefficient : {region.inputs[1], region.inputs[2]})
      if (coefficient != ir::ValueId::kNone) kernels.coefficients = cx.graph.type(coefficient).dtype;
    const steps::Normalization step = TRY(step_of(region));
    kernels.centered = step.centered;
    if (step.rows) {
      kernels.tile = tile_of(cx, region);
      kernels.few_rows =
          step.lanes(x.opt_extents()).outer <= 4 * int64_t{device_of(cx).properties().num_multiprocessors};
    }
    if (is_quantized(region)) kernels.bytes = cx.graph.type(region.outputs.back()).dtype;
    std::vector<std::string> wanted;  // where shapes are known, few kernels are; else all
    if (!kernels.tile) {
      const NormalizationShape shape = shape_of(cx.graph.type(region.inputs[0]).opt_extents(), step, variant.inputs[0]);
      const int element = bits_of(x.dtype) / 8;
      kernels.vec = shape.vector(element);
      kernels.apart = shape.is_apart() && kernels.vec > 1;
      // What clusters hold differs with the shapes of runs; under a limit of the build they hold nothing.
      GroupRoom room = group_room(device_of(cx).properties());
      if (limits_shared_memory(cx)) room.holds = room.slices = false;
      for (const int vec : {kernels.vec, 1})
        for (const NormalizationLaunch& launch : TRY(normalization_launches(shape, vec, element, true, room))) {
          kernels.held = kernels.held || launch.family == &kNormalizeHeld;
          kernels.slices = kernels.slices || launch.family == &kNormalizeSlices;
          if (x.is_static()) wanted.push_back(launch.entry);
        }
    }
    const NormalizationTuning tuning{kernels.tile, kernels.vec, kernels.held, kernels.slices};
    StepDraft result = cuda_step(TRY(draft(cx, region, variant)), tuning);
    result.binary = TRY(compile_kernel(cx, normalization_source(kernels, wanted)));
    return result;
  }

 protected:
  std::string_view why_not(DType type) const override {
    return is_kernel_float(type) ? "" : "the kernels take f32, f16 and bf16";
  }
  QuantizedTo reach(const TacticContext& cx) const override { return quantized_to(cx); }

 private:
  /// The tile of a region of rows; none where they exceed registers.
  static std::optional<RowTile> tile_of(const TacticContext& cx, const Region& region) {
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const steps::Normalization step = *step_of(region);
    const LaneExtents at = step.lanes(x.opt_extents()), most = step.lanes(x.max_extents());
    const int bytes = bits_of(x.dtype) / 8, num_sms = device_of(cx).properties().num_multiprocessors;
    if (x.is_static() && !is_quantized(region))
      if (const auto team = short_row_tile(at.outer, at.length, bytes, num_sms)) return team;
    return row_tile(at.outer, at.length, most.length, bytes, num_sms);
  }
  /// The shape that kernels see where x has the extents `at`.
  static NormalizationShape shape_of(const Extents& at, const steps::Normalization& step, const Format& format) {
    NormalizationShape shape;
    shape.rows = step.rows;
    shape.centered = step.centered;
    shape.length = volume(std::span(at).last(static_cast<size_t>(step.axes)));
    if (shape.rows) {
      shape.n = volume(at) / std::max<int64_t>(1, shape.length);
      return shape;
    }
    shape.n = at[0];
    shape.channels = at[1];
    shape.plane = volume(std::span(at).subspan(2));
    shape.groups = step.groups;
    shape.channels_last = !format.is_linear();
    return shape;
  }
};

}  // namespace

const Tactic& normalization_tactic() { return the<NormalizationTactic>(); }

template <>
TacticList tactics_of<ops::Normalization>() {
  return list_of<NormalizationTactic>();
}

}  // namespace kiln::cuda
