#include "ops/quantization.h"

#include <algorithm>
#include <cmath>

namespace kiln {

IntegerRange range_of(DType integer) {
  const int bits = bits_of(integer);
  if (integer == DType::kU8) return {0, 255};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

namespace {
constexpr int64_t kMostCheckedScales = 1 << 16;  // at each inference; importers look at all of them

/// Succeeds if `scales` elements may lie over `extent` of them.
Status check_axis(InferContext& cx, sym::Expr extent, sym::Expr scales, std::string_view why) {
  if (extent.is_const() && scales.is_const()) {
    const int64_t n = extent.value(), s = scales.value();
    return cx.require(s == 1 || s == n || (s > 0 && n % s == 0), why);
  }
  return cx.assume_one_or(scales, extent, why);
}

/// Succeeds if blocks of `block` elements along axis `axis`, or all of them, have a scale each.
Status check_block(InferContext& cx, size_t axis, sym::Expr extent, sym::Expr scales, int64_t block) {
  const std::string why = str("blocks of ", block, " along axis ", axis, " of x, whose extent is ", extent,
                              " and which has ", scales, " scales");
  return block < 0 ? cx.assume_equal(scales, 1, why) : cx.assume_equal(scales * block, extent, why);
}

Status check_zero_point(InferContext& cx, const TensorType& scale, DType integer) {
  const TensorType& zero = TRY(cx.input(2));
  TRY(cx.require(zero.dtype == integer, "zero point is ", zero, "; ", integer, " is needed"));
  const std::string unlike = str("zero point ", zero, " and scale ", scale, " differ in shape");
  TRY(cx.require(zero.rank() == scale.rank(), unlike));
  for (size_t i = 0; i < scale.shape.size(); ++i) TRY(cx.assume_equal(zero.shape[i], scale.shape[i], unlike));
  return {};
}
}  // namespace

Status infer_scales(InferContext& cx, int axis, const std::vector<int64_t>& block, DType integer) {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& scale = TRY(cx.input(1));
  const bool is_vector = scale.rank() == 1 && x.rank() != 1 && scale.shape[0].constant() != 1;
  TRY(cx.require(!is_vector || (axis >= 0 && axis < x.rank()), "scale ", scale, " is a vector along axis ", axis,
                 " of x ", x, "; one from 0 to ", x.rank() - 1, " is needed"));
  const Shape over = scale.rank() == 1 && !is_vector && x.rank() != 1 ? Shape(static_cast<size_t>(x.rank()), 1)
                                                                      : spread_over(x.rank(), axis, scale.shape);
  const std::string mismatch =
      str("scale ", scale, " does not lie over x ", x,
          "; it is one number, a vector along an axis, or has x's rank and along each axis one element, x's extent or "
          "one for each block of equal size");
  TRY(cx.require(over.size() == x.shape.size(), mismatch));
  TRY(cx.require(block.empty() || block.size() == over.size(), "the block has ", block.size(), " extents, x ",
                 over.size()));
  for (size_t i = 0; i < over.size(); ++i)
    TRY(block.empty() ? check_axis(cx, x.shape[i], over[i], mismatch)
                      : check_block(cx, i, x.shape[i], over[i], block[i]));
  if (const HostTensor* scales = cx.constant(1); scales && scales->volume() <= kMostCheckedScales)
    TRY(check_scales(*scales));
  return cx.has_input(2) ? check_zero_point(cx, scale, integer) : Status();
}

Status require_scale_type(const TensorType& scale) {
  return require(is_kernel_float(scale.dtype) || scale.dtype == DType::kE8M0, "scales are ", scale,
                 "; f32, f16, bf16 or e8m0 is needed");
}

bool broadcasts_over(const Shape& scale, const Shape& x) {
  if (scale.size() != x.size()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (scale[i].constant() != 1 && scale[i] != x[i]) return false;
  return true;
}

Status check_scales(const HostTensor& scales) {
  const View view(scales);
  for (int64_t i = 0; i < view.volume(); ++i) {
    const double scale = view[i];
    TRY(require(std::isfinite(scale) && scale > 0, "scale ", i, " of ", view.volume(), " is ", scale,
                "; scales are finite and positive"));
  }
  return {};
}

float as_stored(DType type, float number) {
  std::byte element[sizeof(float)]{};
  store_number(type, element, 0, number);
  return static_cast<float>(load_number(type, element, 0));
}

double through_type(DType to, double x, double scale) {
  const float by = static_cast<float>(scale), quotient = static_cast<float>(x) / by;
  if (!is_integer(to)) return static_cast<double>(as_stored(to, quotient)) * by;
  if (std::isnan(quotient)) return 0;
  const auto [least, greatest] = range_of(to);
  return std::clamp(static_cast<double>(std::nearbyint(quotient)), static_cast<double>(least),
                    static_cast<double>(greatest)) *
         by;
}

ScaleWalk::ScaleWalk(const Extents& x, const Extents& scale, int axis) : extents_(x), position_(x.size(), 0) {
  const int rank = static_cast<int>(x.size());
  const Extents over =
      volume(scale) == 1 ? Extents(x.size(), 1) : spread_over(rank, axis < 0 ? axis + rank : axis, scale);
  strides_ = row_major_strides(over);
  for (size_t i = 0; i < x.size(); ++i) per_scale_.push_back(over[i] > 0 ? std::max<int64_t>(x[i] / over[i], 1) : 1);
}
int64_t ScaleWalk::index() const {
  int64_t result = 0;
  for (size_t i = 0; i < position_.size(); ++i) result += position_[i] / per_scale_[i] * strides_[i];
  return result;
}
void ScaleWalk::next() {
  for (size_t axis = extents_.size(); axis-- > 0;) {
    if (++position_[axis] < extents_[axis]) break;
    position_[axis] = 0;
  }
  at_ = index();
}

}  // namespace kiln
