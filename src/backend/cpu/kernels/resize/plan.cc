#include <algorithm>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/resize/resize.h"
#include "backend/cpu/kernels/resize/row.h"

namespace kiln::cpu {
namespace {

ResizeAxis make_axis(const ops::Resize& resize, int64_t in, int64_t out, float scale) {
  ResizeAxis axis{in, out, 1, {}, {}};
  if (resize_is_identity(in, out, scale)) {
    for (int64_t i = 0; i < out; ++i) axis.index.push_back(static_cast<int32_t>(i));
    axis.weight.assign(static_cast<size_t>(out), 1.0F);
    return axis;
  }
  const std::vector<ResizeTap> taps = resize_taps(resize, in, out, scale);
  axis.taps = resize_taps_per_output(resize, scale);
  axis.index.resize(taps.size());
  axis.weight.resize(taps.size());
  for (int64_t i = 0; i < out; ++i)
    for (int t = 0; t < axis.taps; ++t) {
      const ResizeTap& tap = taps[static_cast<size_t>(i * axis.taps + t)];
      axis.index[static_cast<size_t>(t * out + i)] = static_cast<int32_t>(tap.index);
      axis.weight[static_cast<size_t>(t * out + i)] = static_cast<float>(tap.weight);
    }
  return axis;
}

}  // namespace

Result<ResizePlan> plan_resize(const ops::Resize& resize, bool from_sizes, DType dtype, std::span<const int64_t> in,
                               std::span<const int64_t> out, const Format& format) {
  if (bits_of(dtype) < 8 || (resize.mode != ResizeMode::kNearest && dtype != DType::kF32))
    return error(Code::kUnsupported, "resize ", resize.mode, " of ", dtype, " has no CPU kernel; f32 has");
  const int rank = static_cast<int>(in.size());
  std::vector<float> scales;
  std::vector<bool> whole;
  for (int position = 0; position < rank; ++position) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    scales.push_back(from_sizes ? static_cast<float>(out[axis]) / static_cast<float>(in[axis])
                                : resize_scale(resize, axis, in[axis], out[axis]));
    whole.push_back(resize_is_identity(in[axis], out[axis], scales.back()));
  }
  ResizePlan plan;
  plan.mode = resize.mode;
  plan.element_bytes = bits_of(dtype) / 8;
  if (volume(out) == 0) return plan;
  int first = 0, last = rank;
  const auto extent = [&](int position) { return in[static_cast<size_t>(format.axis_at(position))]; };
  while (last > 0 && whole[static_cast<size_t>(last - 1)]) plan.inner *= extent(--last);
  while (first < last && whole[static_cast<size_t>(first)]) plan.planes *= extent(first++);
  plan.rows = plan.planes;
  int64_t combined_taps = 1;
  for (int position = first; position < last; ++position) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    plan.axes.push_back(make_axis(resize, in[axis], out[axis], scales[static_cast<size_t>(position)]));
    if (position + 1 == last) break;
    plan.rows *= out[axis];
    combined_taps *= plan.axes.back().taps;
  }
  if (combined_taps > kMostRowTaps)
    return error(Code::kUnsupported, "resize ", resize.mode, " along ", plan.axes.size(), " axes has no CPU kernel");
  const int64_t row = plan.axes.empty() ? plan.inner : plan.axes.back().out * plan.inner;
  constexpr int64_t kPartBytes = 1 << 16, kMostParts = 256;
  plan.parts = std::clamp<int64_t>(plan.rows * row * plan.element_bytes / kPartBytes, 1,
                                   std::min(kMostParts, std::max<int64_t>(plan.rows, 1)));
  if (plan.mode != ResizeMode::kNearest && combined_taps > 1)
    plan.row_floats = round_up(plan.axes.back().in * plan.inner, kCacheLine / 4);
  return plan;
}

}  // namespace kiln::cpu
