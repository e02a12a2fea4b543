/// The shapes of a profile at which steps are asked how much memory they take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace kiln {

/// The plan's symbols at an end of the profile's ranges, or their optimum.
std::vector<int64_t> symbols_at(const plan::Plan& plan, const plan::Profile& profile, Extents plan::InputRange::*end);

/// Whether a network can have these shapes under the profile, and a body with these guards can run at them.
bool agrees(const plan::Plan& plan, const plan::Profile& profile, const std::vector<int64_t>& symbols,
            std::span<const sym::Guard> of_body = {});

/// The plan's symbols where the profile's extents are largest. That is one point, its maxima, unless assumptions tie
/// extents together: then each of those may also be 1, or what another one is at most, and points at which they agree
/// count, the largest first. Where no point agrees, it is one that does not. `of_body` are further assumptions.
std::vector<std::vector<int64_t>> largest_symbols(const plan::Plan& plan, const plan::Profile& profile,
                                                  std::span<const sym::Guard> of_body = {});

}  // namespace kiln
