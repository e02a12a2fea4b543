#include "backend/cuda/kernels/scatter/reduce.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr uint32_t kThreads = 256;

/// How updates are sorted: in one block, or by passes over the digits that targets have.
void plan_sorting(ScatterReducePlan& plan, int64_t picks) {
  ScatterReduceArgument& a = plan.argument;
  if (picks <= kMostScatterSorted) {
    a.sort.length = static_cast<uint32_t>(picks);
    a.sort.padded = std::bit_ceil(static_cast<uint32_t>(picks));
    plan.sorting.argument = a.sort;
    plan.targets = {kScatterSortEntry, flat_shape(kShortThreads, kShortThreads)};
    plan.workspace_bytes = picks * item_bytes(32);
    return;
  }
  plan.targets = {kScatterTargetsEntry, flat_shape(picks, kThreads)};
  plan.sorting = plan_sorted_items({.lanes = {1, picks, 1}, .dtype = DType::kI32, .largest = false},
                                   std::max(1, static_cast<int>(std::bit_width(a.outside))));
  plan.sort = plan.sorting.calls;
  plan.targets_at = plan.sorting.workspace_bytes;
  plan.workspace_bytes = plan.targets_at + 4 * picks;
}

/// Where the last pass of `passes` leaves the items of one row: there are two buffers.
int64_t sorted_at(int64_t passes, int64_t length) { return passes % 2 == 0 ? length * item_bytes(32) : 0; }

}  // namespace

Result<ScatterReducePlan> plan_scatter_reduce(const ops::Scatter& scatter, int element_bytes,
                                              std::span<const int64_t> data, std::span<const int64_t> indices) {
  const ScatterLaunch launch = TRY(scatter_launch(scatter, element_bytes, element_bytes, data, indices));
  ScatterReducePlan plan;
  ScatterReduceArgument& a = plan.argument;
  a.scatter = launch.argument;
  a.outside = launch.argument.slices;
  const int64_t picks = launch.argument.picks, row = launch.argument.row.extent;
  const int64_t columns = std::min<int64_t>(scatter_columns(element_bytes),
                                            static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(row))));
  a.columns_shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(columns)));
  if (launch.shapes[1].grid[0] == 0) return plan;
  plan_sorting(plan, picks);
  plan.reduce.push_back({kScatterReduceEntry, flat_shape(picks * row, kThreads)});
  if (picks > kScatterRun)
    plan.reduce.push_back(
        {kScatterLongEntry, flat_shape(ceil_div(picks, kScatterRun) * ceil_div(row, columns) * (kScatterLoaders + 32),
                                       kScatterLoaders + 32)});
  return plan;
}

void ScatterReducePlan::place(std::byte* workspace) {
  sorting.place(workspace);
  argument.sort = sorting.argument;
  argument.targets = reinterpret_cast<uint32_t*>(workspace + targets_at);
  argument.sort.x = argument.targets;
  constexpr int64_t kCallsOfAPass = 3;
  const auto passes = std::ssize(sort) / kCallsOfAPass;
  argument.items =
      static_cast<const std::byte*>(argument.sort.items) + (sort.empty() ? 0 : sorted_at(passes, argument.sort.length));
}

}  // namespace kiln::cuda
