#include "steps/executor.h"

#include "steps/keeps_state.h"

namespace kiln {
namespace {

/// What a step does not take is a fault of its plan: programs cannot ask for it.
template <class T>
Result<T> from_plan(Result<T> result) {
  if (result || (result.error().code != Code::kInvalidArgument && result.error().code != Code::kCorrupt)) return result;
  return error(Code::kCorrupt, result.error().message, ": the plan is damaged, build it again");
}

Result<AnyStep> step_of(const StepSpec& spec) {
  const StepKind* kind = find_step_kind(spec.kernel);
  if (!kind) return AnyStep();
  const AnyStep step = TRY(step_from_record(*kind, spec.payload));
  TRY(step.check(spec));
  return step;
}

}  // namespace

Status LoadedStep::check(const StepShapes& shapes) const {
  return step_ ? from_plan(step_.check(types_, shapes)) : Status();
}

Result<std::unique_ptr<BoundStep>> LoadedStep::bind(const StepShapes& shapes) const {
  TRY(check(shapes));
  return from_plan(bind_checked(shapes));
}

Result<std::unique_ptr<BoundStep>> KeepsState::bind_with_state(const StepShapes& shapes, std::byte* state) const {
  TRY(check(shapes));
  return from_plan(bind_checked(shapes, state));
}

Result<std::unique_ptr<LoadedStep>> Executor::load(const StepSpec& spec, std::span<const HostTensor* const> constants) {
  const AnyStep step = TRY(from_plan(step_of(spec)));
  std::unique_ptr<LoadedStep> loaded = TRY(from_plan(load_checked(spec, step, constants)));
  loaded->step_ = step;
  if (step) loaded->types_ = spec;
  return loaded;
}

}  // namespace kiln
