#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Resize>();

namespace {
/// The position of output i in x, in float as the frameworks that models come from compute it.
float coordinate_of(const ops::Resize& resize, int64_t i, int64_t in, int64_t out, const ResizeSpan& span) {
  const auto at = static_cast<float>(i), last = static_cast<float>(in - 1);
  const float scale = span.scale;
  if (out == 1 && resize.selector == ResizeSelector::kUpper) return 0;
  switch (resize.coordinate) {
    case CoordinateTransformation::kAlignCorners: return out == 1 ? 0 : at * last / static_cast<float>(out - 1);
    case CoordinateTransformation::kTfCropAndResize: {
      const float part = out == 1 ? 0.5F : at / static_cast<float>(out - 1);
      return (span.begin + part * (span.end - span.begin)) * last;
    }
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

/// floor(extent * scale) with the product rounded to a float, as in ONNX Runtime; for extents that are not known, and
/// up to 2^23 elements of y. The product is a multiple of 2^-k. Rounding lifts it to the next integer if that is at
/// most half a float's spacing away. The expression adds that much; it doubles at every power of two.
sym::Expr floor_of_float_product(sym::Expr extent, float scale) {
  constexpr int kDigits = 24, kMostBits = 60;
  int exponent = 0;
  auto m = static_cast<int64_t>(std::ldexp(std::frexp(scale, &exponent), kDigits));
  int k = kDigits - exponent;
  for (; m % 2 == 0; --k) m /= 2;
  if (k > kMostBits) return 0;  // of fewer than 2^36 elements, the most that the fractions below have room for
  if (k <= 0) return extent * (m << -k);
  sym::Expr product = extent * m;
  int64_t added = 0;
  for (int p = std::max(-1, kDigits - k); p < kDigits - 1 && p + k <= kMostBits; ++p) {
    const int64_t half_spacing = int64_t{1} << (k + p - kDigits), reached = ((int64_t{1} << (p + k)) + m - 1) / m;
    product += sym::less(reached - 1, extent) * (half_spacing - added);
    added = half_spacing;
  }
  return sym::floor_div(product, int64_t{1} << k);
}

/// floor(extent * scale): as a quotient of small integers for scales that are one to float's precision, else by floats.
Result<sym::Expr> scaled_extent(sym::Expr extent, double scale) {
  for (int64_t denominator = 1; denominator <= 1024; ++denominator) {
    const double numerator = std::round(scale * static_cast<double>(denominator));
    if (std::abs(numerator / static_cast<double>(denominator) - scale) > scale * 1.5e-7 || numerator > 1e9) continue;
    return sym::floor_div(extent * static_cast<int64_t>(numerator), denominator);
  }
  if (!extent.is_const()) return floor_of_float_product(extent, static_cast<float>(scale));
  const float made = std::floor(static_cast<float>(extent.value()) * static_cast<float>(scale));
  TRY(require(made < 0x1p62F, "extent ", extent, " times scale ", scale, " is ", made));
  return sym::Expr(static_cast<int64_t>(made));
}

/// The scale that a fit uses for all axes: the least or the greatest that its sizes ask for. It is compared in double,
/// because a quotient of integers has more digits than a float.
float fitted_scale(const ops::Resize& resize, std::span<const int64_t> in) {
  const bool least = resize.fit == ResizeFit::kNotLarger;
  double scale = least ? INFINITY : 0;
  for (size_t axis = 0; axis < resize.fitted_sizes.size(); ++axis) {
    if (resize.fitted_sizes[axis] == 0) continue;
    const double own = static_cast<double>(resize.fitted_sizes[axis]) / static_cast<double>(in[axis]);
    scale = least ? std::min(scale, own) : std::max(scale, own);
  }
  return static_cast<float>(scale);
}

/// Whether a scale that comes at run time makes `out` elements of `in`. The exact and the rounded product differ if the
/// scale only approximates a fraction; models rely on either. A fit rounds to the nearest, with a rounded scale.
bool makes_extent(const ops::Resize& resize, float scale, int64_t in, int64_t out) {
  const double exact = static_cast<double>(in) * static_cast<double>(scale);
  const auto wanted = static_cast<double>(out);
  if (resize.fit != ResizeFit::kStretch) return std::abs(exact - wanted) <= 0.5 + exact * 1e-6;
  return std::floor(exact) == wanted || std::floor(static_cast<float>(exact)) == wanted;
}
}  // namespace

int resize_taps_per_output(const ops::Resize& resize, float scale) {
  if (resize.mode == ResizeMode::kNearest) return 1;
  const int radius = resize.mode == ResizeMode::kLinear ? 1 : 2;
  constexpr float kMostOnASide = 0x1p29F;  // more would be no int; no tensor has them
  if (!is_widened(resize, scale)) return 2 * radius;
  return 2 * static_cast<int>(std::min(std::ceil(static_cast<float>(radius) / scale), kMostOnASide));
}

Status find_resize_spans(const ops::Resize& resize, const ResizeInputs& inputs, std::span<const int64_t> in,
                         std::span<const int64_t> out, std::span<ResizeSpan> spans) {
  TRY(require(in.size() == out.size(), "a resize of rank ", in.size(), " makes rank ", out.size()));
  for (size_t axis = 0; axis < in.size(); ++axis)
    TRY(require(in[axis] > 0 || out[axis] == 0, "axis ", axis, " is resized from nothing to ", out[axis]));
  const bool by_scales = !inputs.sized && resize.dims.empty();
  for (size_t axis = 0; axis < in.size(); ++axis)
    spans[axis] = {by_scales && axis < resize.scales.size()
                       ? static_cast<float>(resize.scales[axis])
                       : static_cast<float>(out[axis]) / static_cast<float>(in[axis])};
  TRY(require(resize.fitted_sizes.empty() || resize.fitted_sizes.size() == in.size(), "a resize of rank ", in.size(),
              " fits ", resize.fitted_sizes.size(), " sizes"));
  for (size_t axis = 0; axis < resize.fitted_sizes.size(); ++axis)
    spans[axis].scale = resize.fitted_sizes[axis] == 0 ? 1 : fitted_scale(resize, in);
  const size_t count = resize.axes_given.empty() ? in.size() : resize.axes_given.size();
  TRY(require((inputs.roi.empty() || inputs.roi.size() == 2 * count) &&
                  (inputs.scales.empty() || inputs.scales.size() == count),
              "a resize along ", count, " axes has a roi of ", inputs.roi.size(), " and ", inputs.scales.size(),
              " scales"));
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = resize.axes_given.empty() ? i : static_cast<size_t>(resize.axes_given[i]);
    TRY(require(axis < in.size(), "axis ", axis, " is none of ", in.size()));
    ResizeSpan& span = spans[axis];
    if (!inputs.roi.empty()) span.begin = inputs.roi[i], span.end = inputs.roi[count + i];
    if (inputs.scales.empty()) continue;
    span.scale = inputs.scales[i];
    TRY(require(span.scale > 0 && makes_extent(resize, span.scale, in[axis], out[axis]), "scale ", span.scale,
                " of axis ", axis, " makes ",
                std::floor(static_cast<double>(in[axis]) * static_cast<double>(span.scale)), " of ", in[axis],
                " elements; the output has ", out[axis]));
  }
  return {};
}

bool resize_is_identity(int64_t in, int64_t out, const ResizeSpan& span) {
  return in == out && (in == 1 || (span.scale == 1 && span.begin == 0 && span.end == 1));
}

void find_resize_taps(const ops::Resize& resize, int64_t in, int64_t out, const ResizeSpan& span,
                      std::vector<ResizeTap>& taps) {
  const int per_output = resize_taps_per_output(resize, span.scale);
  taps.clear();
  taps.reserve(static_cast<size_t>(out) * static_cast<size_t>(per_output));
  for (int64_t i = 0; i < out; ++i) {
    const float x = coordinate_of(resize, i, in, out, span);
    const bool outside = resize.coordinate == CoordinateTransformation::kTfCropAndResize &&
                         !(x >= 0 && x <= static_cast<float>(in - 1));  // also what is no number
    if (outside) {
      taps.insert(taps.end(), static_cast<size_t>(per_output), {-1, 0});
    } else if (resize.mode == ResizeMode::kNearest) {
      taps.push_back({std::clamp<int64_t>(rounded(resize.rounding, x), 0, in - 1), 1});
    } else if (is_widened(resize, span.scale)) {
      append_wide_taps(resize, x, in, span.scale, taps);
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
}

namespace {
/// `values` of `extents`, resampled along one axis to `out`; `outside` where the taps say so.
std::vector<double> resample(const std::vector<double>& values, const Extents& extents, size_t axis, int64_t out,
                             const std::vector<ResizeTap>& taps, int per_output, double outside) {
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= extents[i];
  for (size_t i = axis + 1; i < extents.size(); ++i) inner *= extents[i];
  std::vector<double> result(static_cast<size_t>(outer * out * inner), 0.0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < out; ++i)
      for (int t = 0; t < per_output; ++t) {
        const ResizeTap& tap = taps[static_cast<size_t>(i * per_output + t)];
        if (tap.index < 0) std::fill_n(result.begin() + (o * out + i) * inner, inner, outside);
        if (tap.weight == 0) continue;  // an infinite neighbour without a part in this element
        for (int64_t k = 0; k < inner; ++k)
          result[static_cast<size_t>((o * out + i) * inner + k)] +=
              tap.weight * values[static_cast<size_t>((o * extents[axis] + tap.index) * inner + k)];
      }
  return result;
}

/// Nearest moves elements, whatever their type.
Status resize_nearest(const ops::Resize& resize, const View& x, const MutableView& y,
                      const std::vector<ResizeSpan>& spans) {
  std::vector<std::vector<ResizeTap>> tables(spans.size());
  for (size_t i = 0; i < spans.size(); ++i)
    if (!resize_is_identity(x.extents()[i], y.extents()[i], spans[i]))
      find_resize_taps(resize, x.extents()[i], y.extents()[i], spans[i], tables[i]);
  const Extents strides = row_major_strides(x.extents());
  for_each_index(y.extents(), [&](int64_t linear, std::span<const int64_t> index) {
    int64_t source = 0;
    bool outside = false;
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t at = tables[i].empty() ? index[i] : tables[i][static_cast<size_t>(index[i])].index;
      outside = outside || at < 0;
      source += strides[i] * at;
    }
    outside ? y.set(linear, resize.extrapolation) : y.copy_element(linear, x, source);
  });
  return {};
}

/// The numbers of an optional input.
Result<std::vector<float>> floats_of(ReferenceContext& cx, int input) {
  std::vector<float> result;
  if (!cx.has_input(input)) return result;
  const View view = TRY(cx.input(input));
  for (int64_t i = 0; i < view.volume(); ++i) result.push_back(static_cast<float>(view[i]));
  return result;
}

/// Input `i`, `name`, is a float vector of `count` elements.
Status check_numbers(InferContext& cx, int i, std::string_view name, size_t count) {
  const TensorType& type = TRY(cx.input(i));
  TRY(cx.require(type.dtype == DType::kF32 && type.rank() == 1, name, " is ", type, "; f32[", count, "] is needed"));
  return cx.assume_equal(type.shape[0], static_cast<int64_t>(count), str("elements of a resize's ", name));
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
      TRY(cx.require(scales[i] > 0 && scales[i] < 1e6, "scale ", scales[i], " of axis ", i,
                     " is not between 0 and a million"));
      shape.push_back(TRY(scaled_extent(x.shape[i], scales[i])));
    }
  }
  for (const int64_t axis : axes_given)
    TRY(cx.require(axis >= 0 && axis < x.rank(), "axis ", axis, " is outside [0, ", rank, ") of x ", x));
  const size_t given = axes_given.empty() ? rank : axes_given.size();
  const bool crops = coordinate == CoordinateTransformation::kTfCropAndResize;
  TRY(cx.require(crops == cx.has_input(2), "resize ", coordinate, crops ? " needs a roi" : " takes no roi"));
  if (crops) TRY(check_numbers(cx, 2, "roi", 2 * given));
  if (cx.has_input(3)) TRY(check_numbers(cx, 3, "scales", given));
  TRY(cx.require(sized || !cx.has_input(3),
                 "scales that come at run time cannot decide y's extents; sizes must be given"));
  TRY(cx.require(fit == ResizeFit::kStretch || (sized && cx.has_input(3) == fitted_sizes.empty()), "a resize that is ",
                 fit, " needs extents, and either the sizes that it fits or scales that come at run time"));
  TRY(cx.require(fitted_sizes.empty() || (fit != ResizeFit::kStretch && fitted_sizes.size() == rank), "resize ", fit,
                 " of ", x, " fits ", fitted_sizes.size(), " sizes"));
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
  const std::vector<float> roi = TRY(floats_of(cx, 2)), factors = TRY(floats_of(cx, 3));
  std::vector<ResizeSpan> spans(rank);
  TRY(find_resize_spans(*this, {cx.has_input(1), roi, factors}, x.extents(), y.extents(), spans));
  if (mode == ResizeMode::kNearest) return resize_nearest(*this, x, y, spans);
  std::vector<double> values(static_cast<size_t>(x.volume()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = x[static_cast<int64_t>(i)];
  Extents extents = x.extents();
  std::vector<ResizeTap> taps;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = extents[i], out = y.extents()[i];
    if (resize_is_identity(in, out, spans[i])) continue;
    find_resize_taps(*this, in, out, spans[i], taps);
    values = resample(values, extents, i, out, taps, resize_taps_per_output(*this, spans[i].scale), extrapolation);
    extents[i] = out;
  }
  for (size_t i = 0; i < values.size(); ++i) y.set(static_cast<int64_t>(i), values[i]);
  return {};
}

bool Resize::keeps(size_t axis, std::span<const TensorType> inputs) const {
  const sym::Expr& extent = inputs[0].shape[axis];
  kiln::Shape to(dims.begin(), dims.end());
  if (inputs.size() > 1 && inputs[1].values) to = *inputs[1].values;
  const bool sized = !dims.empty() || inputs.size() > 1;
  const bool same = sized ? axis < to.size() && to[axis] == extent : axis < scales.size() && scales[axis] == 1;
  const bool given = inputs.size() > 2 && (axes_given.empty() || std::ranges::count(axes_given, axis) > 0);
  const bool scaled = fit != ResizeFit::kStretch && (axis >= fitted_sizes.size() || fitted_sizes[axis] != 0);
  return same && !given && !scaled;
}

}  // namespace ops
}  // namespace kiln
