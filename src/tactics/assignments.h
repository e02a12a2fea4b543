/// Tactics that a timing cache assigns to ops: what a build chose for each op, which a program may change for the next.
#pragma once

#include <vector>

#include "base/log.h"
#include "tactics/choices.h"
#include "tactics/timing_cache.h"

namespace kiln {

/// Identifies the nodes of a region in a timing cache: their places, names, ops and types, and what timings depend on.
/// Two regions that do the same in two places are two ops.
Hash128 op_key(const TacticContext& cx, const Region& region);
/// Identifies a compiled candidate among those of its op.
uint64_t tactic_hash(const TacticContext& cx, const Region& region, const Candidate& candidate);

/// Leaves only the assigned candidate in `group`, whose choices have the same nodes and are compiled. The search then
/// prefers it to whatever else there is. Fails where the assigned one is none of them, or failed.
Status assign(const TacticContext& cx, Choices& choices, const std::vector<size_t>& group,
              const TimingCache::Assignment& assigned);

/// Writes what there was to choose from to the verbose log, as TensorRT does for an editable cache, and the chosen one
/// to the cache too. `group` is as above, and holds the choice `chosen`, of which it is that candidate.
void record_assignment(const TacticContext& cx, const Choices& choices, const std::vector<size_t>& group, size_t chosen,
                       size_t candidate, TimingCache& cache, Log& log);

}  // namespace kiln
