#include "steps/reference.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Reference>();

namespace kiln::steps {

Status Reference::check(const StepTypes&) const { return require(static_cast<bool>(op), "a reference step has no op"); }

}  // namespace kiln::steps
