#include "ops/grid_sample.h"

#include "ops/define.h"
#include "ops/sampling-inl.h"

namespace kiln {
template const OpInfo& op_info<ops::GridSample>();

namespace {
namespace sampling = HWY_NAMESPACE;

/// Pixels of one sample.
struct Tap {
  int64_t offset;
  double weight;
};

/// All products of the axes' taps. `at` has the last axis first.
std::vector<Tap> taps_of(std::span<const double> at, std::span<const int64_t> image, const sampling::SampleRule& rule) {
  std::vector<Tap> taps{{0, 1}};
  for (size_t axis = 0; axis < image.size(); ++axis) {
    sampling::AxisTaps along;
    sampling::axis_taps(static_cast<float>(at[image.size() - 1 - axis]), static_cast<int>(image[axis]), rule, along);
    std::vector<Tap> next;
    for (const Tap& tap : taps)
      for (int i = 0; i < sampling::num_axis_taps(rule.mode); ++i)
        if (along.index[i] >= 0 && along.weight[i] != 0)
          next.push_back({tap.offset * image[axis] + along.index[i], tap.weight * double{along.weight[i]}});
    taps = std::move(next);
  }
  return taps;
}

}  // namespace

namespace ops {

Status GridSample::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& grid = TRY(cx.input(1));
  TRY(cx.require(is_float(x.dtype) && (x.rank() == 4 || x.rank() == 5), "x is ", x,
                 "; a float image of 2 or 3 axes behind batch and channels is needed"));
  TRY(cx.require(
      is_float(grid.dtype) && grid.rank() == x.rank() && sym::provably_equal(grid.shape.back(), x.rank() - 2),
      "grid is ", grid, " for x ", x, "; floats of its rank with ", x.rank() - 2, " coordinates are needed"));
  TRY(cx.require(outside == SliceMode::kFill || outside == SliceMode::kClamp || outside == SliceMode::kReflect,
                 "outside ", enum_names(outside)[static_cast<size_t>(outside)], "; fill, clamp or reflect is needed"));
  TRY(cx.assume_equal(grid.shape[0], x.shape[0], str("batches of x ", x, " and grid ", grid)));
  kiln::Shape shape{x.shape[0], x.shape[1]};
  shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  return cx.set_output(0, x, std::move(shape));
}

Status GridSample::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), grid = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const std::vector<double> from = x.numbers(), positions = grid.numbers();
  const sampling::SampleRule rule{static_cast<int>(mode), static_cast<int>(outside), align_corners};
  const auto image = std::span(x.extents()).subspan(2);
  const auto axes = static_cast<int64_t>(image.size());
  const int64_t batches = x.extents()[0], channels = x.extents()[1], plane = volume(image);
  const int64_t samples = y.volume() / (batches * channels);
  for (int64_t i = 0; i < batches * samples; ++i) {
    const auto at = std::span(positions).subspan(static_cast<size_t>(i * axes), static_cast<size_t>(axes));
    const std::vector<Tap> taps = taps_of(at, image, rule);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = (i / samples * channels + c) * plane;
      double sum = 0;
      for (const Tap& tap : taps) sum += tap.weight * from[static_cast<size_t>(first + tap.offset)];
      y.set((i / samples * channels + c) * samples + i % samples, sum);
    }
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
