/// Sizes that data decides, as a list of steps has them.
#pragma once

#include "plan/plan.h"
#include "plan/segments.h"

namespace kiln::plan {

/// Whether some step decides a size.
bool decides_sizes(const Block& block);
/// Whether the run of a step decides an extent of the tensor.
bool decides_extent(const Step& step, const Tensor& tensor);
/// Whether it does so without a bound: only steps with bodies ask for memory while they run.
bool decides_open_extent(const Step& step, const Tensor& tensor);

/// Gives the sizes that a segment's steps have decided their values, which `sizes` has one behind the other. Fails
/// where one is outside of its range, with the guard that says who needs more or less, if there is one among the plan's
/// and the block's (`guards`); else the step did not do what it was planned for (kInternal).
Status take_decided_sizes(const Plan& plan, const Block& block, std::span<const sym::Guard> guards,
                          const Segment& segment, std::span<const int64_t> sizes, std::vector<int64_t>& symbols);
/// Gives known sizes their values. All symbols that they are made of have theirs.
Status set_known_sizes(const Block& block, std::vector<int64_t>& symbols);
/// Gives the sizes that steps decide their upper bounds, or typical numbers where they are open (`only`, by symbol:
/// those alone), and known ones their values.
Status set_largest_sizes(const Block& block, std::vector<int64_t>& symbols, const std::vector<bool>* only = nullptr);

}  // namespace kiln::plan
