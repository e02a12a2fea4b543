#include "backend/cpu/kernels/sample/sample.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#include "tensor/numeric.h"
#include "tensor/view.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/sample/sample.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/sampling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

namespace sampling = kiln::HWY_NAMESPACE;

template <DType T>
using Stored = std::conditional_t<T == DType::kF32, float, uint16_t>;
template <DType T>
HWY_INLINE float load(Stored<T> x) {
  if constexpr (T == DType::kF16) return half_to_float(x);
  if constexpr (T == DType::kBF16) return bfloat16_to_float(x);
  if constexpr (T == DType::kF32) return x;
}

constexpr int kPositions = 64;  // that are sampled together, channel by channel
constexpr int kMostTaps = 64;

/// Pixels and weights of the samples at some positions, the same for all channels.
struct Taps {
  int32_t offsets[kMostTaps][kPositions];
  float weights[kMostTaps][kPositions];  ///< 0: nothing, whatever is there
};

/// NaN if either is.
HWY_INLINE float greater(float a, float b) { return b > a || b != b ? b : a; }

template <DType T, bool kMax>
void add_taps(const Stored<T>* plane, const Taps& taps, int count, int positions, float* sums) {
  for (int t = 0; t < count; ++t)
    for (int p = 0; p < positions; ++p) {
      const float weight = taps.weights[t][p], pixel = load<T>(plane[taps.offsets[t][p]]);
      const float product = weight == 0 ? 0.0f : weight * pixel;
      sums[p] = kMax ? greater(sums[p], product) : sums[p] + product;
    }
}

template <DType T>
void store(const float* sums, int count, Stored<T>* y) {
  for (int p = 0; p < count; ++p) {
    if constexpr (T == DType::kF32)
      y[p] = sums[p];
    else
      store_number(T, reinterpret_cast<std::byte*>(y + p), 0, double{sums[p]});
  }
}

/// The taps of position `p`, at `at`.
void set_taps(const GridSampleShape& s, const sampling::SampleRule& rule, const float* at, int p, Taps& taps) {
  const int each = sampling::num_axis_taps(rule.mode);
  sampling::AxisTaps along[3];
  for (int axis = 0; axis < s.axes; ++axis)
    sampling::axis_taps(at[s.axes - 1 - axis], static_cast<int>(s.image[static_cast<size_t>(axis)]), rule, along[axis]);
  int count = 1;
  for (int axis = 0; axis < s.axes; ++axis) count *= each;
  for (int t = 0; t < count; ++t) {
    int64_t offset = 0;
    float weight = 1;
    for (int axis = 0, rest = count; axis < s.axes; ++axis) {
      rest /= each;
      const int i = t / rest % each, index = along[axis].index[i];
      offset = offset * s.image[static_cast<size_t>(axis)] + std::max(index, 0);
      weight *= index < 0 ? 0 : along[axis].weight[i];
    }
    taps.offsets[t][p] = static_cast<int32_t>(offset);
    taps.weights[t][p] = weight;
  }
}

template <DType T>
void sample_typed(Team& team, const ops::GridSample& op, const GridSampleShape& s, const void* x_data, const void* grid,
                  void* y_data) {
  const sampling::SampleRule rule{static_cast<int>(op.mode), static_cast<int>(op.outside), op.align_corners};
  const auto* x = static_cast<const Stored<T>*>(x_data);
  auto* y = static_cast<Stored<T>*>(y_data);
  int64_t plane = 1;
  int count = 1;
  for (int axis = 0; axis < s.axes; ++axis) {
    plane *= s.image[static_cast<size_t>(axis)];
    count *= sampling::num_axis_taps(rule.mode);
  }
  if (plane == 0) count = 0;  // all is outside
  const int64_t blocks = ceil_div(s.samples, kPositions);
  team.run(s.batches * blocks, [&](int64_t part, int) {
    const int64_t batch = part / blocks, first = part % blocks * kPositions;
    const auto positions = static_cast<int>(std::min<int64_t>(kPositions, s.samples - first));
    Taps taps;
    for (int p = 0; p < positions && count > 0; ++p) {
      float at[3];
      for (int axis = 0; axis < s.axes; ++axis)
        at[axis] = static_cast<float>(
            load_number(s.grid, static_cast<const std::byte*>(grid), (batch * s.samples + first + p) * s.axes + axis));
      set_taps(s, rule, at, p, taps);
    }
    for (int64_t c = 0; c < s.channels; ++c) {
      float sums[kPositions] = {};
      add_taps<T, false>(x + (batch * s.channels + c) * plane, taps, count, positions, sums);
      store<T>(sums, positions, y + (batch * s.channels + c) * s.samples + first);
    }
  });
}

/// Bins [first, first + count) of one region, for some channels.
template <DType T, bool kMax>
class RoiBlock {
 public:
  RoiBlock(const ops::RoiAlign& op, const RoiAlignShape& s, const sampling::RoiBins& bins, int64_t first, int count)
      : op_(op), s_(s), bins_(bins), first_(first), count_(count) {}

  void run(const Stored<T>* x, int64_t channels, Stored<T>* y) {
    const int64_t plane = s_.image[0] * s_.image[1], num_bins = int64_t{op_.height} * op_.width;
    const int64_t samples = int64_t{bins_.samples[0]} * bins_.samples[1];
    float sums[kChannels][kPositions];
    std::fill_n(sums[0], kChannels * kPositions, kMax && samples > 0 ? -INFINITY : 0.0f);
    for (int64_t sample = 0; sample < samples; sample += kMostTaps / 4) {
      const auto some = static_cast<int>(std::min<int64_t>(kMostTaps / 4, samples - sample));
      for (int s = 0; s < some; ++s)
        for (int p = 0; p < count_; ++p) set_taps(sample + s, 4 * s, p);
      for (int64_t c = 0; c < channels; ++c) add_taps<T, kMax>(x + c * plane, taps_, 4 * some, count_, sums[c]);
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int p = 0; p < count_ && !kMax; ++p) sums[c][p] /= static_cast<float>(std::max<int64_t>(1, samples));
      store<T>(sums[c], count_, y + c * num_bins + first_);
    }
  }

  static constexpr int kChannels = 64;  // whose sums are kept

 private:
  void set_taps(int64_t sample, int to, int p) {
    const int64_t bin = first_ + p;
    const auto row = static_cast<int>(sample / bins_.samples[1]), column = static_cast<int>(sample % bins_.samples[1]);
    sampling::AxisTaps rows{}, columns{};
    const bool inside =
        sampling::roi_taps(bins_, 0, static_cast<int>(bin / op_.width), row, static_cast<int>(s_.image[0]), rows) &&
        sampling::roi_taps(bins_, 1, static_cast<int>(bin % op_.width), column, static_cast<int>(s_.image[1]), columns);
    for (int i = 0; i < 4; ++i) {
      const auto offset = rows.index[i / 2] * s_.image[1] + columns.index[i % 2];
      taps_.offsets[to + i][p] = inside ? static_cast<int32_t>(offset) : 0;
      taps_.weights[to + i][p] = inside ? rows.weight[i / 2] * columns.weight[i % 2] : 0;
    }
  }

  const ops::RoiAlign& op_;
  const RoiAlignShape& s_;
  const sampling::RoiBins& bins_;
  const int64_t first_;
  const int count_;
  Taps taps_;
};

template <DType T, bool kMax>
OutsideIndices align_typed(Team& team, const ops::RoiAlign& op, const RoiAlignShape& s, const void* x, const void* rois,
                           const void* batch_indices, void* y) {
  using Block = RoiBlock<T, kMax>;
  const int64_t groups = ceil_div(s.channels, Block::kChannels), num_bins = int64_t{op.height} * op.width;
  const int64_t plane = s.image[0] * s.image[1];
  const int counts[] = {op.height, op.width};
  const auto batch_of = [&](int64_t region) -> int64_t {
    return s.wide_indices ? static_cast<const int64_t*>(batch_indices)[region]
                          : static_cast<const int32_t*>(batch_indices)[region];
  };
  team.run(s.regions * groups, [&](int64_t part, int) {
    const int64_t region = part / groups, first = part % groups * Block::kChannels;
    const int64_t channels = std::min<int64_t>(Block::kChannels, s.channels - first);
    const int64_t batch = batch_of(region);
    auto* to = static_cast<Stored<T>*>(y) + (region * s.channels + first) * num_bins;
    if (batch < 0 || batch >= s.batches || plane == 0) {
      std::fill_n(to, channels * num_bins, Stored<T>{0});
      return;
    }
    float corners[4];
    for (int i = 0; i < 4; ++i)
      corners[i] = static_cast<float>(load_number(s.rois, static_cast<const std::byte*>(rois), 4 * region + i));
    const auto bins =
        sampling::roi_bins(corners, static_cast<float>(op.spatial_scale), op.half_pixel, counts, op.sampling_ratio);
    const auto* from = static_cast<const Stored<T>*>(x) + (batch * s.channels + first) * plane;
    for (int64_t bin = 0; bin < num_bins; bin += kPositions)
      Block(op, s, bins, bin, static_cast<int>(std::min<int64_t>(kPositions, num_bins - bin))).run(from, channels, to);
  });
  OutsideIndices outside;
  for (int64_t region = 0; region < s.regions && plane > 0; ++region)
    if (const int64_t batch = batch_of(region); batch < 0 || batch >= s.batches) outside.add(batch, 0, s.batches);
  return outside;
}

void run_grid_sample(Team& team, const ops::GridSample& op, const GridSampleShape& shape, const void* x,
                     const void* grid, void* y) {
  switch (shape.dtype) {
    case DType::kF32: return sample_typed<DType::kF32>(team, op, shape, x, grid, y);
    case DType::kF16: return sample_typed<DType::kF16>(team, op, shape, x, grid, y);
    case DType::kBF16: return sample_typed<DType::kBF16>(team, op, shape, x, grid, y);
    default: CHECK(!"grid_sample of a type other than f32, f16 and bf16");
  }
}

OutsideIndices run_roi_align(Team& team, const ops::RoiAlign& op, const RoiAlignShape& shape, const void* x,
                             const void* rois, const void* batch_indices, void* y) {
  const auto typed = [&]<DType T>() {
    return op.mode == RoiMode::kMax ? align_typed<T, true>(team, op, shape, x, rois, batch_indices, y)
                                    : align_typed<T, false>(team, op, shape, x, rois, batch_indices, y);
  };
  switch (shape.dtype) {
    case DType::kF32: return typed.template operator()<DType::kF32>();
    case DType::kF16: return typed.template operator()<DType::kF16>();
    case DType::kBF16: return typed.template operator()<DType::kBF16>();
    default: CHECK(!"roi_align of a type other than f32, f16 and bf16");
  }
  return {};
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void grid_sample(Team& team, const ops::GridSample& op, const GridSampleShape& shape, const void* x, const void* grid,
                 void* y) {
  KILN_DISPATCH(run_grid_sample)(team, op, shape, x, grid, y);
}

OutsideIndices roi_align(Team& team, const ops::RoiAlign& op, const RoiAlignShape& shape, const void* x,
                         const void* rois, const void* batch_indices, void* y) {
  return KILN_DISPATCH(run_roi_align)(team, op, shape, x, rois, batch_indices, y);
}

}  // namespace kiln::cpu
#endif
