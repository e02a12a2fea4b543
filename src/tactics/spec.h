/// A compiled variant as an executor loads it.
#pragma once

#include "steps/executor.h"
#include "tactics/tactic.h"

namespace kiln {

/// The draft's step with the types of its tensors. It borrows the draft's code.
StepSpec spec_of(const ir::Graph& graph, const Region& region, const Variant& variant, const StepDraft& draft);

}  // namespace kiln
