#include "runtime/step_states.h"

#include <algorithm>

namespace kiln::runtime {

namespace {

StepName name_of(const plan::Block& block, size_t s) {
  const std::string& name = block.steps[s].name;
  return {name, std::ranges::count(std::span(block.steps).first(s), name, &plan::Step::name)};
}

}  // namespace

BodyPath path_of_body(const BodyPath& around, const plan::Block& block, size_t s, size_t index) {
  BodyPath path = around;
  path.emplace_back(name_of(block, s), index);
  return path;
}

Result<std::byte*> StepStates::of(const KeepsState& step, const plan::Block& block, size_t s, const BodyPath& around) {
  const StepName name = name_of(block, s);
  const std::tuple object_key(around, name, &step);
  if (const auto found = objects_.find(object_key); found != objects_.end())
    return reinterpret_cast<std::byte*>(found->second.get());
  const std::vector<std::byte> initial = step.initial_state();
  const Key key(around, name, initial.size());
  if (const auto found = states_.find(key); found != states_.end()) return found->second.data();
  if (initial.empty()) {
    auto object = TRY(step.initial_object());
    if (!object) return nullptr;
    return reinterpret_cast<std::byte*>(objects_.emplace(object_key, std::move(object)).first->second.get());
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
