/// The parts of a step list that are bound one after the other, where data decides sizes.
#pragma once

#include "plan/plan.h"

namespace kiln::plan {

/// Steps from one to the next segment's first, or to the last one.
struct Segment {
  size_t first = 0, end = 0;
  bool operator==(const Segment&) const = default;
};

/// By tensor of a block: whether a step of the segment reads or writes it.
std::vector<bool> tensors_of(const Block& block, const Segment& segment);

/// The segments of each block: of the profiles, then of the plan's bodies.
using Segments = std::vector<std::vector<Segment>>;

/// The segments of the plan's blocks, as few as there can be: no step reads a size that a step of its own segment
/// decides, nor does a body of it. A block has one where no step decides any. Fails (kCorrupt) where a step, a body or
/// an output reads a symbol that nothing before it binds, or where two bind one. The indices of bodies are checked.
Result<Segments> segments_of(const Plan& plan);

}  // namespace kiln::plan
