#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

/// Normalisation, and a Quantize behind one of rows.
const Tactic& normalization_tactic();

}  // namespace kiln::cuda
