/// Softmax with rows in registers: kernels/lanes.
#include "tactics/softmax.h"

#include "backend/cuda/compile/lanes/softmax.h"
#include "backend/cuda/compile/lanes/tile.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {
namespace {

/// `fixed`: all rows are of this length.
std::optional<RowTile> tile_of(const LaneExtents& at, int64_t most_cols, bool fixed, int element_bytes, int num_sms) {
  if (fixed)
    if (const auto team = short_row_tile(at.outer, at.length, element_bytes, num_sms)) return team;
  if (fixed && element_bytes == 2)
    if (const auto odd = odd_row_tile(at.outer, at.length, num_sms)) return odd;
  return row_tile(at.outer, at.length, most_cols, element_bytes, num_sms);
}

class SoftmaxTactic final : public SoftmaxRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const Format& format = variant.inputs[0];
    const steps::Softmax softmax = step_of(cx, region, variant);
    const LaneExtents at = softmax.lanes(format, x.opt_extents()), most = softmax.lanes(format, x.max_extents());
    SoftmaxTuning tuning;
    if (most.inner > 1) {
      SoftmaxColumns& columns = tuning.columns.emplace();
      columns.held = held_of_columns(at.length, most.length);
      const int vec = vector_width(at.inner, bits_of(x.dtype) / 8);
      columns.vec = vector_of_columns(columns.held, vec);
      if (bits_of(x.dtype) == 16 && at.length == most.length)
        if (const int wide = vector_of_stored_columns({at.outer, at.length, at.inner}, vec); wide > 1)
          columns.stored = true, columns.vec = wide;
    } else {
      const bool fixed = x.shape[static_cast<size_t>(format.axis_at(softmax.axis))].is_const();
      tuning.tile =
          tile_of(at, most.length, fixed, bits_of(x.dtype) / 8, device_of(cx).properties().num_multiprocessors);
    }
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)), tuning);
    step.binary = TRY(compile_kernel(cx, softmax_source(x.dtype, tuning)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Softmax>() {
  return list_of<SoftmaxTactic>();
}

}  // namespace kiln::cuda
