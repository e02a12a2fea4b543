/// Recurrences whose input products are made (lower_recurrence.h): kernels/recurrence.
#include "tactics/recurrence.h"

#include "backend/cuda/compile/recurrence/recurrence.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/recurrence.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

using ops::Recurrence;

RecurrenceKernel kernel_of(const TacticContext& cx, const Region& region, const RecurrenceTuning& tuning) {
  const Recurrence& op = *cx.graph.node(region.nodes[0]).op.as<Recurrence>();
  const int64_t hidden = cx.graph.type(region.inputs[Recurrence::kR]).shape[2].value();
  return RecurrenceKernel::of(op, cx.graph.type(region.inputs[0]).dtype, hidden, tuning);
}

class RecurrenceTactic final : public RecurrenceRegions {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    if (cx.graph.node(root).inputs[Recurrence::kW] != ir::ValueId::kNone)
      return reject("w is there; the kernel takes products of the input");
    Match region = RecurrenceRegions::match(cx, root);
    if (!region || !variants(cx, *region).empty()) return region;
    return reject(validate(kernel_of(cx, *region, {})).error().message);
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const Recurrence& op = *cx.graph.node(region.nodes[0]).op.as<Recurrence>();
    const int64_t batch = x.opt_extents()[op.is_batch_major() ? 0 : 1];
    const bool clusters = device_of(cx).properties().compute_major >= 9;
    std::vector<Variant> result;
    for (const int64_t blocks : {8, 16, 4, 2, 1})
      for (const int64_t rows : {8, 4, 1}) {
        const RecurrenceTuning tuning{blocks, rows};
        const RecurrenceKernel kernel = kernel_of(cx, region, tuning);
        constexpr int64_t kLeastUnits = 8;  // else blocks wait for each other more than they compute
        if (blocks > 1 && (!clusters || kernel.units() < kLeastUnits)) continue;
        if (rows > 1 && rows >= 2 * batch) continue;
        const RecurrencePlace place = kernel.place(device_of(cx).properties().shared_bytes_per_block);
        if (!validate(kernel) || kernel.shared_bytes(place) > most_shared_bytes(cx)) continue;
        result.push_back(linear_variant(region, str("clusters of ", blocks, ", ", rows, " rows")));
        result.back().params = to_record(tuning);
      }
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto tuning = TRY(from_record<RecurrenceTuning>(variant.params));
    const RecurrenceKernel kernel = kernel_of(cx, region, tuning);
    const RecurrencePlace place = kernel.place(device_of(cx).properties().shared_bytes_per_block);
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)), tuning);
    step.binary = TRY(compile_kernel(cx, recurrence_source(kernel, place)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<Recurrence>() {
  return list_of<RecurrenceTactic>();
}

}  // namespace kiln::cuda
