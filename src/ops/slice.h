/// Elements at regular steps along each axis, and what lies outside.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// The meaning of a coordinate outside of x; nvinfer1::SampleMode.
enum class SliceMode : int32_t {
  kStrictBounds,  ///< an error
  kWrap,          ///< modulo the extent
  kClamp,         ///< the nearest element
  kFill,          ///< the fill value
  kReflect        ///< mirrored at the border elements, which are not repeated
};
inline std::span<const std::string_view> enum_names(SliceMode) {
  static constexpr std::array<std::string_view, 5> kNames = {"strict_bounds", "wrap", "clamp", "fill", "reflect"};
  return kNames;
}
/// The element that coordinate `i` means on an axis of `extent`, or -1 where none does (fill, and every mode where the
/// axis is empty).
int64_t slice_coordinate(SliceMode mode, int64_t i, int64_t extent);

}  // namespace kiln

namespace kiln::ops {

/// y[i, ...] = x[starts + i * strides, ...] along each of `axes`; other axes stay whole.
///   in   x        any type
///        starts, sizes, strides   i32 or i64 vectors on the host; each optional, overriding the attribute
///        fill     x's type, one element; optional (0), read by kFill
///        axes     i32 or i64 vector of constants; optional
///   out  y        x's type; `sizes` along `axes`
/// Strides may be negative or 0 (a broadcast). In strict bounds, what symbols leave open is assumed, checked at bind.
struct Slice {
  static constexpr std::string_view name = "Slice";
  static constexpr Trait traits = Trait::kMovement;
  static constexpr int min_inputs = 1, max_inputs = 6;
  static constexpr uint32_t host_inputs = 0b101110;
  std::vector<int64_t> starts, sizes;
  std::vector<int64_t> strides;  ///< empty: all 1
  std::vector<int64_t> axes;     ///< of x, negative ones count from the back; empty: all, in order
  SliceMode mode = SliceMode::kStrictBounds;
  static void reflect(auto& self, auto f) {
    f("starts", self.starts);
    f("sizes", self.sizes);
    f("strides", self.strides);
    f("axes", self.axes);
    f("mode", self.mode);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops

namespace kiln {

/// ONNX's and Python's start:end:step as Slice's start and size.
struct SliceRange {
  sym::Expr start, size;
};
/// `start` and `end` may be negative (from the back) and beyond the extent (clamped); step is not 0.
SliceRange clamped_range(sym::Expr extent, sym::Expr start, sym::Expr end, int64_t step);

/// One entry an axis of x: the slice with `axes` and absent inputs filled in.
struct SliceSpec {
  std::vector<sym::Expr> starts, sizes, strides;
};
Result<SliceSpec> slice_spec(const TensorType& x, const std::vector<sym::Expr>& starts,
                             const std::vector<sym::Expr>& sizes, const std::vector<sym::Expr>& strides,
                             std::span<const int> axes);
/// For each element of y, of extents `to`, the element of x that it is, or -1 where it is filled.
std::vector<int64_t> slice_sources(std::span<const int64_t> from, std::span<const int64_t> to,
                                   std::span<const int64_t> starts, std::span<const int64_t> strides, SliceMode mode);

}  // namespace kiln
