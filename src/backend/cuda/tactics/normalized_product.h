/// Products by a constant, plain or gated, of rows that RMS normalization divides: the norm takes no step of its own.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& normalized_product_tactic();

}  // namespace kiln::cuda
