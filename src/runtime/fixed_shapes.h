/// Shapes that are known before anybody sets one: extents that a profile leaves no choice of.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace kiln::runtime {

/// The symbols that have one value only in a profile: its minimum is its maximum, or only one value is in the ranges of
/// all axes that the symbol names.
class FixedSymbols {
 public:
  FixedSymbols(const plan::Plan& plan, const plan::Profile& profile);
  /// Extents, with -1 where one depends on a symbol that has a choice.
  Extents extents(std::span<const sym::Program> programs) const;

 private:
  std::optional<int64_t> value_of(const sym::Program& program) const;

  std::vector<int64_t> values_;  ///< by symbol; 0 where it is not fixed
  std::vector<bool> fixed_;
};

}  // namespace kiln::runtime
