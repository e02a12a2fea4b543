/// The parts of a step list that are bound one after the other, where data decides sizes.
#pragma once

#include "plan/plan.h"

namespace kiln::plan {

/// Steps from one to the next segment's first, or to the last one.
struct Segment {
  size_t first = 0, end = 0;
  bool operator==(const Segment&) const = default;
};

/// The segments of a profile, as few as there can be: no step reads a size that a step of its own segment decides.
/// There is one where no step decides any. Fails (kCorrupt) where a step or an output reads a symbol that nothing
/// before it binds, or where two bind one.
Result<std::vector<Segment>> segments_of(const Plan& plan, const Profile& profile);

}  // namespace kiln::plan
