#include "steps/reference.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Reference>();

namespace kiln::steps {

Status Reference::check(const StepTypes&) const { return require(static_cast<bool>(op), "a reference of no op"); }

}  // namespace kiln::steps
