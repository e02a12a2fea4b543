#include "api/entry/plugin_entry.h"

#include "api/build/expand_plugins.h"
#include "api/entry/status.h"
#include "ops/enqueue_kind.h"
#include "ops/roi_align.h"
#include "ops/scatter.h"
#include "plugin/failure_scope.h"

namespace kiln::api {
namespace {

KilnStatus set_expander(const KilnExpander* expander) {
  return entry_guard([&]() -> Status {
    TRY(require(!expander || (expander->expand && expander->words && expander->release && expander->needs_int32),
                "a function is null"));
    set_plugin_expander(expander);
    return {};
  });
}

/// Adds an op to a network that reads some of its tensors.
void* add_op(const char* call, void* network, const Op& op, std::initializer_list<void*> tensors) noexcept {
  auto& to = static_cast<Network&>(NetworkHandle::of(*static_cast<nv::INetworkDefinition*>(network)));
  return guard(to.reporter(), call, static_cast<void*>(nullptr), [&]() -> Result<void*> {
    std::vector<ir::ValueId> inputs;
    for (void* const tensor : tensors) {
      inputs.push_back(TRY(to.value_of(*static_cast<nv::ITensor*>(tensor), "input")));
      TRY(to.graph().inferred_type(inputs.back()));  // layers with setters are typed when they are first asked for it
    }
    nv::ITensor* const output = &to.tensor(TRY(to.graph().add(op, inputs))[0]);
    return static_cast<void*>(output);
  });
}

constexpr bool are_equal(KilnReduction entry, ScatterReduction op) {
  return static_cast<int32_t>(entry) == static_cast<int32_t>(op);
}
static_assert(are_equal(kKilnReplace, ScatterReduction::kNone));
static_assert(are_equal(kKilnSum, ScatterReduction::kSum));
static_assert(are_equal(kKilnProduct, ScatterReduction::kProd));
static_assert(are_equal(kKilnMaximum, ScatterReduction::kMax));
static_assert(are_equal(kKilnMinimum, ScatterReduction::kMin));

void* add_scatter_elements(void* network, void* data, void* indices, void* updates, int32_t axis,
                           KilnReduction reduction) {
  const ops::Scatter op{
      .mode = ScatterMode::kElement, .axis = axis, .reduction = static_cast<ScatterReduction>(reduction)};
  return add_op("add_scatter_elements", network, op, {data, indices, updates});
}

void* add_roi_align(void* network, void* x, void* rois, void* batch_indices, const KilnRoiAlign* how) {
  const ops::RoiAlign op{.mode = how->takes_maximum ? RoiMode::kMax : RoiMode::kAverage,
                         .height = how->height,
                         .width = how->width,
                         .sampling_ratio = how->sampling_ratio,
                         .spatial_scale = how->spatial_scale,
                         .half_pixel = how->half_pixel != 0};
  return add_op("add_roi_align", network, op, {x, rois, batch_indices});
}

}  // namespace

KilnEnqueueKind enqueue_kind() {
  static_assert(static_cast<int32_t>(EnqueueKind::kRecording) == kKilnRecording);
  static_assert(static_cast<int32_t>(EnqueueKind::kCapture) == kKilnCapture);
  return static_cast<KilnEnqueueKind>(EnqueueScope::kind());
}

int32_t tell_failure(const char* plugin, const char* words) {
  try {
    return int32_t{plugin::FailureScope::tell(plugin, words)};
  } catch (...) {  // there is no memory
    return 0;
  }
}

KilnPluginEntry plugin_entry() { return {set_expander, add_scatter_elements, add_roi_align}; }

}  // namespace kiln::api
