#include "ops/roi_align.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/sampling-inl.h"

namespace kiln {
template const OpInfo& op_info<ops::RoiAlign>();

namespace {
namespace sampling = HWY_NAMESPACE;

/// NaN if either is.
double greater(double a, double b) { return b > a || std::isnan(b) ? b : a; }

/// A bin of one image.
double bin_of(const ops::RoiAlign& op, const sampling::RoiBins& bins, const std::array<int, 2>& bin,
              std::span<const double> image, int height, int width) {
  double sum = 0, greatest = -INFINITY;
  const int samples = bins.samples[0] * bins.samples[1];
  for (int s = 0; s < samples; ++s) {
    sampling::AxisTaps rows, columns;
    const bool inside = sampling::roi_taps(bins, 0, bin[0], s / bins.samples[1], height, rows) &&
                        sampling::roi_taps(bins, 1, bin[1], s % bins.samples[1], width, columns);
    if (!inside) greatest = greater(greatest, 0);
    for (int tap = 0; inside && tap < 4; ++tap) {
      const float weight = rows.weight[tap / 2] * columns.weight[tap % 2];
      const auto at = static_cast<size_t>(rows.index[tap / 2]) * static_cast<size_t>(width) +
                      static_cast<size_t>(columns.index[tap % 2]);
      const double value = weight == 0 ? 0 : double{weight} * image[at];
      sum += value;
      greatest = greater(greatest, value);
    }
  }
  if (op.mode == RoiMode::kMax) return samples == 0 ? 0 : greatest;
  return sum / std::max(1, samples);
}

}  // namespace

namespace ops {

Status RoiAlign::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& rois = TRY(cx.input(1));
  const TensorType& batches = TRY(cx.input(2));
  TRY(cx.require(is_float(x.dtype) && x.rank() == 4, "x is ", x, "; floats [N, C, H, W] are needed"));
  TRY(cx.require(is_float(rois.dtype) && rois.rank() == 2 && sym::provably_equal(rois.shape[1], 4), "rois are ", rois,
                 "; floats [R, 4] are needed"));
  TRY(cx.require(is_index(batches.dtype) && batches.rank() == 1, "batch_indices are ", batches,
                 "; i32 or i64 [R] needed"));
  TRY(cx.require(height > 0 && width > 0 && height <= kMostRoiBins && width <= kMostRoiBins, "the output has ", height,
                 " x ", width, " bins; 1 to ", kMostRoiBins, " along an axis are possible"));
  TRY(cx.require(sampling_ratio >= 0 && sampling_ratio <= kMostRoiSamples, "sampling_ratio is ", sampling_ratio,
                 "; 0 to ", kMostRoiSamples, " are possible"));
  TRY(cx.assume_equal(rois.shape[0], batches.shape[0], str("regions of rois ", rois, " and batch_indices ", batches)));
  return cx.set_output(0, x, {rois.shape[0], x.shape[1], height, width});
}

Status RoiAlign::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), rois = TRY(cx.input(1)), batches = TRY(cx.input(2));
  const MutableView y = TRY(cx.output(0));
  const std::vector<double> from = x.numbers();
  const int64_t channels = x.extents()[1];
  const auto rows = static_cast<int>(x.extents()[2]), columns = static_cast<int>(x.extents()[3]);
  const int64_t plane = x.extents()[2] * x.extents()[3];
  const int counts[] = {height, width};
  for (int64_t r = 0; r < rois.extents()[0]; ++r) {
    float corners[4];
    for (int i = 0; i < 4; ++i) corners[i] = static_cast<float>(rois[4 * r + i]);
    const auto bins =
        sampling::roi_bins(corners, static_cast<float>(spatial_scale), half_pixel, counts, sampling_ratio);
    const int64_t batch = batches.integer(r);
    TRY(require(batch >= 0 && batch < x.extents()[0], "batch index ", batch, " is outside [0, ", x.extents()[0], ")"));
    for (int64_t c = 0; c < channels; ++c) {
      const auto image =
          std::span(from).subspan(static_cast<size_t>((batch * channels + c) * plane), static_cast<size_t>(plane));
      for (int bin = 0; bin < height * width; ++bin)
        y.set((r * channels + c) * height * width + bin,
              bin_of(*this, bins, {bin / width, bin % width}, image, rows, columns));
    }
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
