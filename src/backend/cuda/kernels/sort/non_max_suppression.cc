#include "backend/cuda/kernels/sort/non_max_suppression.h"

#include <algorithm>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

LimitType limit_type(const StepTypes& types, size_t input) {
  if (input >= types.inputs.size()) return LimitType::kF32;
  const DType dtype = types.inputs[input].dtype;
  return dtype == DType::kF16 ? LimitType::kF16 : dtype == DType::kBF16 ? LimitType::kBF16 : LimitType::kF32;
}
LaunchShape blocks_of(int64_t blocks, int threads, uint32_t across = 1) {
  LaunchShape shape;
  shape.grid[0] = grid_blocks(blocks);
  shape.grid[1] = across;
  shape.block[0] = static_cast<uint32_t>(threads);
  shape.pdl = true;
  return shape;
}

constexpr int64_t kMostLongLists = 8;  // more keep enough blocks busy with one each
// A block compares so many pairs in the time that sorting a list by all blocks takes.
constexpr int64_t kLongPairs = 2'000'000;

/// The parts of the workspace that long lists have behind that of all.
struct LongParts {
  int64_t boxes, removed, overlaps, states, end;
};
LongParts long_parts(const TopKPlan& sort, int64_t lists, int64_t count, int64_t words) {
  constexpr int64_t kOverlapBytes = int64_t{kLongRound} * kLongRound / 8;
  LongParts parts{};
  parts.boxes = ceil_div(sort.workspace_bytes, 256) * 256;
  parts.removed = parts.boxes + lists * count * 16;
  parts.overlaps = parts.removed + lists * words * 8;
  parts.states = parts.overlaps + lists * kOverlapBytes;
  parts.end = parts.states + lists * static_cast<int64_t>(sizeof(LongList));
  return parts;
}
int64_t short_bytes(const NonMaxSuppressionArgument& a) {
  return ceil_div(16 + a.lists * (12 + 20 * int64_t{a.kept}), 256) * 256;
}

/// Adds the calls for long lists.
void plan_long(NonMaxSuppressionPlan& plan) {
  constexpr uint32_t kSplit = 4;  // blocks that share what one box is compared with
  LongSuppressionArgument& l = plan.long_argument;
  const int64_t lists = plan.argument.lists, count = plan.argument.count;
  plan.is_long = true;
  plan.calls.push_back(
      {kLongGatherEntry, blocks_of(lists * ceil_div(int64_t{l.words} * kSuppressTile, kLongThreads), kLongThreads)});
  for (int64_t round = 0, end = kLongRound; end - kLongRound < count; ++round, end += kLongRound) {
    const auto r = static_cast<int>(round);
    const LaunchShape compare = blocks_of(lists * kLongRound / kSuppressTile, kLongThreads, kLongRound / kLongThreads);
    plan.calls.push_back({kLongCompareEntry, compare, r});
    plan.calls.push_back({kLongSelectEntry, blocks_of(lists, kLongSelectThreads), r});
    if (end < count)
      plan.calls.push_back(
          {kLongRemoveEntry, blocks_of(lists * ceil_div(count - end, kLongThreads), kLongThreads, kSplit), r});
  }
}

}  // namespace

bool may_be_long(int64_t boxes, int64_t kept) { return boxes * std::min(boxes, kept) > kLongPairs; }

NonMaxSuppressionPlan plan_non_max_suppression(const steps::NonMaxSuppression& step, const StepTypes& types,
                                               const StepShapes& shapes) {
  constexpr int kStoreThreads = 128;
  NonMaxSuppressionPlan plan;
  NonMaxSuppressionArgument& a = plan.argument;
  const steps::NonMaxSuppression::Sizes sizes = step.sizes(shapes);
  a.most_is_wide = types.inputs.size() > 2 && types.inputs[2].dtype == DType::kI64;
  a.iou_type = limit_type(types, 3);
  a.score_type = limit_type(types, 4);
  a.classes = static_cast<uint32_t>(sizes.classes);
  a.count = static_cast<uint32_t>(sizes.boxes);
  a.boxes_by_class = sizes.boxes_by_class;
  a.is_center = step.op.format == BoxFormat::kCenterSizes;
  a.candidates = static_cast<uint32_t>(sizes.candidates);
  a.room = sizes.room;
  a.kept = static_cast<uint32_t>(std::min(sizes.candidates, sizes.room + 1));  // one more, and all are too many
  plan.suppress = blocks_of(sizes.lists(), kSuppressThreads);
  plan.starts = blocks_of(1, kSuppressThreads);
  plan.store = blocks_of(sizes.lists(), kStoreThreads);
  a.lists = plan.suppress.grid[0];
  plan.workspace_bytes = short_bytes(a);
  if (!may_be_long(sizes.boxes, a.kept) || sizes.lists() == 0) return plan;
  // More lists want no less memory than the most that are long, though they are not: a context has that of its largest
  // shapes.
  const int64_t lists = std::min(sizes.lists(), kMostLongLists);
  plan.sort = plan_sorted_items({.lanes = {sizes.images, sizes.boxes, sizes.classes}, .dtype = types.inputs[1].dtype});
  TopKPlan most = plan.sort;
  if (sizes.lists() > lists)
    most = plan_sorted_items({.lanes = {lists, sizes.boxes, 1}, .dtype = types.inputs[1].dtype});
  plan.long_argument.passes = static_cast<uint32_t>(sort_passes(types.inputs[1].dtype));
  plan.long_argument.words = static_cast<uint32_t>(ceil_div(sizes.boxes, kSuppressTile));
  plan.workspace_bytes += long_parts(most, lists, sizes.boxes, plan.long_argument.words).end;
  if (sizes.lists() == lists) plan_long(plan);
  return plan;
}

void NonMaxSuppressionPlan::place(std::byte* workspace) {
  const int64_t lists = argument.lists, kept = lists * argument.kept;
  argument.found = reinterpret_cast<int64_t*>(workspace);
  argument.kept_boxes = reinterpret_cast<float*>(workspace + 16);
  argument.starts = reinterpret_cast<int64_t*>(workspace + 16 + kept * 16);
  argument.lengths = reinterpret_cast<uint32_t*>(argument.starts + lists);
  argument.kept_indices = argument.lengths + lists;
  if (!is_long) return;
  std::byte* const behind = workspace + short_bytes(argument);
  const LongParts parts = long_parts(sort, lists, argument.count, long_argument.words);
  sort.place(behind);
  sort.argument.x = argument.scores;
  long_argument.boxes = reinterpret_cast<float*>(behind + parts.boxes);
  long_argument.removed = reinterpret_cast<uint64_t*>(behind + parts.removed);
  long_argument.overlaps = reinterpret_cast<uint64_t*>(behind + parts.overlaps);
  long_argument.states = reinterpret_cast<LongList*>(behind + parts.states);
  long_argument.list = argument;
  long_argument.sort = sort.argument;
}

}  // namespace kiln::cuda
