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

namespace {

/// Elements of an input's plane that one tap brings to consecutive elements of an output's plane.
struct Run {
  int64_t from = 0, stride = 1, to = 0, count = 0;
};

/// The runs of each tap. Rows that follow each other in both planes are one run.
std::vector<std::vector<Run>> runs_by_tap(const FilterAxes& axes, int64_t num_taps) {
  std::vector<std::vector<Run>> result(static_cast<size_t>(num_taps));
  for (int64_t t = 0; t < num_taps; ++t) {
    std::vector<Run>& runs = result[static_cast<size_t>(t)];
    for_each_run(axes, t, [&](int64_t from, int64_t stride, int64_t to, int64_t count) {
      if (!runs.empty() && from == runs.back().from + runs.back().count * stride &&
          to == runs.back().to + runs.back().count)
        runs.back().count += count;
      else
        runs.push_back({from, stride, to, count});
    });
  }
  return result;
}

/// Adds weight * x to the sums of each of `Outputs` channels, whose planes are `pitch` apart.
template <int Outputs>
void add_run(double* __restrict sums, int64_t pitch, const std::array<double, Outputs>& weights,
             const double* __restrict x, const Run& run) {
  sums += run.to, x += run.from;
  if (run.stride == 1) {
    for (int64_t i = 0; i < run.count; ++i)
      for (int o = 0; o < Outputs; ++o) sums[o * pitch + i] += weights[static_cast<size_t>(o)] * x[i];
    return;
  }
  for (int64_t i = 0; i < run.count; ++i)
    for (int o = 0; o < Outputs; ++o) sums[o * pitch + i] += weights[static_cast<size_t>(o)] * x[i * run.stride];
}

/// Planes of one image, and the filters of one group.
struct Planes {
  std::span<const double> x, weights;  ///< of the group's input channels; of the first output channel and those behind
  int64_t channels = 0, in_plane = 0, out_plane = 0;
  const std::vector<std::vector<Run>>* runs = nullptr;  ///< by tap
};

/// Adds the products of `Outputs` channels to their sums: of each element by channel, then by tap.
template <int Outputs>
void add_products(const Planes& planes, double* sums) {
  const auto num_taps = static_cast<int64_t>(planes.runs->size());
  for (int64_t c = 0; c < planes.channels; ++c)
    for (int64_t t = 0; t < num_taps; ++t) {
      std::array<double, Outputs> weights;
      for (int o = 0; o < Outputs; ++o)
        weights[static_cast<size_t>(o)] = planes.weights[static_cast<size_t>((o * planes.channels + c) * num_taps + t)];
      for (const Run& run : (*planes.runs)[static_cast<size_t>(t)])
        add_run<Outputs>(sums, planes.out_plane, weights, planes.x.data() + c * planes.in_plane, run);
    }
}

}  // namespace

Status Convolution::reference(ReferenceContext& cx) const {
  constexpr int kBlock = 4;  // output channels that share each element of x that is read
  const View x = TRY(cx.input(0)), w = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const auto in = std::span(x.extents()).subspan(2), out = std::span(y.extents()).subspan(2),
             taps = std::span(w.extents()).subspan(2);
  std::vector<WindowAxis> windows = TRY(window_axes(*this, taps));
  for (size_t i = 0; i < windows.size(); ++i) windows[i] = with_pads(windows[i], padding, in[i]);
  const int64_t batch = x.extents()[0], outputs = w.extents()[0], channels = w.extents()[1];
  const int64_t in_plane = volume(in), out_plane = volume(out), num_taps = volume(taps), of_group = outputs / groups;
  const std::vector<double> xs = x.numbers(), ws = w.numbers();
  const std::vector<double> bias = cx.has_input(2) ? TRY(cx.input(2)).numbers() : std::vector<double>(outputs);
  const std::vector<std::vector<Run>> runs = runs_by_tap(filter_axes(windows, in, out), num_taps);
  std::vector<double> sums(static_cast<size_t>(kBlock * out_plane));
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t o = 0, count = 0; o < outputs; o += count) {
      const int64_t group = o / of_group;
      count = (group + 1) * of_group - o >= kBlock ? kBlock : 1;
      for (int64_t i = 0; i < count * out_plane; ++i)
        sums[static_cast<size_t>(i)] = bias[static_cast<size_t>(o + i / out_plane)];
      const Planes planes{.x = std::span(xs).subspan(static_cast<size_t>((n * groups + group) * channels * in_plane)),
                          .weights = std::span(ws).subspan(static_cast<size_t>(o * channels * num_taps)),
                          .channels = channels,
                          .in_plane = in_plane,
                          .out_plane = out_plane,
                          .runs = &runs};
      count == kBlock ? add_products<kBlock>(planes, sums.data()) : add_products<1>(planes, sums.data());
      for (int64_t i = 0; i < count * out_plane; ++i)
        y.set((n * outputs + o) * out_plane + i, sums[static_cast<size_t>(i)]);
    }
  return {};
}

}  // namespace ops
}  // namespace kiln
