#include <algorithm>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/resize/resize.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// Fills an axis's tables; those of a resampled axis have their size already.
void fill_axis(ResizeAxis& axis, const ops::Resize& resize, const ResizeSpan& span, std::vector<ResizeTap>& taps) {
  find_resize_taps(resize, axis.in, axis.out, span, taps);
  for (int64_t i = 0; i < axis.out; ++i)
    for (int t = 0; t < axis.taps; ++t) {
      const ResizeTap& tap = taps[static_cast<size_t>(i * axis.taps + t)];
      const auto at = static_cast<size_t>(t * axis.out + i);
      axis.index[at] = static_cast<int32_t>(std::max<int64_t>(tap.index, 0));
      axis.weight[at] = static_cast<float>(tap.weight);
      if (!axis.outside.empty()) axis.outside[static_cast<size_t>(i)] = tap.index < 0;
    }
}

ResizeAxis make_axis(const ops::Resize& resize, int64_t in, int64_t out, const ResizeSpan& span, bool varies,
                     std::vector<ResizeTap>& taps) {
  ResizeAxis axis;
  axis.in = in;
  axis.out = out;
  axis.varies = varies;
  if (!varies && resize_is_identity(in, out, span)) {
    for (int64_t i = 0; i < out; ++i) axis.index.push_back(static_cast<int32_t>(i));
    axis.weight.assign(static_cast<size_t>(out), 1.0F);
    return axis;
  }
  axis.taps = resize_taps_per_output(resize, span.scale);
  axis.index.resize(static_cast<size_t>(out * axis.taps));
  axis.weight.resize(static_cast<size_t>(out * axis.taps));
  if (resize.coordinate == CoordinateTransformation::kTfCropAndResize) axis.outside.resize(static_cast<size_t>(out));
  fill_axis(axis, resize, span, taps);  // also for an axis that changes at run time, so that its tables have room
  return axis;
}

/// Whether inputs that come at run time decide an axis. An axis of one element stays as it is.
bool may_vary(const ops::Resize& resize, const ResizeHas& has, size_t axis, int64_t in, int64_t out) {
  if ((!has.roi && !has.scales) || (in == 1 && out == 1)) return false;
  return resize.axes_given.empty() || std::ranges::count(resize.axes_given, static_cast<int64_t>(axis)) > 0;
}

}  // namespace

Status check_resize_tables(const ops::Resize& resize, const ResizeHas& has, std::span<const int64_t> in,
                           std::span<const int64_t> out) {
  constexpr double kMostTaps = 0x1p26;  // 24 bytes each
  std::vector<ResizeSpan> spans(in.size());
  TRY(find_resize_spans(resize, {has.sizes, {}, {}}, in, out, spans));
  for (size_t axis = 0; axis < in.size(); ++axis) {
    if (!may_vary(resize, has, axis, in[axis], out[axis]) && resize_is_identity(in[axis], out[axis], spans[axis]))
      continue;
    const double taps = static_cast<double>(out[axis]) * resize_taps_per_output(resize, spans[axis].scale);
    TRY(require(in[axis] <= INT32_MAX && taps <= kMostTaps, "axis ", axis, " is resized from ", in[axis], " to ",
                out[axis], " elements; tables are made for at most ", kMostTaps, " taps"));
  }
  return {};
}

Result<ResizePlan> plan_resize(const ops::Resize& resize, const ResizeHas& has, DType dtype,
                               std::span<const int64_t> in, std::span<const int64_t> out, const Format& format) {
  if (bits_of(dtype) < 8 || (resize.mode != ResizeMode::kNearest && dtype != DType::kF32))
    return error(Code::kUnsupported, "resize ", resize.mode, " of ", dtype, " has no CPU kernel; f32 has");
  const int rank = static_cast<int>(in.size());
  ResizePlan plan;
  plan.mode = resize.mode;
  plan.element_bytes = bits_of(dtype) / 8;
  if (volume(out) == 0) return plan;
  TRY(check_resize_tables(resize, has, in, out));
  store_number(dtype, plan.extrapolated.data(), 0, resize.extrapolation);
  plan.spans.resize(in.size());
  TRY(find_resize_spans(resize, {has.sizes, {}, {}}, in, out, plan.spans));
  std::vector<bool> whole;
  for (int position = 0; position < rank; ++position) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    whole.push_back(!may_vary(resize, has, axis, in[axis], out[axis]) &&
                    resize_is_identity(in[axis], out[axis], plan.spans[axis]));
  }
  int first = 0, last = rank;
  const auto extent = [&](int position) { return in[static_cast<size_t>(format.axis_at(position))]; };
  while (last > 0 && whole[static_cast<size_t>(last - 1)]) plan.inner *= extent(--last);
  while (first < last && whole[static_cast<size_t>(first)]) plan.planes *= extent(first++);
  plan.rows = plan.planes;
  bool mixes_rows = false;
  for (int position = first; position < last; ++position) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    plan.axes.push_back(make_axis(resize, in[axis], out[axis], plan.spans[axis],
                                  may_vary(resize, has, axis, in[axis], out[axis]), plan.taps));
    plan.axes.back().axis = axis;
    if (position + 1 == last) break;
    plan.rows *= out[axis];
    mixes_rows = mixes_rows || plan.axes.back().taps > 1;
  }
  const int64_t row = plan.axes.empty() ? plan.inner : plan.axes.back().out * plan.inner;
  constexpr int64_t kPartBytes = 1 << 16, kMostParts = 256;
  plan.parts = std::clamp<int64_t>(plan.rows * row * plan.element_bytes / kPartBytes, 1,
                                   std::min(kMostParts, std::max<int64_t>(plan.rows, 1)));
  if (mixes_rows) plan.row_floats = round_up(plan.axes.back().in * plan.inner, kCacheLine / 4);
  return plan;
}

Status update_resize(ResizePlan& plan, const ops::Resize& resize, const ResizeInputs& inputs,
                     std::span<const int64_t> in, std::span<const int64_t> out) {
  if (plan.spans.empty()) return {};  // nothing to make
  TRY(find_resize_spans(resize, inputs, in, out, plan.spans));
  for (ResizeAxis& axis : plan.axes)
    if (axis.varies) fill_axis(axis, resize, plan.spans[axis.axis], plan.taps);
  return {};
}

}  // namespace kiln::cpu
