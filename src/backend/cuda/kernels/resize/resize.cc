#include "backend/cuda/kernels/resize/resize.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = 128;

/// Appends an axis's taps, tap t of output i at t * out + i. Returns how many taps an output has.
int append_taps(const ops::Resize& resize, int64_t in, int64_t out, const ResizeSpan& span, ResizePlan& plan) {
  if (resize_is_identity(in, out, span)) {
    for (int64_t i = 0; i < out; ++i) plan.index.push_back(static_cast<int32_t>(i));
    plan.weight.resize(plan.index.size(), 1.0F);
    return 1;
  }
  std::vector<ResizeTap> taps;
  find_resize_taps(resize, in, out, span, taps);
  const int per_output = resize_taps_per_output(resize, span.scale);
  for (int t = 0; t < per_output; ++t)
    for (int64_t i = 0; i < out; ++i) {
      const ResizeTap& tap = taps[static_cast<size_t>(i * per_output + t)];
      plan.index.push_back(static_cast<int32_t>(tap.index));
      plan.weight.push_back(static_cast<float>(tap.weight));
    }
  return per_output;
}

}  // namespace

bool can_resize(ResizeMode mode, DType type) {
  if (mode == ResizeMode::kNearest) return bits_of(type) >= 8;
  return type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

std::string resize_entry(int width) { return str("resize_", width); }

KernelSource resize_source(ResizeMode mode, DType type, int width) {
  KernelSource source;
  source.entry = resize_entry(width);
  source.prelude = "#include \"resize/resize.cuh\"\n";
  for (;; width = 1) {
    const int bytes = bits_of(type) / 8 * width;
    const std::string unit = bytes == 16 ? "Unit16" : str("uint", 8 * bytes, "_t");
    const std::string call = mode == ResizeMode::kNearest ? str("(resize_nearest<", unit, ">)")
                                                          : str("(resize_taps<", element_name(type), ", ", width, ">)");
    source.prelude += str("KILN_RESIZE(", resize_entry(width), ", ", call, ")\n");
    if (width == 1) return source;
  }
}

Result<ResizePlan> plan_resize(const ops::Resize& resize, bool from_sizes, std::span<const int64_t> in,
                               std::span<const int64_t> out, const Format& format) {
  TRY(require(in.size() == out.size(), "a resize of ", in, " to ", out, ": the plan is damaged, build it again"));
  const auto rank = static_cast<int>(in.size());
  const auto axis_at = [&](int position) { return static_cast<size_t>(format.axis_at(position)); };
  ResizePlan plan;
  if (volume(out) == 0) {
    plan.planes = 0;
    return plan;
  }
  TRY(require(volume(out) < (int64_t{1} << 31) - kThreads, "a resize to ", volume(out),
              " elements; 2^31 are too many"));
  TRY(require(volume(in) > 0, "a resize of nothing, ", in, ", to ", out));
  std::vector<ResizeSpan> spans(in.size());
  TRY(find_resize_spans(resize, {from_sizes, {}, {}}, in, out, spans));
  for (size_t axis = 0; axis < in.size(); ++axis) {
    constexpr float kLeastScale = 1e-6F;
    constexpr int64_t kMostTaps = int64_t{1} << 28;
    const float scale = spans[axis].scale;
    TRY(require(in[axis] < int64_t{1} << 31 && scale >= kLeastScale && scale < 1 / kLeastScale &&
                    out[axis] * resize_taps_per_output(resize, scale) < kMostTaps,
                "a resize of ", in, " to ", out, " by ", scale, " along axis ", axis, " is beyond what kernels count"));
  }
  const auto whole = [&](int position) {
    const size_t axis = axis_at(position);
    return resize_is_identity(in[axis], out[axis], spans[axis]);
  };
  int first = 0, last = rank;
  while (last > 0 && whole(last - 1)) plan.inner *= in[axis_at(--last)];
  while (first < last && whole(first)) plan.planes *= in[axis_at(first++)];
  if (last - first > 3) return error(Code::kUnsupported, "resize along ", last - first, " axes; kernels have 3");
  ResizeArgument& a = plan.argument;
  int64_t stride = plan.inner;
  for (int i = 2; i >= 0; --i) {  // those that are there stand at the back
    const int position = last - 1 - (2 - i);
    a.table[i] = static_cast<int32_t>(plan.index.size());
    if (position < first) {
      plan.index.push_back(0);
      plan.weight.push_back(1);
      continue;
    }
    const size_t axis = axis_at(position);
    plan.out[i] = out[axis];
    a.taps[i] = append_taps(resize, in[axis], out[axis], spans[axis], plan);
    a.strides[i] = stride;
    stride *= in[axis];
  }
  a.plane = stride;
  return plan;
}

ResizeArgument ResizePlan::in_vectors(ResizeMode mode, int width) const {
  ResizeArgument a = argument;
  if (planes == 0) return a;
  a.count = static_cast<uint32_t>(planes * out[0] * out[1] * out[2] * (inner / width));
  a.inner = divisor_of(inner / width);
  for (size_t i = 0; i < 3; ++i) a.out[i] = divisor_of(out[i]);
  a.width = width;
  if (mode != ResizeMode::kNearest) return a;
  a.width = 1;  // offsets count units
  a.plane /= width;
  for (int64_t& stride : a.strides) stride /= width;
  return a;
}

LaunchShape resize_shape(const ResizeArgument& argument) {
  LaunchShape shape;
  shape.block[0] = kThreads;
  shape.grid[0] = static_cast<uint32_t>((argument.count + kThreads - 1) / kThreads);
  shape.pdl = true;
  return shape;
}

}  // namespace kiln::cuda
