#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Resize>();

namespace {
/// Where output i lies in x, in float as the frameworks that models come from compute it.
float coordinate_of(const ops::Resize& resize, int64_t i, int64_t in, int64_t out, float scale) {
  const auto at = static_cast<float>(i);
  if (out == 1 && resize.selector == ResizeSelector::kUpper) return 0;
  switch (resize.coordinate) {
    case CoordinateTransformation::kAlignCorners:
      return out == 1 ? 0 : at * static_cast<float>(in - 1) / static_cast<float>(out - 1);
    case CoordinateTransformation::kAsymmetric: return at / scale;
    case CoordinateTransformation::kHalfPixel: return (at + 0.5F) / scale - 0.5F;
    case CoordinateTransformation::kPytorchHalfPixel: return out == 1 ? 0 : (at + 0.5F) / scale - 0.5F;
    case CoordinateTransformation::kHalfPixelSymmetric: {
      const float adjustment = static_cast<float>(out) / (scale * static_cast<float>(in));
      const float offset = static_cast<float>(in) / 2 * (1 - adjustment);
      return offset + (at + 0.5F) / scale - 0.5F;
    }
    case CoordinateTransformation::kTfHalfPixelForNearest: return (at + 0.5F) / scale;
  }
  return at;
}

int64_t rounded(ResizeRounding rounding, float x) {
  switch (rounding) {
    case ResizeRounding::kHalfUp: return static_cast<int64_t>(std::floor(x + 0.5F));
    case ResizeRounding::kHalfDown: return static_cast<int64_t>(std::ceil(x - 0.5F));
    case ResizeRounding::kFloor: return static_cast<int64_t>(std::floor(x));
    case ResizeRounding::kCeil: return static_cast<int64_t>(std::ceil(x));
  }
  return 0;
}

/// Keys' kernel with parameter a, at distance d from the sample.
double cubic_weight(double a, double d) {
  d = std::abs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

void append_cubic_taps(const ops::Resize& resize, float x, int64_t in, std::vector<ResizeTap>& taps) {
  const auto base = static_cast<int64_t>(std::floor(x));
  double sum = 0;
  const size_t first = taps.size();
  for (int64_t k = base - 1; k <= base + 2; ++k) {
    const bool outside = resize.exclude_outside && (k < 0 || k >= in);
    const double weight =
        outside ? 0 : cubic_weight(resize.cubic_coeff, static_cast<double>(x) - static_cast<double>(k));
    taps.push_back({std::clamp<int64_t>(k, 0, in - 1), weight});
    sum += weight;
  }
  if (!resize.exclude_outside || sum == 0) return;
  for (size_t k = first; k < taps.size(); ++k) taps[k].weight /= sum;
}

bool is_widened(const ops::Resize& resize, float scale) {
  return resize.antialias && resize.mode != ResizeMode::kNearest && scale < 1;
}

/// The kernel over the elements within its radius divided by the scale, normalised.
void append_wide_taps(const ops::Resize& resize, float x, int64_t in, float scale, std::vector<ResizeTap>& taps) {
  const int count = resize_taps_per_output(resize, scale);
  const auto base = static_cast<int64_t>(std::ceil(x)) - count / 2;
  const size_t first = taps.size();
  double sum = 0;
  for (int64_t k = base; k < base + count; ++k) {
    const double d = std::abs(static_cast<double>(k) - static_cast<double>(x)) * static_cast<double>(scale);
    const bool outside = resize.exclude_outside && (k < 0 || k >= in);
    const double weight = outside                              ? 0
                          : resize.mode == ResizeMode::kLinear ? std::max(1 - d, 0.0)
                                                               : cubic_weight(resize.cubic_coeff, d);
    taps.push_back({std::clamp<int64_t>(k, 0, in - 1), weight});
    sum += weight;
  }
  for (size_t k = first; k < taps.size() && sum != 0; ++k) taps[k].weight /= sum;
}

/// floor(extent * scale): of a symbol as a quotient of integers, for scales that are one to float's precision.
Result<sym::Expr> scaled_extent(sym::Expr extent, double scale) {
  for (int64_t denominator = 1; denominator <= 1024; ++denominator) {
    const double numerator = std::round(scale * static_cast<double>(denominator));
    if (std::abs(numerator / static_cast<double>(denominator) - scale) > scale * 1.5e-7 || numerator > 1e9) continue;
    return sym::floor_div(extent * static_cast<int64_t>(numerator), denominator);
  }
  if (extent.is_const())
    return sym::Expr(static_cast<int64_t>(std::floor(static_cast<float>(extent.value()) * static_cast<float>(scale))));
  return error(Code::kUnsupported, "extent ", extent, " times scale ", scale,
               ", which is no fraction with a denominator of at most 1024; give sizes instead");
}
}  // namespace

int resize_taps_per_output(const ops::Resize& resize, float scale) {
  if (resize.mode == ResizeMode::kNearest) return 1;
  const int radius = resize.mode == ResizeMode::kLinear ? 1 : 2;
  return 2 * (is_widened(resize, scale) ? static_cast<int>(std::ceil(static_cast<float>(radius) / scale)) : radius);
}

float resize_scale(const ops::Resize& resize, size_t axis, int64_t in, int64_t out) {
  if (resize.dims.empty() && axis < resize.scales.size()) return static_cast<float>(resize.scales[axis]);
  return static_cast<float>(out) / static_cast<float>(in);
}

bool resize_is_identity(int64_t in, int64_t out, float scale) { return in == out && scale == 1; }

std::vector<ResizeTap> resize_taps(const ops::Resize& resize, int64_t in, int64_t out, float scale) {
  std::vector<ResizeTap> taps;
  taps.reserve(static_cast<size_t>(out) * static_cast<size_t>(resize_taps_per_output(resize, scale)));
  for (int64_t i = 0; i < out; ++i) {
    const float x = coordinate_of(resize, i, in, out, scale);
    if (resize.mode == ResizeMode::kNearest) {
      taps.push_back({std::clamp<int64_t>(rounded(resize.rounding, x), 0, in - 1), 1});
    } else if (is_widened(resize, scale)) {
      append_wide_taps(resize, x, in, scale, taps);
    } else if (resize.mode == ResizeMode::kLinear) {
      const float inside = std::clamp(x, 0.0F, static_cast<float>(in - 1));
      const auto low = std::min(static_cast<int64_t>(inside), in - 1);
      const double part = static_cast<double>(inside) - static_cast<double>(low);
      taps.push_back({low, 1 - part});
      taps.push_back({std::min(low + 1, in - 1), part});
    } else {
      append_cubic_taps(resize, x, in, taps);
    }
  }
  return taps;
}

namespace {
/// `values` of `extents`, resampled along one axis to `out`.
std::vector<double> resample(const std::vector<double>& values, const Extents& extents, size_t axis, int64_t out,
                             const std::vector<ResizeTap>& taps, int per_output) {
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= extents[i];
  for (size_t i = axis + 1; i < extents.size(); ++i) inner *= extents[i];
  std::vector<double> result(static_cast<size_t>(outer * out * inner), 0.0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < out; ++i)
      for (int t = 0; t < per_output; ++t) {
        const ResizeTap& tap = taps[static_cast<size_t>(i * per_output + t)];
        if (tap.weight == 0) continue;  // an infinite neighbour without a part in this element
        for (int64_t k = 0; k < inner; ++k)
          result[static_cast<size_t>((o * out + i) * inner + k)] +=
              tap.weight * values[static_cast<size_t>((o * extents[axis] + tap.index) * inner + k)];
      }
  return result;
}

/// Nearest moves elements, whatever their type.
Status resize_nearest(const ops::Resize& resize, const View& x, const MutableView& y,
                      const std::vector<float>& scales) {
  std::vector<std::vector<ResizeTap>> tables;
  for (size_t i = 0; i < scales.size(); ++i)
    tables.push_back(resize_is_identity(x.extents()[i], y.extents()[i], scales[i])
                         ? std::vector<ResizeTap>()
                         : resize_taps(resize, x.extents()[i], y.extents()[i], scales[i]));
  const Extents strides = row_major_strides(x.extents());
  for_each_index(y.extents(), [&](int64_t linear, std::span<const int64_t> index) {
    int64_t source = 0;
    for (size_t i = 0; i < index.size(); ++i)
      source += strides[i] * (tables[i].empty() ? index[i] : tables[i][static_cast<size_t>(index[i])].index);
    y.copy_element(linear, x, source);
  });
  return {};
}
}  // namespace

namespace ops {

Status Resize::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const auto rank = x.shape.size();
  TRY(cx.require(mode == ResizeMode::kNearest || (x.dtype != DType::kBool && bits_of(x.dtype) >= 8), "x is ", x,
                 "; resize ", mode, " takes numbers of at least a byte"));
  const bool sized = cx.has_input(1) || !dims.empty();
  kiln::Shape shape;
  if (sized) {
    shape = TRY(dims_of(cx, 1, dims, "sizes"));
    TRY(cx.require(shape.size() == rank, "sizes ", shape, " has ", shape.size(), " extents; x is ", x));
  } else {
    TRY(cx.require(scales.size() == rank, "resize of ", x, " has ", scales.size(), " scales and no sizes"));
    for (size_t i = 0; i < rank; ++i) {
      TRY(cx.require(scales[i] > 0 && scales[i] < 1e6, "scale ", scales[i], " of axis ", i, " is not positive"));
      shape.push_back(TRY(scaled_extent(x.shape[i], scales[i])));
    }
  }
  for (size_t i = 0; i < rank; ++i)
    TRY(cx.require(x.shape[i] != sym::Expr(0) || shape[i] == sym::Expr(0), "axis ", i, " of ", x,
                   " is empty and cannot be resized to ", shape[i]));
  return cx.set_output(0, TensorType(x.dtype, std::move(shape)));
}

Status Resize::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  if (y.volume() == 0) return {};
  const auto rank = x.extents().size();
  std::vector<float> factors;
  for (size_t i = 0; i < rank; ++i)
    factors.push_back(cx.has_input(1) ? static_cast<float>(y.extents()[i]) / static_cast<float>(x.extents()[i])
                                      : resize_scale(*this, i, x.extents()[i], y.extents()[i]));
  if (mode == ResizeMode::kNearest) return resize_nearest(*this, x, y, factors);
  std::vector<double> values(static_cast<size_t>(x.volume()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = x[static_cast<int64_t>(i)];
  Extents extents = x.extents();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = extents[i], out = y.extents()[i];
    if (resize_is_identity(in, out, factors[i])) continue;
    values = resample(values, extents, i, out, resize_taps(*this, in, out, factors[i]),
                      resize_taps_per_output(*this, factors[i]));
    extents[i] = out;
  }
  for (size_t i = 0; i < values.size(); ++i) y.set(static_cast<int64_t>(i), values[i]);
  return {};
}

AxisMap Resize::axes(std::span<const TensorType> inputs) const {
  const TensorType& x = inputs[0];
  std::vector<int> map(x.shape.size(), -1);
  kiln::Shape to(dims.begin(), dims.end());
  const bool sized = !dims.empty() || inputs.size() > 1;
  if (inputs.size() > 1 && inputs[1].values) to = *inputs[1].values;
  for (size_t i = 0; i < map.size(); ++i) {
    const bool same = sized ? i < to.size() && to[i] == x.shape[i] : i < scales.size() && scales[i] == 1;
    if (same) map[i] = static_cast<int>(i);
  }
  return only_first_input(std::move(map), inputs.size());
}

}  // namespace ops
}  // namespace kiln
