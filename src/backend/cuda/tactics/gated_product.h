/// Gated linear units: a product by a constant, of whose columns two make one result.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& gated_product_tactic();

}  // namespace kiln::cuda
