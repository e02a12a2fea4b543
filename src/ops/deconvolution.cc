#include "ops/deconvolution.h"

#include "ops/define.h"
#include "ops/filter.h"

namespace kiln {
template const OpInfo& op_info<ops::Deconvolution>();

namespace ops {
namespace {

Result<std::vector<WindowAxis>> windows_of(const Deconvolution& op, std::span<const int64_t> taps) {
  std::vector<WindowAxis> windows = TRY(window_axes({.kernel = taps,
                                                     .strides = op.strides,
                                                     .pre_pads = op.pre_pads,
                                                     .post_pads = op.post_pads,
                                                     .dilations = op.dilations,
                                                     .negative_post_pads = true}));
  for (WindowAxis& window : windows) window = with_deconvolution_pads(window, op.padding);
  return windows;
}

}  // namespace

Status Deconvolution::infer(InferContext& cx) const {
  TRY(check_filter_types(cx, name));
  const TensorType& x = TRY(cx.input(0));
  const TensorType& w = TRY(cx.input(1));
  const Extents taps = TRY(filter_kernel(w, kernel));
  const std::vector<WindowAxis> windows = TRY(windows_of(*this, taps));
  TRY(cx.require(groups >= 1, "groups is ", groups, "; at least 1 is needed"));
  TRY(cx.require(padding != PaddingMode::kRoundUpInside, "padding mode ", padding, " is for Pooling only"));
  TRY(cx.assume_equal(x.shape[1], w.shape[0], str("x ", x, " and w ", w, " must have the same input channels")));
  const sym::Expr channels = w.shape[0], outputs = w.shape[1] * sym::Expr(groups);
  TRY(cx.require(!channels.is_const() || channels.value() % groups == 0, "w ", w, " has ", channels,
                 " input channels, not a multiple of ", groups, " groups"));
  TRY(check_filter_bias(cx, outputs));
  Shape shape{x.shape[0], outputs};
  for (size_t i = 0; i < windows.size(); ++i) {
    shape.push_back(deconvolution_extent(x.shape[i + 2], windows[i]));
    TRY(cx.require(shape.back().max() > 0, "axis ", i + 2, " of the output would have ", shape.back(),
                   " elements; pads of ", windows[i].pre, " and ", windows[i].post, " leave nothing of x ", x));
  }
  return cx.set_output(0, x, std::move(shape));
}

Status Deconvolution::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), w = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const auto in = std::span(x.extents()).subspan(2), out = std::span(y.extents()).subspan(2),
             taps = std::span(w.extents()).subspan(2);
  const FilterAxes axes = filter_axes(TRY(windows_of(*this, taps)), out, in);
  const int64_t batch = x.extents()[0], channels = x.extents()[1] / groups, outputs = w.extents()[1];
  const int64_t in_plane = volume(in), out_plane = volume(out), num_taps = volume(taps);
  const std::vector<double> xs = x.numbers(), ws = w.numbers();
  const std::vector<double> bias =
      cx.has_input(2) ? TRY(cx.input(2)).numbers() : std::vector<double>(static_cast<size_t>(outputs * groups));
  std::vector<double> sums(static_cast<size_t>(out_plane));
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t o = 0; o < outputs * groups; ++o) {
      std::fill(sums.begin(), sums.end(), bias[static_cast<size_t>(o)]);
      const int64_t group = o / outputs;
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        const double* plane = xs.data() + (n * channels * groups + c) * in_plane;
        for (int64_t t = 0; t < num_taps; ++t) {
          const double weight = ws[static_cast<size_t>((c * outputs + o % outputs) * num_taps + t)];
          for_each_run(axes, t, [&](int64_t to, int64_t stride, int64_t from, int64_t count) {
            for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(to + i * stride)] += weight * plane[from + i];
          });
        }
      }
      for (int64_t i = 0; i < out_plane; ++i)
        y.set((n * outputs * groups + o) * out_plane + i, sums[static_cast<size_t>(i)]);
    }
  return {};
}

}  // namespace ops
}  // namespace kiln
