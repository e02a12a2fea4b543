/// How much scratch memory the steps of a new plan take.
#pragma once

#include "device/allocator.h"
#include "device/device.h"
#include "plan/plan.h"

namespace kiln {

/// Binds every step where the profile's extents are largest, as a context would, and alternatives at the shapes that
/// they were tuned for; writes what they take into the plan. A library may choose algorithms that take more at smaller
/// shapes: so steps are bound at the optimum and the minimum, too, where these are shapes that the network can have.
/// Weights on a device of its own take their memory from `memory`; null: the device.
Status measure_workspaces(plan::Plan& plan, Device& device, Allocator* memory);

}  // namespace kiln
