#include "ops/pooling.h"

#include <cmath>

#include "ops/define.h"
#include "ops/filter.h"

namespace kiln {
template const OpInfo& op_info<ops::Pooling>();

namespace ops {
namespace {

/// The contents of one window.
struct Pool {
  double peak, sum = 0;
  int64_t inside = 0;  // taps within x
  int64_t padded = 0;  // taps within x and its pads

  void add(double value) {
    if (value > peak || std::isnan(value)) peak = value;
    sum += value;
    ++inside;
  }
  double average(bool excludes_padding) const {
    return inside == 0 ? 0 : sum / static_cast<double>(excludes_padding ? inside : padded);
  }
};

/// The maximum of nothing.
double least_of(DType dtype) {
  if (is_float(dtype)) return -INFINITY;
  return dtype == DType::kU8 ? 0 : -std::ldexp(1, bits_of(dtype) - 1);
}

/// The window at output index `p` of a plane.
Pool pool_at(const double* plane, const FilterAxes& axes, const std::array<int64_t, 3>& p, double least) {
  Pool pool{least};
  const auto& [d, h, w] = axes;
  for (int64_t tap = 0; tap < d.window.kernel * h.window.kernel * w.window.kernel; ++tap) {
    const std::array<int64_t, 3> t{tap / (h.window.kernel * w.window.kernel), tap / w.window.kernel % h.window.kernel,
                                   tap % w.window.kernel};
    int64_t index = 0;
    bool inside = true, padded = true;
    for (size_t i = 0; i < 3; ++i) {
      const WindowAxis& axis = axes[i].window;
      const int64_t at = p[i] * axis.stride - axis.pre + t[i] * axis.dilation;
      inside &= at >= 0 && at < axes[i].wide;
      padded &= at < axes[i].wide + axis.post;
      index = index * axes[i].wide + at;
    }
    pool.padded += padded;
    if (inside) pool.add(plane[index]);
  }
  return pool;
}

}  // namespace

Status Pooling::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_float(x.dtype) || (kind == PoolingKind::kMax && is_integer(x.dtype) && bits_of(x.dtype) <= 32),
                 "x is ", x, "; ", kind, " pooling takes a float type",
                 kind == PoolingKind::kMax ? " or an integer type of at most 32 bits" : ""));
  TRY(cx.require(x.rank() >= 3 && x.rank() <= 5, "x is ", x, ", of rank ", x.rank(),
                 "; it must be [N, C] and 1 to 3 spatial axes"));
  TRY(cx.require(window.size() + 2 == x.shape.size(), "window is ", window, ", with ", window.size(), " entries; x ", x,
                 " has ", x.rank() - 2, " spatial axes"));
  const std::vector<WindowAxis> windows = TRY(window_axes(*this, window));
  kiln::Shape shape{x.shape[0], x.shape[1]};
  for (size_t i = 0; i < windows.size(); ++i)
    shape.push_back(TRY(window_extent(cx, x.shape[i + 2], windows[i], padding, static_cast<int>(i) + 2)));
  return cx.set_output(0, x, std::move(shape));
}

Status Pooling::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const auto in = std::span(x.extents()).subspan(2), out = std::span(y.extents()).subspan(2);
  std::vector<WindowAxis> windows = TRY(window_axes(*this, window));
  for (size_t i = 0; i < windows.size(); ++i) windows[i] = with_pads(windows[i], padding, in[i]);
  const FilterAxes axes = filter_axes(windows, in, out);
  const std::vector<double> xs = x.numbers();
  const int64_t in_plane = volume(in), rows = axes[1].narrow, columns = axes[2].narrow;
  const double share = kind == PoolingKind::kMax ? 0 : kind == PoolingKind::kAverage ? 1 : blend;
  const double least = least_of(x.dtype());
  for (int64_t i = 0; i < y.volume(); ++i) {
    const int64_t plane = i / volume(out), at = i % volume(out);
    const Pool pool =
        pool_at(xs.data() + plane * in_plane, axes, {at / (rows * columns), at / columns % rows, at % columns}, least);
    const double average = pool.average(average_excludes_padding);
    y.set(i, share == 0 ? pool.peak : share == 1 ? average : (1 - share) * pool.peak + share * average);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
