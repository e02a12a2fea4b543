#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

const Tactic& pointwise_depthwise_tactic();

}  // namespace kiln::cpu
