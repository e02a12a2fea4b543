/// The weights of a plan as what they are made of: named sources, and ops that derive the rest.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace kiln::runtime {

/// New elements by the names of sources.
using NewWeights = std::map<std::string, HostTensor, std::less<>>;

/// Sources that weights of the plan are made of, and that may be replaced.
std::vector<std::string> replaceable(const plan::Plan& plan);

/// Sources that have to be given beside these: weights are made of both, and the plan has not their elements.
std::vector<std::string> missing(const plan::Plan& plan, std::span<const std::string_view> given);

/// The plan with the weights that follow from new elements: by the ops that made those it has, so that a build of these
/// elements gives the same bits. Weights of other sources stay. Fails where a source is unknown, is of another type or
/// extents, is fixed and its elements change, or where others are missing.
Result<plan::Plan> with_weights(plan::Plan plan, const NewWeights& weights);

}  // namespace kiln::runtime
