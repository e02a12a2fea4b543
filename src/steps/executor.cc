#include "steps/executor.h"

#include "steps/keeps_state.h"

namespace kiln {
namespace {

/// A step that does not take its tensors is a damaged one, whoever made it.
Status corrupt(Status status) {
  if (status || status.error().code != Code::kInvalidArgument) return status;
  return error(Code::kCorrupt, status.error().message);
}

Result<AnyStep> step_of(const StepSpec& spec) {
  const StepKind* kind = find_step_kind(spec.kernel);
  if (!kind) return AnyStep();
  const AnyStep step = TRY(step_from_record(*kind, spec.payload));
  TRY(corrupt(step.check(spec)));
  return step;
}

}  // namespace

Status LoadedStep::check(const StepShapes& shapes) const {
  return step_ ? corrupt(step_.check(types_, shapes)) : Status();
}

Result<std::unique_ptr<BoundStep>> LoadedStep::bind(const StepShapes& shapes) const {
  TRY(check(shapes));
  return bind_checked(shapes);
}

Result<std::unique_ptr<BoundStep>> KeepsState::bind_with_state(const StepShapes& shapes, std::byte* state) const {
  TRY(check(shapes));
  return bind_checked(shapes, state);
}

Result<std::unique_ptr<LoadedStep>> Executor::load(const StepSpec& spec, std::span<const HostTensor* const> constants) {
  const AnyStep step = TRY(step_of(spec));
  std::unique_ptr<LoadedStep> loaded = TRY(load_checked(spec, step, constants));
  loaded->step_ = step;
  if (step) loaded->types_ = spec;
  return loaded;
}

}  // namespace kiln
