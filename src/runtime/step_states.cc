#include "runtime/step_states.h"

#include <algorithm>

namespace kiln::runtime {

Result<std::byte*> StepStates::of(const KeepsState& step, const plan::Profile& profile, size_t s) {
  const std::string& name = profile.steps[s].name;
  const std::span<const plan::Step> before = std::span(profile.steps).first(s);
  const std::ptrdiff_t place = std::ranges::count(before, name, &plan::Step::name);
  if (const auto found = objects_.find({name, place, &step}); found != objects_.end())
    return reinterpret_cast<std::byte*>(found->second.get());
  const std::vector<std::byte> initial = step.initial_state();
  const Key key(name, place, initial.size());
  if (const auto found = states_.find(key); found != states_.end()) return found->second.data();
  if (initial.empty()) {
    auto object = TRY(step.initial_object());
    if (!object) return nullptr;
    return reinterpret_cast<std::byte*>(
        objects_.emplace(std::tuple(name, place, &step), std::move(object)).first->second.get());
  }
  Buffer made;
  TRY(engine_.upload(initial, made));
  return states_.emplace(key, std::move(made)).first->second.data();
}

Status StepStates::make_objects(int profile) {
  const plan::Profile& block = engine_.plan().profiles[static_cast<size_t>(profile)];
  for (size_t s = 0; s < block.steps.size(); ++s)
    for (const auto& loaded : engine_.kernels(profile, s))
      if (const KeepsState* const keeps = loaded->keeps_state(); keeps && keeps->initial_state().empty())
        static_cast<void>(
            TRY(in_context(of(*keeps, block, s), [&] { return str("step '", block.steps[s].name, "'"); })));
  return {};
}

}  // namespace kiln::runtime
