/// The CPU's tactics by op (tactics/registry.h): a list in tactics/<op>.cc, or a line in plain.cc where the op's step
/// leaves nothing to choose.
#pragma once

#include "tactics/registry.h"
#include "tactics/step_draft.h"

namespace kiln::cpu {

/// Specialised once an op. Tactics whose region may be *rooted* (end) at T, likeliest first.
template <class T>
TacticList tactics_of();

/// The tactics of an op, by its info; empty for one that only the reference runs.
TacticList tactics_for(const OpInfo& op);

/// A step of this backend, with nothing to choose.
inline StepDraft cpu_step(StepDraft draft) {
  draft.executor = "cpu";
  return draft;
}
inline StepDraft cpu_step(AnyStep step) { return {.executor = "cpu", .step = std::move(step)}; }
/// A step of this backend, with what was chosen for it.
template <Reflected Tuning>
StepDraft cpu_step(AnyStep step, const Tuning& tuning) {
  StepDraft draft = cpu_step(std::move(step));
  draft.tuning = to_record(tuning);
  return draft;
}

/// Runs what Regions claim, a base whose `draft` says by which step.
template <class Regions>
class PlainTactic : public Regions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return cpu_step(TRY(Regions::draft(cx, region, variant)));
  }
};

}  // namespace kiln::cpu
