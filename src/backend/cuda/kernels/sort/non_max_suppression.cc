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
LaunchShape blocks_of(int64_t blocks, int threads) {
  LaunchShape shape;
  shape.grid[0] = grid_blocks(blocks);
  shape.block[0] = static_cast<uint32_t>(threads);
  shape.pdl = true;
  return shape;
}

}  // namespace

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
  plan.workspace_bytes = 16 + sizes.lists() * (12 + 20 * int64_t{a.kept});
  return plan;
}

void NonMaxSuppressionPlan::place(std::byte* workspace) {
  const int64_t lists = argument.lists, kept = lists * argument.kept;
  argument.found = reinterpret_cast<int64_t*>(workspace);
  argument.kept_boxes = reinterpret_cast<float*>(workspace + 16);
  argument.starts = reinterpret_cast<int64_t*>(workspace + 16 + kept * 16);
  argument.lengths = reinterpret_cast<uint32_t*>(argument.starts + lists);
  argument.kept_indices = argument.lengths + lists;
}

}  // namespace kiln::cuda
