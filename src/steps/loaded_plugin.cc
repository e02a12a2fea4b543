#include "steps/loaded_plugin.h"

#include <atomic>

#include "steps/keeps_state.h"

namespace kiln {
namespace {

/// A plugin in a context, and the binding whose shapes it was told last.
struct AttachedPlugin final : StateObject {
  std::unique_ptr<PluginInstance> instance;
  uint64_t shapes_of = 0;
};

std::vector<PluginTensor> tensors_of(const std::vector<StepTensor>& types, std::span<const Extents> extents) {
  std::vector<PluginTensor> result;
  for (size_t i = 0; i < types.size(); ++i) result.push_back({types[i].dtype, types[i].format, extents[i], {}, {}, {}});
  return result;
}

class BoundPlugin final : public BoundStep {
 public:
  BoundPlugin(const steps::Plugin& step, const StepTypes& types, const PluginSurface& surface, AttachedPlugin& attached,
              const StepShapes& shapes)
      : step_(step),
        surface_(surface),
        attached_(attached),
        id_(++num_made),
        inputs_(tensors_of(types.inputs, shapes.inputs)),
        outputs_(tensors_of(types.outputs, shapes.outputs)),
        at_(types.inputs.size()) {
    for (size_t i = 0; i < outputs_.size(); ++i)
      for (const int axis : step.decided_axes[i]) outputs_[i].extents[static_cast<size_t>(axis)] = -1;
  }
  /// For a step without a state: the plugin is this binding's own.
  void own(std::unique_ptr<AttachedPlugin> attached) { own_ = std::move(attached); }

  int64_t workspace_bytes() const override { return step_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    if (attached_.shapes_of != id_) {
      attached_.shapes_of = 0;
      TRY(attached_.instance->change_shapes(inputs_, outputs_));
      attached_.shapes_of = id_;
    }
    for (size_t i = 0; i < at_.size(); ++i) at_[i] = surface_.input(run, i);
    TRY(attached_.instance->enqueue({at_.data(), run.outputs, run.workspace, surface_.stream(run)}));
    for (size_t k = 0; k < step_.size_outputs.size(); ++k) {
      const auto output = static_cast<size_t>(step_.size_outputs[k]);
      TRY(surface_.tell_size(run, k, run.outputs[output], outputs_[output].dtype));
    }
    return {};
  }

 private:
  static inline std::atomic<uint64_t> num_made = 0;

  const steps::Plugin& step_;
  const PluginSurface& surface_;
  AttachedPlugin& attached_;
  const uint64_t id_;
  std::vector<PluginTensor> inputs_, outputs_;
  std::vector<const void*> at_;
  std::unique_ptr<AttachedPlugin> own_;
};

class LoadedPlugin final : public KeepsState {
 public:
  LoadedPlugin(const steps::Plugin& step, const StepTypes& types, std::unique_ptr<const PluginSurface> surface)
      : step_(step), types_(types), surface_(std::move(surface)) {}
  std::vector<std::byte> initial_state() const override { return {}; }
  Result<std::unique_ptr<StateObject>> initial_object() const override { return TRY(attach()); }

 private:
  Result<std::unique_ptr<AttachedPlugin>> attach() const {
    auto attached = std::make_unique<AttachedPlugin>();
    attached->instance = TRY(step_.object->attach(step_.tactic));
    return attached;
  }
  BindResult bind_checked(const StepShapes& shapes, std::byte* state) const override {
    if (state)
      return std::make_unique<BoundPlugin>(
          step_, types_, *surface_, static_cast<AttachedPlugin&>(*reinterpret_cast<StateObject*>(state)), shapes);
    auto attached = TRY(attach());
    auto bound = std::make_unique<BoundPlugin>(step_, types_, *surface_, *attached, shapes);
    bound->own(std::move(attached));
    return bound;
  }

  const steps::Plugin step_;
  const StepTypes types_;
  const std::unique_ptr<const PluginSurface> surface_;
};

}  // namespace

LoadResult load_plugin(const steps::Plugin& step, const StepTypes& types,
                       std::unique_ptr<const PluginSurface> surface) {
  if (!step.object)
    return error(Code::kNotFound, step.plugin, " was not made: who reads a plan has to look for its creator first");
  return std::make_unique<LoadedPlugin>(step, types, std::move(surface));
}

}  // namespace kiln
