/// Boundaries of groups: the ops that say where a loop or a conditional begins and ends while a network is being built.
#pragma once

#include "ops/op.h"

namespace kiln {

/// Fails: `structure_regions` replaces boundaries by ops::Loop and ops::If, which have a meaning, before anything runs.
Status boundary_has_no_reference(std::string_view op);

}  // namespace kiln
