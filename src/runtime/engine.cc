#include "runtime/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "plan/control.h"

namespace kiln::runtime {

Engine::Engine(const plan::Plan& plan, Device& device, std::shared_ptr<Allocator> memory)
    : plan_(plan),
      device_(device),
      memory_(std::move(memory)),
      weights_(plan_),
      packed_weights_(plan_),
      blocks_(plan::blocks_of(plan_)) {
  for (const bool is_input : {true, false}) {
    const auto& tensors = is_input ? plan_.inputs : plan_.outputs;
    for (size_t i = 0; i < tensors.size(); ++i)
      surface_.emplace(tensors[i].name, Surface{is_input, static_cast<int>(i)});
  }
}

Result<std::shared_ptr<const Engine>> Engine::load(std::shared_ptr<const plan::Plan> plan, Device& device, Log& log,
                                                   std::shared_ptr<Allocator> memory) {
  std::shared_ptr<Engine> engine(new Engine(*plan, device, std::move(memory)));
  plan.reset();  // holds weights that are about to be packed
  TRY(engine->weights_.order());
  const StepLoader loader(engine->plan_, engine->weights_, device, engine->memory_.get());
  std::map<Hash128, std::shared_ptr<const LoadedStep>> loaded;  // what is the same once
  int64_t packed_bytes = 0;
  const auto load = [&](const plan::Block& block, const plan::Step& step,
                        int kernel) -> Result<std::shared_ptr<const LoadedStep>> {
    auto& entry = loaded[loader.key(block, step, kernel)];
    if (entry) return entry;
    entry = TRY(loader.load(block, step, kernel));
    packed_bytes += entry->packed_bytes();
    return entry;
  };
  engine->segments_ = TRY(plan::segments_of(engine->plan_));
  for (const plan::Profile& profile : engine->plan_.profiles) {
    engine->branches_.push_back(device.is_host() ? Branches{} : branches_of(profile));
    engine->fixed_symbols_.emplace_back(engine->plan_, profile);
  }
  for (const plan::Block* block : engine->blocks_) {
    auto& steps = engine->steps_.emplace_back();
    for (const plan::Step& step : block->steps) {
      Loaded& added = steps.emplace_back();
      if (plan::is_control(step)) continue;
      added.push_back(TRY(load(*block, step, kOwnKernel)));
      for (size_t a = 0; a < step.alternatives.size(); ++a)
        added.push_back(TRY(load(*block, step, static_cast<int>(a))));
      if (device.is_host()) engine->packed_weights_.add(*block, step, added);
    }
  }
  log.verbose("loaded ", loaded.size(), " steps, ", packed_bytes, " bytes of packed weights");
  return engine;
}

Result<std::shared_ptr<const Engine>> Engine::with_weights(const NewWeights& weights, Log& log) const {
  auto plan = std::make_shared<const plan::Plan>(TRY(runtime::with_weights(TRY(whole_plan()), weights)));
  return load(std::move(plan), device_, log, memory_);
}

Result<Buffer> Engine::allocate(int64_t size_bytes) const {
  return memory_ ? memory_->allocate(size_bytes) : device_.allocate(size_bytes);
}

Status Engine::upload(std::span<const std::byte> bytes, Buffer& to, Allocator* memory) const {
  const std::unique_ptr<Stream> stream = TRY(device_.create_stream());
  const std::ptrdiff_t size = std::ssize(bytes);
  if (to.size_bytes() < size) to = TRY(memory ? memory->allocate(size) : allocate(size));
  return device_.copy_from_host(to.data(), bytes.data(), size, *stream);
}

Result<std::vector<Extents>> Engine::tensor_extents(int block, std::span<const int64_t> symbols,
                                                    const std::vector<bool>* only) const {
  return runtime::tensor_extents(this->block(block), symbols, only);
}

Extents Engine::fixed_extents(std::span<const sym::Program> programs) const {
  Extents result;
  for (size_t axis = 0; axis < programs.size(); ++axis) {
    const std::span<const sym::Program> program = programs.subspan(axis, 1);
    int64_t extent = fixed_symbols_.empty() ? -1 : fixed_symbols_[0].extents(program)[0];
    for (const FixedSymbols& profile : fixed_symbols_)
      if (profile.extents(program)[0] != extent) extent = -1;
    result.push_back(extent);
  }
  return result;
}

int Engine::nearest_tuning(int block, std::span<const int64_t> symbols) const {
  const std::vector<Extents>& tunings = this->block(block).tunings;
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

Result<std::unique_ptr<BoundStep>> Engine::bind_step(int block, int step, int tuning,
                                                     std::span<const Extents> tensor_extents,
                                                     std::span<const int64_t> symbols, StateSource states) const {
  const plan::Block& b = this->block(block);
  const std::vector<plan::Alternative>& others = b.steps[static_cast<size_t>(step)].alternatives;
  const auto found = std::ranges::find_if(others, [&](const plan::Alternative& other) {
    return std::ranges::find(other.tunings, tuning) != other.tunings.end();
  });
  if (found != others.end()) {
    auto bound =
        TRY(bind_kernel(block, step, static_cast<int>(found - others.begin()), tensor_extents, symbols, states));
    // The block's memory was measured at the tunings alone.
    if (bound->workspace_bytes() <= b.workspace_bytes) return bound;
  }
  return bind_kernel(block, step, kOwnKernel, tensor_extents, symbols, states);
}

Result<std::unique_ptr<BoundStep>> Engine::bind_kernel(int block, int step, int kernel,
                                                       std::span<const Extents> tensor_extents,
                                                       std::span<const int64_t> symbols, StateSource states) const {
  const plan::Step& planned = this->block(block).steps[static_cast<size_t>(step)];
  const Loaded& loaded = steps_[static_cast<size_t>(block)][static_cast<size_t>(step)];
  return bind(*loaded[static_cast<size_t>(kernel + 1)], planned, kernel, tensor_extents, symbols, states);
}

int64_t Engine::memory_bytes(int profile, std::optional<int64_t> workspace_bytes) const {
  const plan::Profile& p = plan_.profiles[static_cast<size_t>(profile)];
  const int64_t workspace = aligned_bytes(workspace_bytes.value_or(p.workspace_bytes));
  return aligned_bytes(p.arena_bytes) + branches(profile).num_streams * workspace;
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

std::optional<Engine::Surface> Engine::surface_named(std::string_view name) const {
  const auto found = surface_.find(name);
  return found == surface_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kiln::runtime
