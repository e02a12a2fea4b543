#include "backend/cuda/kernels/scatter/scatter.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = 256, kMost = (int64_t{1} << 31) - kThreads;

/// The sizes that a mode decides, in elements.
struct Plan {
  int64_t picks = 1, row = 1, extent = 1;
  int axis = 0;
  Extents extents, strides;  ///< strides in slices
};

Result<Plan> plan_elements(const ops::Scatter& scatter, std::span<const int64_t> data,
                           std::span<const int64_t> indices) {
  Plan plan;
  plan.axis = TRY(normalize_axis(scatter.axis, static_cast<int>(data.size())));
  plan.extent = data[static_cast<size_t>(plan.axis)];
  plan.picks = volume(indices);
  plan.extents.assign(indices.begin(), indices.end());
  plan.strides = row_major_strides(data);
  return plan;
}

Plan plan_nd(std::span<const int64_t> data, std::span<const int64_t> indices) {
  Plan plan;
  const auto coordinates = static_cast<size_t>(indices.back());
  plan.picks = volume(indices.first(indices.size() - 1));
  plan.row = volume(data.subspan(coordinates));
  plan.extents.assign(data.begin(), data.begin() + indices.back());
  plan.strides = row_major_strides(plan.extents);
  return plan;
}

/// Elements of the widest unit that the count is whole in.
int64_t widened(int64_t count, int element_bytes, int most_unit_bytes) {
  int64_t widening = 1;
  while (element_bytes * widening * 2 <= most_unit_bytes && count % (widening * 2) == 0) widening *= 2;
  return widening;
}

LaunchShape shape_of(int64_t threads) { return flat_shape(threads, kThreads); }

}  // namespace

Result<ScatterLaunch> scatter_launch(const ops::Scatter& scatter, int element_bytes, int most_unit_bytes,
                                     std::span<const int64_t> data, std::span<const int64_t> indices) {
  const bool elements = scatter.mode == ScatterMode::kElement;
  const Plan plan = elements ? TRY(plan_elements(scatter, data, indices)) : plan_nd(data, indices);
  const int64_t count = volume(data), wide_copy = widened(count, element_bytes, most_unit_bytes),
                wide_row = elements ? 1 : widened(plan.row, element_bytes, most_unit_bytes);
  const int64_t row = plan.row / wide_row, copied = count / wide_copy, slices = plan.row ? count / plan.row : 0;
  ScatterLaunch launch;
  launch.copy_bytes = static_cast<int>(element_bytes * wide_copy);
  launch.row_bytes = static_cast<int>(element_bytes * wide_row);
  if (copied > kMost || slices > kMost || plan.picks > kMost || plan.picks * std::max<int64_t>(row, 1) > kMost ||
      std::ranges::any_of(plan.extents, [](int64_t e) { return e > kMost; }))
    return error(Code::kUnsupported, "a scatter of ", plan.picks, " times ", row, " units over ", copied,
                 "; 2^31 are too many");
  launch.shapes = {shape_of(copied), shape_of(row ? plan.picks : 0), shape_of(plan.picks * row)};
  ScatterArgument& a = launch.argument;
  a.copied = static_cast<uint32_t>(copied);
  a.slices = static_cast<uint32_t>(slices);
  a.picks = static_cast<uint32_t>(plan.picks);
  a.row = divisor_of(std::max<int64_t>(row, 1));
  a.rank = static_cast<int32_t>(plan.extents.size());
  a.axis = plan.axis;
  a.extent = plan.extent;
  for (size_t i = 0; i < plan.extents.size(); ++i) {
    a.extents[i] = plan.extents[i] > 0 ? divisor_of(plan.extents[i]) : Divisor{0, 0, 0};  // any index is outside
    a.strides[i] = plan.strides[i];
  }
  return launch;
}

std::string scatter_copy_entry(int unit_bytes) { return str("scatter_copy_", unit_bytes); }
std::string scatter_write_entry(int unit_bytes) { return str("scatter_write_", unit_bytes); }

}  // namespace kiln::cuda
