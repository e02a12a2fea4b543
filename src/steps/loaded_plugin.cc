#include "steps/loaded_plugin.h"

#include <algorithm>
#include <atomic>

#include "steps/keeps_state.h"

namespace kiln {
namespace {

/// A plugin in a context, and the binding whose shapes it was told last.
struct AttachedPlugin final : StateObject {
  std::unique_ptr<PluginInstance> instance;
  uint64_t shapes_of = 0;
};

/// `scales` are those of these tensors and of more behind them, or none.
std::vector<PluginTensor> tensors_of(const std::vector<StepTensor>& types, std::span<const Extents> extents,
                                     std::span<const double> scales) {
  std::vector<PluginTensor> result;
  for (size_t i = 0; i < types.size(); ++i) {
    const double scale = scales.empty() ? 1 : scales[i];
    result.push_back({types[i].dtype, types[i].format, extents[i], {}, {}, {}, static_cast<float>(scale)});
  }
  return result;
}

std::span<const double> scales_of_outputs(const steps::Plugin& step, const StepTypes& types) {
  return step.scales.empty() ? std::span<const double>() : std::span(step.scales).subspan(types.inputs.size());
}

Result<std::unique_ptr<AttachedPlugin>> attach(const steps::Plugin& step) {
  auto attached = std::make_unique<AttachedPlugin>();
  attached->instance = TRY(step.object->attach(step.tactic));
  return attached;
}

class BoundPlugin final : public BoundStep {
 public:
  /// `attached` is the context's; null: each binding has a plugin of its own, from its first run on.
  BoundPlugin(const steps::Plugin& step, const StepTypes& types, const PluginDevice& device, AttachedPlugin* attached,
              const StepShapes& shapes)
      : step_(step),
        device_(device),
        attached_(attached),
        id_(++num_made),
        inputs_(tensors_of(types.inputs, shapes.inputs, step.scales)),
        outputs_(tensors_of(types.outputs, shapes.outputs, scales_of_outputs(step, types))),
        writes_(std::ranges::all_of(shapes.outputs,
                                    [](const Extents& extents) { return std::ranges::count(extents, 0) > 0; })
                    ? PluginDevice::Writes::kNothing
                    : PluginDevice::Writes::kOutputs),
        at_(types.inputs.size()) {
    for (size_t i = 0; i < outputs_.size(); ++i)
      for (const int axis : step.decided_axes[i]) outputs_[i].extents[static_cast<size_t>(axis)] = -1;
  }

  int64_t workspace_bytes() const override { return step_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    if (!attached_) {
      own_ = TRY(attach(step_));
      attached_ = own_.get();
    }
    if (attached_->shapes_of != id_) {
      attached_->shapes_of = 0;
      TRY(attached_->instance->change_shapes(inputs_, outputs_));
      attached_->shapes_of = id_;
    }
    for (size_t i = 0; i < at_.size(); ++i) at_[i] = device_.input(run, i);
    TRY(device_.enqueue(*attached_->instance, {at_.data(), run.outputs, run.workspace, device_.stream(run)}, run,
                        writes_));
    for (size_t k = 0; k < step_.size_outputs.size(); ++k) {
      const auto output = static_cast<size_t>(step_.size_outputs[k]);
      TRY(device_.tell_size(run, k, run.outputs[output], outputs_[output].dtype));
    }
    return {};
  }

 private:
  static inline std::atomic<uint64_t> num_made = 0;

  const steps::Plugin& step_;
  const PluginDevice& device_;
  AttachedPlugin* attached_;
  const uint64_t id_;
  std::vector<PluginTensor> inputs_, outputs_;
  const PluginDevice::Writes writes_;
  std::vector<const void*> at_;
  std::unique_ptr<AttachedPlugin> own_;
};

class LoadedPlugin final : public KeepsState {
 public:
  LoadedPlugin(const steps::Plugin& step, const StepTypes& types, std::unique_ptr<const PluginDevice> device)
      : step_(step), types_(types), device_(std::move(device)) {}
  std::vector<std::byte> initial_state() const override { return {}; }
  Result<std::unique_ptr<StateObject>> initial_object() const override { return TRY(attach(step_)); }
  bool runs_for_nothing() const override { return true; }

 private:
  BindResult bind_checked(const StepShapes& shapes, std::byte* state) const override {
    auto* const attached = static_cast<AttachedPlugin*>(reinterpret_cast<StateObject*>(state));
    return std::make_unique<BoundPlugin>(step_, types_, *device_, attached, shapes);
  }

  const steps::Plugin step_;
  const StepTypes types_;
  const std::unique_ptr<const PluginDevice> device_;
};

}  // namespace

LoadResult load_plugin(const steps::Plugin& step, const StepTypes& types, std::unique_ptr<const PluginDevice> device) {
  if (!step.object)
    return error(Code::kNotFound, step.plugin,
                 " has no plugin object: find its creator and make one before the plan is loaded");
  return std::make_unique<LoadedPlugin>(step, types, std::move(device));
}

}  // namespace kiln
