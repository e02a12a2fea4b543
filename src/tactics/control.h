/// The tactic of ops with bodies: a step whose bodies the builder covers as graphs of their own.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

const Tactic& control_tactic();

}  // namespace kiln
