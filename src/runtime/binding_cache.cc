#include "runtime/binding_cache.h"

#include <algorithm>

#include "plan/control.h"
#include "plan/validate.h"
#include "runtime/control/control.h"
#include "runtime/tensor_places.h"

namespace kiln::runtime {

BindingCache::~BindingCache() {
  for (std::unique_ptr<Binding>& binding : bindings_) runner_.retire(std::move(binding));
}

Status BindingCache::bind(const ShapeState& shapes, const IoAddresses& addresses) {
  if (is_bound(shapes)) return {};
  if (!take_earlier(shapes)) TRY(make(shapes, addresses));
  bound_version_ = shapes.version();
  return {};
}

bool BindingCache::take_earlier(const ShapeState& shapes) {
  const auto found = std::ranges::find_if(bindings_, [&](const std::unique_ptr<Binding>& binding) {
    return binding->input_extents == shapes.all_input_extents() && binding->input_values == shapes.input_values();
  });
  if (found == bindings_.end()) return false;
  std::rotate(found, found + 1, bindings_.end());
  return true;
}

Status BindingCache::make(const ShapeState& shapes, const IoAddresses& addresses) {
  TRY(make_room());
  auto made = std::make_unique<Binding>(Binding{.id = ++num_made_,
                                                .profile_index = shapes.profile_index(),
                                                .profile = shapes.profile(),
                                                .growing = GrowingMemory(engine_),
                                                .input_extents = shapes.all_input_extents(),
                                                .input_values = shapes.input_values()});
  made->segments = engine_.segments(made->profile_index);
  made->later.resize(made->segments.size() - 1);
  made->steps.resize(made->profile.steps.size());
  made->sizes = TRY(SizeStore::create(made->profile, engine_.device()));
  TRY(bind_steps(*made, made->segments[0], shapes));
  made->symbols.assign(shapes.symbols().begin(), shapes.symbols().end());
  made->memory = TRY(memory_for(*made));
  made->memory_bytes = memory_.size_bytes();
  made->at = TRY(place_tensors(*made, made->segments[0], engine_, shapes, addresses, runner_));
  TRY(runner_.prepare(*made));
  bindings_.push_back(std::move(made));
  return {};
}

Status BindingCache::make_room() {
  const size_t most = runner_.most_bindings();
  if (bindings_.size() < most) return {};
  TRY(runner_.wait_idle());
  drop(bindings_.size() - most + 1);
  return {};
}

/// Drops the `count` bindings that were used longest ago. Their runs must be done.
void BindingCache::drop(size_t count) {
  if (count == 0) return;
  tell_faults();
  const auto end = bindings_.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto binding = bindings_.begin(); binding != end; ++binding) runner_.retire(std::move(*binding));
  bindings_.erase(bindings_.begin(), end);
  if (bindings_.empty()) bound_version_ = 0;
}

Status BindingCache::bind_later(size_t segment, const ShapeState& shapes, const IoAddresses& addresses) {
  Binding& binding = current();
  LaterSegment& later = binding.later[segment - 1];
  const bool is_bound = std::ranges::equal(later.symbols, shapes.symbols());
  const bool is_placed = is_bound && later.memory_version == binding.growing.version();
  if (!is_placed) runner_.forget(binding, segment);  // before its steps or its memory go
  if (!is_bound) {
    later.symbols.clear();
    tell_faults();  // of the run before, whose steps go
    TRY(bind_steps(binding, binding.segments[segment], shapes));
    TRY(make_workspace(binding));
    later.symbols.assign(shapes.symbols().begin(), shapes.symbols().end());
  }
  if (!is_placed) {
    later.at = TRY(place_tensors(binding, binding.segments[segment], engine_, shapes, addresses, runner_));
    later.memory_version = binding.growing.version();
  }
  later.at.set(addresses);
  return {};
}

/// Makes room for steps that want a larger workspace than any was expected to: nothing bounds their tensors. Earlier
/// runs are done.
Status BindingCache::make_workspace(Binding& binding) {
  if (engine_.memory_bytes(binding.profile_index, binding.workspace_bytes) <= binding.memory_bytes) return {};
  if (!TRY(reserve(engine_, binding.workspace, binding.workspace_bytes, 0, nullptr))) return {};
  for (size_t segment = 0; segment < binding.segments.size(); ++segment) runner_.forget(binding, segment);
  binding.at.workspace = binding.workspace.data();
  for (LaterSegment& later : binding.later) later.at.workspace = binding.workspace.data();
  return {};
}

/// Prepares a segment's steps. All symbols that they use must be known.
Status BindingCache::bind_steps(Binding& binding, const plan::Segment& segment, const ShapeState& shapes) {
  const int profile = binding.profile_index;
  const std::span<const int64_t> symbols = shapes.symbols();
  const std::vector<bool> used = plan::tensors_of(binding.profile, segment);
  const std::vector<bool>* const only = binding.later.empty() ? nullptr : &used;
  const std::vector<Extents> extents = TRY(engine_.tensor_extents(profile, symbols, only));
  const plan::Plan& plan = engine_.plan();
  TRY(plan::validate_extents(plan, binding.profile, {plan.inputs, plan.outputs, binding.input_extents}, symbols,
                             extents, only));
  TRY(binding.growing.reserve_outputs(binding.profile, segment, symbols, nullptr));
  const int tuning = engine_.nearest_tuning(profile, symbols);
  for (size_t s = segment.first; s < segment.end; ++s) {
    const auto states = [&](const KeepsState& step) { return states_.of(step, binding.profile, s); };
    binding.steps[s] = plan::is_control(binding.profile.steps[s])
                           ? TRY(bind_control({engine_,
                                               binding.profile,
                                               binding.profile.steps[s],
                                               symbols,
                                               extents,
                                               runner_,
                                               binding.growing,
                                               states_,
                                               {}}))
                           : TRY(engine_.bind_step(profile, static_cast<int>(s), tuning, extents, symbols, states));
    binding.workspace_bytes = std::max(binding.workspace_bytes, binding.steps[s]->workspace_bytes());
    if (!binding.steps[s]->has_check()) continue;
    has_checks_ = true;
    if (std::ranges::count(binding.checked_steps, s) == 0) binding.checked_steps.push_back(s);
  }
  return {};
}

/// Memory for a binding's tensors and workspaces. Where it has to grow, all that is bound in it goes. What steps of
/// later segments want is not known yet: it is at most what the profile's largest shapes take.
Result<std::byte*> BindingCache::memory_for(const Binding& binding) {
  int64_t needed = engine_.memory_bytes(binding.profile_index, binding.workspace_bytes);
  if (!binding.later.empty()) needed = std::max(needed, engine_.memory_bytes(binding.profile_index));
  if (memory_.must_grow(needed)) {
    TRY(runner_.wait_idle());
    clear();
  }
  return memory_.at_least(needed, runner_);
}

Status BindingCache::ask_steps(Runs which) {
  const std::string_view failed = which == Runs::kLatest ? "the run failed" : "an earlier run failed";
  for (const auto& binding : bindings_)
    for (const size_t s : binding->checked_steps)
      if (Status checked = binding->steps[s]->check(); !checked) [[unlikely]]
        return error(checked.error().code, failed, ": step '", binding->profile.steps[s].name,
                     "': ", checked.error().message);
  return {};
}

void BindingCache::tell_faults() {
  const Status checked = check_runs();
  if (!checked && settings_.faults) settings_.faults->faulted(checked.error(), nullptr);
}

}  // namespace kiln::runtime
