/// The fields of plugins in a plan.
#pragma once

#include "plan/plan.h"

namespace kiln {

/// Asks each plugin of a plan that was just built for what makes it again. The error names the step.
Status take_plugin_fields(plan::Plan& plan);

}  // namespace kiln
