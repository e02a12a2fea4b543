#include "backend/cuda/kernels/sort/unique.h"

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

UniquePlan plan_unique(DType dtype, const LaneExtents& slices, int64_t room, bool sorted) {
  constexpr int64_t kMostBlocks = 2048;  // each reads the counts of all
  const int64_t count = slices.length, size = slices.outer * slices.inner;
  UniquePlan plan{.sort = plan_sorted_items({.lanes = {1, count, 1}, .dtype = dtype, .largest = false}),
                  .next_keys = {kUniqueNextKeysEntry, flat_shape(count, kUniqueThreads)},
                  .element_bytes = bits_of(dtype) / 8};
  UniqueArgument& u = plan.argument;
  u.size = static_cast<uint32_t>(size);
  u.inner = plan.sort.argument.inner = static_cast<uint32_t>(slices.inner);
  u.room = room;
  u.passes = static_cast<uint32_t>(size * sort_passes(dtype));
  u.is_sorted = sorted;
  const int64_t tiles = ceil_div(count, kUniqueThreads), of_a_block = ceil_div(tiles, kMostBlocks);
  u.of_a_block = static_cast<uint32_t>(of_a_block * kUniqueThreads);
  const int64_t blocks = ceil_div(tiles, of_a_block);
  const LaunchShape parts = flat_shape(blocks * kUniqueThreads, kUniqueThreads);
  plan.calls = {{kUniqueSortedCountEntry, parts}, {kUniqueSortedNumberEntry, parts}};
  if (!sorted)
    plan.calls.insert(plan.calls.end(), {{kUniqueAppearingCountEntry, parts}, {kUniqueAppearingNumberEntry, parts}});
  plan.calls.push_back({kUniqueStoreEntry, flat_shape(count, kUniqueThreads)});
  plan.sort.workspace_bytes = ceil_div(plan.sort.workspace_bytes, 16) * 16;
  plan.workspace_bytes = plan.sort.workspace_bytes + 8 + 4 * (blocks + 4 * count);
  return plan;
}

const void* UniquePlan::last_elements(const void* x) const {
  const int64_t outer = argument.size / argument.inner, inner = argument.inner;
  const int64_t at = (outer - 1) * sort.argument.length * inner + inner - 1;
  return static_cast<const std::byte*>(x) + at * element_bytes;
}

void UniquePlan::place(std::byte* workspace) {
  const int64_t count = sort.argument.length;
  sort.place(workspace);
  argument.found = reinterpret_cast<int64_t*>(workspace + sort.workspace_bytes);
  argument.groups = reinterpret_cast<uint32_t*>(argument.found + 1);
  argument.starts = argument.groups + count;
  argument.firsts = argument.starts + count;
  argument.places = argument.firsts + count;
  argument.of_blocks = argument.places + count;
}

}  // namespace kiln::cuda
