/// A small plan that uses every field, for tests.
#pragma once

#include "plan/plan.h"

namespace kiln::plan {

/// y = relu(x * w), with a batch of 1 to 4, a view, an absent input, a shape input, an output for shapes, and a step on
/// an auxiliary stream.
Plan sample_plan();

/// Equal in all that is written, elements of weights included.
bool same(const Plan& a, const Plan& b);

}  // namespace kiln::plan
