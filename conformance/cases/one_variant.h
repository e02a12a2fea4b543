/// A graph run by one variant of one tactic, chosen by a test. No pass runs.
#pragma once

#include <compare>
#include <set>
#include <string>

#include "base/function_ref.h"
#include "device_run.h"
#include "ops/testing/case.h"
#include "tactics/choices.h"

namespace kiln {

struct OneVariant {
  std::string tactic, variant;
  auto operator<=>(const OneVariant&) const = default;
};

/// Level 5: all variants, however slow they look.
inline constexpr int kAllVariants = 5;

/// Chooses the variants that are to run a lowered graph.
using Selection = FunctionRef<Result<std::set<OneVariant>>(const TacticContext& cx)>;

/// Runs a case, whose shapes are static, by each variant that `select` gives of its lowered graph, and expects the
/// reference's results. Returns how many ran.
int run_by_each(const Case& c, Backend& backend, const Numerics& numerics, Selection select);

}  // namespace kiln
