/// The CPU's tactics by op. Each op of ops.def has its list in tactics/<op>.cc, or a line in gaps.cc with the reason
/// why it has none; one that has neither fails to link.
#pragma once

#include <span>

#include "steps/step.h"
#include "tactics/tactic.h"

namespace kiln::cpu {

using TacticList = std::span<const Tactic* const>;

/// Specialised once an op. Tactics whose region may be *rooted* (end) at T, likeliest first.
template <class T>
TacticList tactics_of();

/// The tactics of an op, by its info; empty for one that only the reference runs.
TacticList tactics_for(const OpInfo& op);

/// A step of this backend, with nothing to choose.
inline StepDraft cpu_step(AnyStep step) { return {.executor = "cpu", .step = std::move(step)}; }
/// A step of this backend, with what was chosen for it.
template <Reflected Tuning>
StepDraft cpu_step(AnyStep step, const Tuning& tuning) {
  StepDraft draft = cpu_step(std::move(step));
  draft.tuning = to_record(tuning);
  return draft;
}

}  // namespace kiln::cpu
