#include "runtime/engine.h"

#include <algorithm>
#include <map>

#include "base/hash.h"

namespace kiln::runtime {
namespace {

StepSpec spec_of(const plan::Plan& plan, const plan::Profile& profile, const plan::Step& step) {
  StepSpec spec{step.kernel, step.payload, {}, {}, static_cast<int>(step.params.size())};
  if (step.binary >= 0) spec.binary = plan.binaries[static_cast<size_t>(step.binary)].value.bytes();
  const auto describe = [&](int id) {
    const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
    return StepTensor{t.dtype, t.format, static_cast<int>(t.extents.size()), t.place != plan::Place::kAbsent};
  };
  for (const int id : step.inputs) spec.inputs.push_back(describe(id));
  for (const int id : step.outputs) spec.outputs.push_back(describe(id));
  return spec;
}

/// What makes two steps the same to `Executor::load`: the spec and which weights it gets.
Hash128 key_of(const plan::Step& step, const StepSpec& spec, std::span<const int> weights) {
  std::string text = str(step.executor, '/', step.kernel, '/', spec.num_params, '/', weights, '/', step.binary);
  for (const auto* tensors : {&spec.inputs, &spec.outputs}) {
    text += '|';
    for (const StepTensor& t : *tensors) text += str(t.dtype, t.format, t.rank, t.present);
  }
  return combine(hash128(std::string_view(text)), hash128(step.payload));
}

}  // namespace

Result<std::shared_ptr<const Engine>> Engine::load(std::shared_ptr<const plan::Plan> plan, Device& device, Log& log,
                                                   std::shared_ptr<Allocator> memory) {
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), device, std::move(memory)));
  std::map<Hash128, std::shared_ptr<const LoadedStep>> loaded;
  int64_t packed = 0;
  for (const plan::Profile& profile : engine->plan_->profiles) {
    auto& steps = engine->steps_.emplace_back();
    engine->branches_.push_back(device.is_host() ? Branches{} : branches_of(profile));
    for (const plan::Step& step : profile.steps) {
      StepSpec spec = spec_of(*engine->plan_, profile, step);
      spec.memory = engine->memory_.get();
      std::vector<const HostTensor*> constants;
      std::vector<int> weights;
      for (const int id : step.inputs) {
        const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
        const bool is_weight = t.place == plan::Place::kWeight;
        weights.push_back(is_weight ? t.index : -1);
        constants.push_back(is_weight ? &engine->plan_->weights[static_cast<size_t>(t.index)].value : nullptr);
      }
      auto& entry = loaded[key_of(step, spec, weights)];
      if (!entry) {
        Executor& executor = TRY(device.executor(step.executor));
        entry = TRY(in_context(executor.load(spec, constants), [&] { return str("step '", step.name, "'"); }));
        packed += entry->packed_bytes();
      }
      steps.push_back(entry);
    }
  }
  log.verbose("loaded ", loaded.size(), " steps, ", packed, " bytes of packed weights");
  return engine;
}

Result<Buffer> Engine::allocate(int64_t size_bytes) const {
  return memory_ ? memory_->allocate(size_bytes) : device_.allocate(size_bytes);
}

Result<std::vector<Extents>> Engine::tensor_extents(int profile, std::span<const int64_t> symbols) const {
  const auto& tensors = plan_->profiles[static_cast<size_t>(profile)].tensors;
  std::vector<Extents> result(tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    for (const sym::Program& extent : tensors[t].extents)
      result[t].push_back(
          TRY(in_context(extent.run(symbols), [&] { return str("shape of '", tensors[t].name, "'"); })));
  return result;
}

Result<std::unique_ptr<BoundStep>> Engine::bind_step(int profile, int step, std::span<const Extents> tensor_extents,
                                                     std::span<const int64_t> symbols) const {
  const plan::Step& planned = plan_->profiles[static_cast<size_t>(profile)].steps[static_cast<size_t>(step)];
  std::vector<Extents> inputs, outputs;
  std::vector<int64_t> params;
  for (const int id : planned.inputs) inputs.push_back(tensor_extents[static_cast<size_t>(id)]);
  for (const int id : planned.outputs) outputs.push_back(tensor_extents[static_cast<size_t>(id)]);
  for (const sym::Program& param : planned.params) params.push_back(TRY(param.run(symbols)));
  const LoadedStep& loaded = *steps_[static_cast<size_t>(profile)][static_cast<size_t>(step)];
  return in_context(loaded.bind({inputs, outputs, params}), [&] { return str("step '", planned.name, "'"); });
}

int64_t Engine::memory_bytes(int profile) const {
  const plan::Profile& p = plan_->profiles[static_cast<size_t>(profile)];
  return aligned_bytes(p.arena_bytes) + branches(profile).num_streams * aligned_bytes(p.workspace_bytes);
}

int Engine::num_aux_streams() const {
  int most = 1;
  for (const Branches& branches : branches_) most = std::max(most, branches.num_streams);
  return most - 1;
}

int64_t Engine::max_memory_bytes() const {
  int64_t result = 0;
  for (int i = 0; i < num_profiles(); ++i) result = std::max(result, memory_bytes(i));
  return result;
}

namespace {
int index_named(const std::vector<plan::IoTensor>& tensors, std::string_view name) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == name) return static_cast<int>(i);
  return -1;
}
}  // namespace

int Engine::input_named(std::string_view name) const { return index_named(plan_->inputs, name); }
int Engine::output_named(std::string_view name) const { return index_named(plan_->outputs, name); }

}  // namespace kiln::runtime
