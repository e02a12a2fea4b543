/// A graph run by one variant of one tactic, chosen by a test. No pass runs.
#pragma once

#include <compare>
#include <set>
#include <string>

#include "device_run.h"
#include "tactics/choices.h"

namespace kiln {

struct OneVariant {
  std::string tactic, variant;
  auto operator<=>(const OneVariant&) const = default;
};

/// Level 5: all variants, however slow they look.
inline constexpr int kAllVariants = 5;

/// Runs a lowered graph, whose shapes are static, with `wanted` among its steps. Fails where the cover has another one.
Result<DeviceRun> run_by(const OneVariant& wanted, const TacticContext& cx, Backend& backend,
                         std::span<const HostTensor> inputs);

}  // namespace kiln
