#include "ops/convolution.h"

#include "ops/define.h"
#include "ops/filter.h"

namespace kiln {
template const OpInfo& op_info<ops::Convolution>();

namespace ops {

Status Convolution::infer(InferContext& cx) const {
  TRY(check_filter_types(cx, name, /*may_be_float=*/true));
  const TensorType& x = TRY(cx.input(0));
  const TensorType& w = TRY(cx.input(1));
  const Extents taps = TRY(filter_kernel(w, kernel));
  const std::vector<WindowAxis> windows = TRY(window_axes(*this, taps));
  TRY(cx.require(groups >= 1, "groups is ", groups, "; at least 1 is needed"));
  TRY(cx.require(padding != PaddingMode::kRoundUpInside, "padding mode ", padding, " is for Pooling only"));
  TRY(cx.assume_equal(x.shape[1], w.shape[1] * sym::Expr(groups),
                      str("x ", x, " must have ", groups, " times the ", w.shape[1], " channels of w ", w)));
  const sym::Expr outputs = w.shape[0];
  TRY(cx.require(!outputs.is_const() || outputs.value() % groups == 0, "w ", w, " has ", outputs,
                 " output channels, not a multiple of ", groups, " groups"));
  TRY(check_filter_bias(cx, outputs));
  Shape shape{x.shape[0], outputs};
  for (size_t i = 0; i < windows.size(); ++i)
    shape.push_back(TRY(window_extent(cx, x.shape[i + 2], windows[i], padding, static_cast<int>(i) + 2)));
  return cx.set_output(0, x, std::move(shape));
}

Status Convolution::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), w = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const auto in = std::span(x.extents()).subspan(2), out = std::span(y.extents()).subspan(2),
             taps = std::span(w.extents()).subspan(2);
  std::vector<WindowAxis> windows = TRY(window_axes(*this, taps));
  for (size_t i = 0; i < windows.size(); ++i) windows[i] = with_pads(windows[i], padding, in[i]);
  const FilterAxes axes = filter_axes(windows, in, out);
  const int64_t batch = x.extents()[0], outputs = w.extents()[0], channels = w.extents()[1];
  const int64_t in_plane = volume(in), out_plane = volume(out), num_taps = volume(taps);
  const std::vector<double> xs = x.numbers(), ws = w.numbers();
  const std::vector<double> bias = cx.has_input(2) ? TRY(cx.input(2)).numbers() : std::vector<double>(outputs);
  std::vector<double> sums(static_cast<size_t>(out_plane));
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t o = 0; o < outputs; ++o) {
      std::fill(sums.begin(), sums.end(), bias[static_cast<size_t>(o)]);
      const int64_t group = o / (outputs / groups);
      for (int64_t c = 0; c < channels; ++c) {
        const double* plane = xs.data() + ((n * groups + group) * channels + c) * in_plane;
        for (int64_t t = 0; t < num_taps; ++t) {
          const double weight = ws[static_cast<size_t>((o * channels + c) * num_taps + t)];
          for_each_run(axes, t, [&](int64_t from, int64_t stride, int64_t to, int64_t count) {
            for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(to + i)] += weight * plane[from + i * stride];
          });
        }
      }
      for (int64_t i = 0; i < out_plane; ++i) y.set((n * outputs + o) * out_plane + i, sums[static_cast<size_t>(i)]);
    }
  return {};
}

}  // namespace ops
}  // namespace kiln
