/// Resampling to other extents.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::InterpolationMode.
enum class ResizeMode : int32_t { kNearest, kLinear, kCubic };
inline std::span<const std::string_view> enum_names(ResizeMode) {
  static constexpr std::array<std::string_view, 3> kNames = {"nearest", "linear", "cubic"};
  return kNames;
}

/// The position of output element i in x, with s = scale; nvinfer1::ResizeCoordinateTransformation, then ONNX's others.
enum class CoordinateTransformation : int32_t {
  kAlignCorners,           ///< i * (in - 1) / (out - 1)
  kAsymmetric,             ///< i / s
  kHalfPixel,              ///< (i + 0.5) / s - 0.5
  kPytorchHalfPixel,       ///< as kHalfPixel, but 0 where out is 1
  kHalfPixelSymmetric,     ///< as kHalfPixel, centred where out is not in * s
  kTfHalfPixelForNearest,  ///< (i + 0.5) / s
  kTfCropAndResize         ///< begin * (in - 1) + i * (end - begin) * (in - 1) / (out - 1); the middle where out is 1
};
inline std::span<const std::string_view> enum_names(CoordinateTransformation) {
  static constexpr std::array<std::string_view, 7> kNames = {"align_corners",        "asymmetric",
                                                             "half_pixel",           "pytorch_half_pixel",
                                                             "half_pixel_symmetric", "tf_half_pixel_for_nearest",
                                                             "tf_crop_and_resize"};
  return kNames;
}

/// The element that an output of extent 1 reads; nvinfer1::ResizeSelector.
enum class ResizeSelector : int32_t {
  kFormula,  ///< what the coordinate says
  kUpper     ///< the first element
};
inline std::span<const std::string_view> enum_names(ResizeSelector) {
  static constexpr std::array<std::string_view, 2> kNames = {"formula", "upper"};
  return kNames;
}

/// Rounding of kNearest's coordinates; nvinfer1::ResizeRoundMode.
enum class ResizeRounding : int32_t { kHalfUp, kHalfDown, kFloor, kCeil };
inline std::span<const std::string_view> enum_names(ResizeRounding) {
  static constexpr std::array<std::string_view, 4> kNames = {"half_up", "half_down", "floor", "ceil"};
  return kNames;
}

/// The request that sizes make; ONNX's keep_aspect_ratio_policy.
enum class ResizeFit : int32_t {
  kStretch,     ///< these extents, each axis by a scale of its own
  kNotLarger,   ///< one scale for all axes, the greatest that makes no axis larger than its size
  kNotSmaller,  ///< one scale for all axes, the least that makes no axis smaller than its size
};
inline std::span<const std::string_view> enum_names(ResizeFit) {
  static constexpr std::array<std::string_view, 3> kNames = {"stretch", "not_larger", "not_smaller"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// y is x resampled along every axis whose extent changes or whose scale is not 1, one axis after the other.
///   in   x      nearest: any type of at least a byte; else a number type
///        sizes  i32 or i64 [rank], on the host: the extents of y; optional, overrides `dims` and `scales`
///        roi    f32, for kTfCropAndResize alone: by axis the begin in x, then by axis the end; 1 is the last element.
///               Elements outside x are `extrapolation`.
///        scales f32 [as many as axes], optional: scales of the run, which override `scales` but decide no extent
///               (`sizes` or `dims` do). A run fails where floor(extent * scale) is not y's extent (rounded, where
///               `fit` is not kStretch).
///   out  y      x's type; extents floor(extent * scale) where only scales are given
/// ONNX's Resize and Upsample define the arithmetic; coordinates are computed in float. `out` is y's extent also where
/// extent * scale is no integer, as TensorRT, ONNX Runtime and PyTorch have it; ONNX's own reference takes the product
/// there for kAlignCorners.
struct Resize {
  static constexpr std::string_view name = "Resize";
  static constexpr int min_inputs = 1, max_inputs = 4;
  static constexpr uint32_t host_inputs = 1 << 1;
  ResizeMode mode = ResizeMode::kNearest;
  std::vector<double> scales;  ///< one an axis, or empty: y's extent divided by x's
  std::vector<int64_t> dims;   ///< y's extents, one an axis, or empty: from `scales`
  CoordinateTransformation coordinate = CoordinateTransformation::kAsymmetric;
  ResizeSelector selector = ResizeSelector::kFormula;
  ResizeRounding rounding = ResizeRounding::kFloor;
  bool exclude_outside = false;  ///< kCubic: what lies outside x has no weight; else the edge repeats
  double cubic_coeff = -0.75;
  bool antialias = false;           ///< kLinear, kCubic: where y is smaller, the kernel is as much wider, and sums to 1
  std::vector<int64_t> axes_given;  ///< of x, that inputs `roi` and `scales` speak of; empty: all
  double extrapolation = 0;
  ResizeFit fit = ResizeFit::kStretch;  ///< else coordinates are by the scale that `fitted_sizes` or `scales` give
  std::vector<int64_t> fitted_sizes;  ///< one an axis, 0 where an axis stays; empty: `scales` of the run say the scale
  static void reflect(auto& self, auto f) {
    f("mode", self.mode);
    f("scales", self.scales);
    f("dims", self.dims);
    f("coordinate", self.coordinate);
    f("selector", self.selector);
    f("rounding", self.rounding);
    f("exclude_outside", self.exclude_outside);
    f("cubic_coeff", self.cubic_coeff);
    f("antialias", self.antialias);
    f("axes_given", self.axes_given);
    f("extrapolation", self.extrapolation);
    f("fit", self.fit);
    f("fitted_sizes", self.fitted_sizes);
  }
  /// Whether an axis of x stays as it is at any extents. `inputs` as `infer` has them; an absent one has no shape.
  bool keeps(size_t axis, std::span<const TensorType> inputs) const;
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops

namespace kiln {

/// An element of x and its part in an element of y. Index -1: y's element lies outside x.
struct ResizeTap {
  int64_t index;
  double weight;
};
/// How an axis is resampled: its scale as coordinates use it, and the part of x that y is, as fractions of in - 1.
struct ResizeSpan {
  float scale = 1;
  float begin = 0, end = 1;
};
/// The inputs of a resize besides x. `sized`: there are sizes, so that scales follow from the extents.
struct ResizeInputs {
  bool sized = false;
  std::span<const float> roi, scales;  ///< empty where absent
};
/// The spans of all axes. Fails where a scale of the run does not give y's extent.
Status find_resize_spans(const ops::Resize& resize, const ResizeInputs& inputs, std::span<const int64_t> in,
                         std::span<const int64_t> out, std::span<ResizeSpan> spans);
/// 1, 2 or 4 for nearest, linear and cubic; more where antialiasing widens the kernel.
int resize_taps_per_output(const ops::Resize& resize, float scale);
/// Whether an axis stays as it is.
bool resize_is_identity(int64_t in, int64_t out, const ResizeSpan& span);
/// The taps of output 0, then those of output 1 ... along one axis; in > 0. Every backend takes its tables from here.
/// Allocates nothing where `taps` has room.
void find_resize_taps(const ops::Resize& resize, int64_t in, int64_t out, const ResizeSpan& span,
                      std::vector<ResizeTap>& taps);

}  // namespace kiln
