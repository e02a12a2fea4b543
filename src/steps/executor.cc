#include "steps/executor.h"

#include "steps/keeps_state.h"

namespace kiln {

Status LoadedStep::check(const StepShapes& shapes) const { return step_ ? step_.check(types_, shapes) : Status(); }

Result<std::unique_ptr<BoundStep>> LoadedStep::bind(const StepShapes& shapes) const {
  TRY(check(shapes));
  return bind_checked(shapes);
}

Result<std::unique_ptr<BoundStep>> KeepsState::bind_with_state(const StepShapes& shapes, std::byte* state) const {
  TRY(check(shapes));
  return bind_checked(shapes, state);
}

Result<std::unique_ptr<LoadedStep>> Executor::load(const StepSpec& spec, std::span<const HostTensor* const> constants) {
  if (!spec.step) return error(Code::kInternal, "a view has no step to load");
  TRY(spec.step.check(spec));
  std::unique_ptr<LoadedStep> loaded = TRY(load_checked(spec, constants));
  loaded->step_ = spec.step;
  loaded->types_ = spec;
  return loaded;
}

}  // namespace kiln
