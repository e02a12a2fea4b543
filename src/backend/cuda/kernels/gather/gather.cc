#include "backend/cuda/kernels/gather/gather.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

int64_t product(std::span<const int64_t> extents) { return volume(extents); }

/// The sizes that a mode decides, in elements.
struct Plan {
  int64_t batches = 1, outer = 1, picks = 1, row = 1;
  int64_t data_batch = 0, index_batch = 0, extent = 1;
  int rank = 0, axis = 0;
  Extents extents, strides;
};

Result<Plan> plan_default(const ops::Gather& gather, std::span<const int64_t> data, std::span<const int64_t> indices) {
  Plan plan;
  plan.axis = TRY(normalize_axis(gather.axis, static_cast<int>(data.size())));
  const auto k = static_cast<size_t>(gather.num_elementwise_dims), axis = static_cast<size_t>(plan.axis);
  const int64_t in_data = product(data.first(k)), in_indices = product(indices.first(k));
  bool same = true;
  for (size_t i = 0; i < k; ++i) same = same && data[i] == indices[i];
  if (!same && in_data != 1 && in_indices != 1)
    return error(Code::kUnsupported, "gather's elementwise axes broadcast data ", data, " and indices ", indices,
                 " one way in one axis and the other way in another");
  plan.batches = in_data == 0 || in_indices == 0 ? 0 : std::max(in_data, in_indices);
  plan.outer = product(data.subspan(k, axis - k));
  plan.picks = product(indices.subspan(k));
  plan.extent = data[axis];
  plan.row = product(data.subspan(axis + 1));
  plan.data_batch = in_data == 1 ? 0 : plan.outer * plan.extent * plan.row;
  plan.index_batch = in_indices == 1 ? 0 : plan.picks;
  return plan;
}

Result<Plan> plan_elements(const ops::Gather& gather, std::span<const int64_t> data, std::span<const int64_t> indices) {
  Plan plan;
  plan.axis = TRY(normalize_axis(gather.axis, static_cast<int>(data.size())));
  plan.rank = static_cast<int>(data.size());
  plan.extent = data[static_cast<size_t>(plan.axis)];
  plan.picks = product(indices);
  plan.extents.assign(indices.begin(), indices.end());
  plan.strides = row_major_strides(data);
  return plan;
}

Plan plan_nd(const ops::Gather& gather, std::span<const int64_t> data, std::span<const int64_t> indices) {
  Plan plan;
  const auto k = static_cast<size_t>(gather.num_elementwise_dims);
  const auto coordinates = static_cast<size_t>(indices.back());
  plan.rank = static_cast<int>(coordinates);
  plan.batches = product(indices.first(k));
  plan.picks = product(indices.subspan(k, indices.size() - 1 - k));
  plan.row = product(data.subspan(k + coordinates));
  plan.data_batch = product(data.subspan(k));
  const Extents strides = row_major_strides(data);
  for (size_t i = 0; i < coordinates; ++i) {
    plan.extents.push_back(data[k + i]);
    plan.strides.push_back(strides[k + i]);
  }
  return plan;
}

}  // namespace

Result<GatherLaunch> gather_launch(const ops::Gather& gather, int element_bytes, int most_unit_bytes,
                                   std::span<const int64_t> data, std::span<const int64_t> indices) {
  constexpr int64_t kThreads = 256, kMost = (int64_t{1} << 31) - kThreads;
  const Plan plan = gather.mode == GatherMode::kDefault   ? TRY(plan_default(gather, data, indices))
                    : gather.mode == GatherMode::kElement ? TRY(plan_elements(gather, data, indices))
                                                          : plan_nd(gather, data, indices);
  GatherLaunch launch;
  int64_t widening = 1;  // elements of a unit; all strides are multiples of rows
  if (gather.mode != GatherMode::kElement)
    while (element_bytes * widening * 2 <= most_unit_bytes && plan.row % (widening * 2) == 0) widening *= 2;
  launch.unit_bytes = static_cast<int>(element_bytes * widening);
  const int64_t row = plan.row / widening, count = plan.batches * plan.outer * plan.picks * row;
  launch.shape.block[0] = kThreads;
  launch.shape.pdl = true;
  constexpr int64_t kUnroll = 4, kMany = 1 << 18;  // of gather_rows; units that fill a device with such threads
  const bool several = gather.mode == GatherMode::kDefault && count >= kMany;
  const int64_t per_block = several ? kUnroll * kThreads : kThreads;
  launch.shape.grid[0] = grid_blocks((count + per_block - 1) / per_block);
  if (count == 0) return launch;
  if (count > kMost || std::ranges::any_of(plan.extents, [](int64_t e) { return e > kMost; }))
    return error(Code::kUnsupported, "a gather of ", count, " units of ", launch.unit_bytes,
                 " bytes; 2^31 are too many");
  GatherArgument& a = launch.argument;
  a.count = static_cast<uint32_t>(count);
  a.step = several ? static_cast<uint32_t>(kThreads) : 0;
  a.row = divisor_of(row);
  a.picks = divisor_of(plan.picks);
  a.outer = divisor_of(plan.outer);
  a.data_batch = plan.data_batch / widening;
  a.index_batch = plan.index_batch;
  a.extent = plan.extent;
  a.rank = plan.rank;
  a.axis = plan.axis;
  for (size_t i = 0; i < plan.extents.size(); ++i) {
    a.extents[i] = plan.extents[i] > 0 ? divisor_of(plan.extents[i]) : Divisor{0, 0, 0};  // any index is outside
    a.strides[i] = plan.strides[i] / widening;
  }
  return launch;
}

std::string gather_entry(int unit_bytes) { return str("gather_", unit_bytes); }

}  // namespace kiln::cuda
