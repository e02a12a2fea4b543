/// Variants for shapes far from the optimum.
#pragma once

#include "tactics/cover.h"

namespace kiln {

/// A cover is chosen at the profile's optimum. Where its range is wide, asks the tactics again at some shapes between
/// the minimum and the maximum, and gives a tile the variants that are much faster there than its own. Formats, regions
/// and tactics stay. Moves the optimum of the graph's symbols meanwhile.
Status add_alternatives(const TacticContext& cx, const Backend& backend, Timing& timing, Cover& cover, Log& log);

}  // namespace kiln
