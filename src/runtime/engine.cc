#include "runtime/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/hash.h"
#include "tensor/memory_order.h"

namespace kiln::runtime {
namespace {

/// What is loaded for a step: its own kernel, or an alternative's.
struct Kernel {
  const std::string& name;
  const Record& payload;
  int binary;
  const std::vector<sym::Program>& params;

  explicit Kernel(const plan::Step& step)
      : name(step.kernel), payload(step.payload), binary(step.binary), params(step.params) {}
  explicit Kernel(const plan::Alternative& other)
      : name(other.kernel), payload(other.payload), binary(other.binary), params(other.params) {}
};

StepSpec spec_of(const plan::Plan& plan, const plan::Profile& profile, const plan::Step& step, const Kernel& kernel) {
  StepSpec spec{kernel.name, kernel.payload, {}, {}, static_cast<int>(kernel.params.size())};
  if (kernel.binary >= 0) spec.binary = plan.binaries[static_cast<size_t>(kernel.binary)].value.bytes();
  const auto describe = [&](int id) {
    const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
    return StepTensor{t.dtype, t.format, static_cast<int>(t.extents.size()), t.place != plan::Place::kAbsent};
  };
  for (const int id : step.inputs) spec.inputs.push_back(describe(id));
  for (const int id : step.outputs) spec.outputs.push_back(describe(id));
  return spec;
}

/// What makes two steps the same to `Executor::load`: the spec and which weights it gets.
Hash128 key_of(std::string_view executor, const StepSpec& spec, int binary, std::span<const int> weights) {
  std::string text = str(executor, '/', spec.kernel, '/', spec.num_params, '/', weights, '/', binary);
  for (const auto* tensors : {&spec.inputs, &spec.outputs}) {
    text += '|';
    for (const StepTensor& t : *tensors) text += str(t.dtype, t.format, t.rank, t.present);
  }
  return combine(hash128(std::string_view(text)), hash128(spec.payload));
}

}  // namespace

/// Loads what is the same once.
class Engine::Loader {
 public:
  explicit Loader(const Engine& engine) : engine_(engine), plan_(*engine.plan_) {}

  Result<Loaded> load(const plan::Profile& profile, const plan::Step& step) {
    Loaded result{TRY(load(profile, step, Kernel(step))), {}};
    for (const plan::Alternative& other : step.alternatives)
      result.alternatives.push_back(TRY(load(profile, step, Kernel(other))));
    return result;
  }
  std::string summary() const {
    return str("loaded ", loaded_.size(), " steps, ", packed_bytes_, " bytes of packed weights");
  }

 private:
  Result<std::shared_ptr<const LoadedStep>> load(const plan::Profile& profile, const plan::Step& step,
                                                 const Kernel& kernel) {
    StepSpec spec = spec_of(plan_, profile, step, kernel);
    spec.memory = engine_.memory_.get();
    std::vector<const HostTensor*> constants;
    std::vector<int> weights;
    for (const int id : step.inputs) {
      const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
      const bool is_weight = t.place == plan::Place::kWeight;
      weights.push_back(is_weight ? t.index : -1);
      constants.push_back(is_weight ? &engine_.weight(t) : nullptr);
    }
    auto& entry = loaded_[key_of(step.executor, spec, kernel.binary, weights)];
    if (!entry) {
      Executor& executor = TRY(engine_.device_.executor(step.executor));
      entry = TRY(in_context(executor.load(spec, constants), [&] { return str("step '", step.name, "'"); }));
      packed_bytes_ += entry->packed_bytes();
    }
    return entry;
  }

  const Engine& engine_;
  const plan::Plan& plan_;
  std::map<Hash128, std::shared_ptr<const LoadedStep>> loaded_;
  int64_t packed_bytes_ = 0;
};

Result<std::shared_ptr<const Engine>> Engine::load(std::shared_ptr<const plan::Plan> plan, Device& device, Log& log,
                                                   std::shared_ptr<Allocator> memory) {
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), device, std::move(memory)));
  TRY(engine->order_weights());
  Loader loader(*engine);
  for (const plan::Profile& profile : engine->plan_->profiles) {
    auto& steps = engine->steps_.emplace_back();
    engine->branches_.push_back(device.is_host() ? Branches{} : branches_of(profile));
    for (const plan::Step& step : profile.steps) steps.push_back(TRY(loader.load(profile, step)));
  }
  log.verbose(loader.summary());
  return engine;
}

/// A plan has its weights row-major, and each once; steps read them in formats of their own.
Status Engine::order_weights() {
  for (const plan::Profile& profile : plan_->profiles)
    for (const plan::Tensor& t : profile.tensors) {
      if (t.place != plan::Place::kWeight || t.format.is_linear()) continue;
      HostTensor& ordered = ordered_weights_[{t.index, t.format.text()}];
      if (!ordered.owner())
        ordered = TRY(in_memory_order(t.format, plan_->weights[static_cast<size_t>(t.index)].value));
    }
  return {};
}

const HostTensor& Engine::weight(const plan::Tensor& tensor) const {
  CHECK(tensor.place == plan::Place::kWeight);
  if (tensor.format.is_linear()) return plan_->weights[static_cast<size_t>(tensor.index)].value;
  return ordered_weights_.at({tensor.index, tensor.format.text()});
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

int Engine::nearest_tuning(int profile, std::span<const int64_t> symbols) const {
  const std::vector<Extents>& tunings = plan_->profiles[static_cast<size_t>(profile)].tunings;
  const auto octave = [](int64_t value) { return std::log2(static_cast<double>(std::max<int64_t>(value, 1))); };
  int nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < tunings.size(); ++t) {
    double apart = 0;
    for (size_t s = 0; s < symbols.size(); ++s) apart += std::abs(octave(symbols[s]) - octave(tunings[t][s]));
    if (apart < least) least = apart, nearest = static_cast<int>(t);
  }
  return nearest;
}

Result<std::unique_ptr<BoundStep>> Engine::bind_step(int profile, int step, int tuning,
                                                     std::span<const Extents> tensor_extents,
                                                     std::span<const int64_t> symbols, StateSource states) const {
  const plan::Profile& p = plan_->profiles[static_cast<size_t>(profile)];
  const std::vector<plan::Alternative>& others = p.steps[static_cast<size_t>(step)].alternatives;
  const auto found = std::ranges::find_if(others, [&](const plan::Alternative& other) {
    return std::ranges::find(other.tunings, tuning) != other.tunings.end();
  });
  if (found != others.end()) {
    auto bound =
        TRY(bind_kernel(profile, step, static_cast<int>(found - others.begin()), tensor_extents, symbols, states));
    // The profile's memory was measured at the tunings alone.
    if (bound->workspace_bytes() <= p.workspace_bytes) return bound;
  }
  return bind_kernel(profile, step, kOwnKernel, tensor_extents, symbols, states);
}

namespace {
/// A step all of whose outputs are empty. Beside an extent of 0 others may be of any size: kernels need not know.
class NothingToDo final : public BoundStep {
  Status run(const RunArguments&) override { return {}; }
};
bool is_empty(const Extents& extents) { return std::ranges::count(extents, 0) > 0; }
}  // namespace

Result<std::unique_ptr<BoundStep>> Engine::bind_kernel(int profile, int step, int kernel,
                                                       std::span<const Extents> tensor_extents,
                                                       std::span<const int64_t> symbols, StateSource states) const {
  const plan::Step& planned = plan_->profiles[static_cast<size_t>(profile)].steps[static_cast<size_t>(step)];
  const Loaded& loaded = steps_[static_cast<size_t>(profile)][static_cast<size_t>(step)];
  const auto other = static_cast<size_t>(kernel);
  const bool own = kernel == kOwnKernel;
  std::vector<Extents> inputs, outputs;
  std::vector<int64_t> params;
  for (const int id : planned.inputs) inputs.push_back(tensor_extents[static_cast<size_t>(id)]);
  for (const int id : planned.outputs) outputs.push_back(tensor_extents[static_cast<size_t>(id)]);
  for (const sym::Program& param : own ? planned.params : planned.alternatives[other].params)
    params.push_back(TRY(param.run(symbols)));
  const LoadedStep& it = own ? *loaded.step : *loaded.alternatives[other];
  const auto bind = [&]() -> Result<std::unique_ptr<BoundStep>> {
    const auto* keeps = dynamic_cast<const KeepsState*>(&it);
    std::byte* const state = keeps ? TRY(states(*keeps)) : nullptr;
    if (!outputs.empty() && std::ranges::all_of(outputs, is_empty)) return std::make_unique<NothingToDo>();
    return state ? keeps->bind_with_state({inputs, outputs, params}, state) : it.bind({inputs, outputs, params});
  };
  return in_context(bind(), [&] { return str("step '", planned.name, "'"); });
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
