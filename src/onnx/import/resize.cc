#include "ops/resize.h"

#include <algorithm>
#include <array>

#include "onnx/import/axes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "sym/real.h"
#include "tensor/view.h"

namespace kiln::onnx::importers {
namespace {

template <class Kind>
struct Named {
  std::string_view name;
  Kind kind;
};
constexpr std::array kModes{Named{"nearest", ResizeMode::kNearest}, Named{"linear", ResizeMode::kLinear},
                            Named{"cubic", ResizeMode::kCubic}};
constexpr std::array kCoordinates{Named{"half_pixel", CoordinateTransformation::kHalfPixel},
                                  Named{"asymmetric", CoordinateTransformation::kAsymmetric},
                                  Named{"align_corners", CoordinateTransformation::kAlignCorners},
                                  Named{"pytorch_half_pixel", CoordinateTransformation::kPytorchHalfPixel},
                                  Named{"half_pixel_symmetric", CoordinateTransformation::kHalfPixelSymmetric},
                                  Named{"tf_half_pixel_for_nn", CoordinateTransformation::kTfHalfPixelForNearest},
                                  Named{"tf_crop_and_resize", CoordinateTransformation::kTfCropAndResize}};
constexpr std::array kRoundings{Named{"round_prefer_floor", ResizeRounding::kHalfDown},
                                Named{"round_prefer_ceil", ResizeRounding::kHalfUp},
                                Named{"floor", ResizeRounding::kFloor}, Named{"ceil", ResizeRounding::kCeil}};
constexpr std::array kFits{Named{"stretch", ResizeFit::kStretch}, Named{"not_larger", ResizeFit::kNotLarger},
                           Named{"not_smaller", ResizeFit::kNotSmaller}};

template <class Table>
auto choose(ImportContext& cx, const Table& table, std::string_view attribute, std::string_view otherwise)
    -> Result<decltype(table[0].kind)> {
  const std::string_view name = TRY(cx.node().get_string(attribute, otherwise));
  for (const auto& row : table)
    if (row.name == name) return row.kind;
  return error(Code::kUnsupported, attribute, " '", name, "' is not supported");
}

/// The axes that scales and sizes speak of; all, unless attribute `axes` says which.
Result<std::vector<int>> axes_resized(ImportContext& cx, int rank) {
  const Ints all = axes_between(0, rank);
  const Ints given = TRY(cx.node().get_ints("axes", all));
  SymbolicValues values(given.begin(), given.end());
  return *TRY(make_axes(std::move(values), rank)).known;
}

Result<std::vector<double>> for_every_axis(const std::vector<double>& values, const std::vector<int>& axes, int rank,
                                           std::string_view what) {
  TRY(require(values.size() == axes.size(), what, " has ", values.size(), " numbers; ", axes.size(), " are needed"));
  std::vector<double> result(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < axes.size(); ++i) result[static_cast<size_t>(axes[i])] = values[i];
  return result;
}

/// Chooses one scale for all axes, the least or the greatest that the sizes ask for. `sizes` become the extents that
/// this scale makes, rounded half up. Coordinates use the scale itself, not the ratio of the rounded extents.
Status keep_aspect_ratio(ImportContext& cx, ops::Resize& op, SymbolicValues& sizes, const std::vector<int>& axes) {
  op.fit = TRY(choose(cx, kFits, "keep_aspect_ratio_policy", "stretch"));
  if (op.fit == ResizeFit::kStretch) return {};
  const ValueId x = TRY(cx.input(0));
  const SymbolicValues wanted = sizes;
  for (const int axis : axes) {
    sym::Expr& size = sizes[static_cast<size_t>(axis)];
    for (size_t k = 0; k < axes.size(); ++k) {
      const sym::Expr from = cx.extent(x, axes[k]);
      const sym::Expr scaled = cx.extent(x, axis) * wanted[static_cast<size_t>(axes[k])];
      const sym::Expr rounded = sym::floor_div(2 * scaled + from, 2 * from);
      size = k == 0 ? rounded : op.fit == ResizeFit::kNotLarger ? sym::min(size, rounded) : sym::max(size, rounded);
    }
  }
  op.fitted_sizes.assign(wanted.size(), 0);
  for (const int axis : axes) {
    const auto size = wanted[static_cast<size_t>(axis)].constant();
    if (!size) {
      op.fitted_sizes.clear();
      return {};
    }
    TRY(require(*size > 0, "sizes ", wanted, " has ", *size, "; keeping the aspect ratio needs sizes above 0"));
    op.fitted_sizes[static_cast<size_t>(axis)] = *size;
  }
  return {};
}

/// The scale of a fit whose sizes the run decides, once for each of `axes`: f32, computed from shapes.
Result<ValueId> scale_of_run(ImportContext& cx, ResizeFit fit, const SymbolicValues& given,
                             const std::vector<int>& axes) {
  const ValueId x = TRY(cx.input(0));
  SymbolicValues from;
  for (const int axis : axes) from.push_back(cx.extent(x, axis));
  const ValueId sizes = TRY(cast(cx, TRY(dims_value(cx, given)), DType::kF32));
  const ValueId extents = TRY(cast(cx, TRY(dims_value(cx, from)), DType::kF32));
  const ValueId scales = TRY(binary(cx, ElementWiseKind::kDiv, sizes, extents));
  const ReduceKind kind = fit == ResizeFit::kNotLarger ? ReduceKind::kMin : ReduceKind::kMax;
  return expand(cx, TRY(reduce(cx, kind, scales, {0}, true)), {static_cast<int64_t>(axes.size())});
}

/// Sets `op.axes_given` to the axes along which `roi` crops x, and returns the roi of just these axes.
Result<ValueId> region_of(ImportContext& cx, ops::Resize& op, const std::vector<int>& axes, int rank) {
  const ValueId roi = TRY(cast(cx, TRY(cx.input(1)), DType::kF32));
  const auto count = static_cast<int64_t>(axes.size());
  op.axes_given.assign(axes.begin(), axes.end());
  if (std::ranges::equal(axes, axes_between(0, rank))) op.axes_given.clear();
  const auto known = cx.constant(roi, "roi");
  if (!known || known->volume() != 2 * count) return roi;
  const View numbers(*known);
  Ints cut;
  std::vector<double> begins, ends;
  for (int64_t i = 0; i < count; ++i) {
    if (numbers[i] == 0 && numbers[count + i] == 1) continue;
    cut.push_back(axes[static_cast<size_t>(i)]);
    begins.push_back(numbers[i]);
    ends.push_back(numbers[count + i]);
  }
  if (cut.empty()) return roi;
  op.axes_given = cut;
  begins.insert(begins.end(), ends.begin(), ends.end());
  return cx.add_constant(HostTensor::of(DType::kF32, {static_cast<int64_t>(begins.size())}, begins));
}

/// Adds a Resize to the extents `sizes`. `roi` and `scales` are values that come at run time, or kNone.
Status resize_to(ImportContext& cx, ops::Resize op, const SymbolicValues& sizes, ValueId roi, ValueId scales) {
  const ValueId x = TRY(cx.input(0));
  const auto constants = all_constant(sizes);
  if (constants) op.dims = *constants;
  Values inputs{x, constants ? ValueId::kNone : TRY(dims_value(cx, sizes)), roi, scales};
  while (inputs.back() == ValueId::kNone) inputs.pop_back();
  return cx.output(TRY(cx.add(std::move(op), inputs)));
}

/// y of the sizes that input `input` has.
Status resize_to_sizes(ImportContext& cx, ops::Resize op, size_t input) {
  const ValueId x = TRY(cx.input(0));
  const std::vector<int> axes = TRY(axes_resized(cx, cx.rank(x)));
  const SymbolicValues given = TRY(cx.values(TRY(cx.input(input)), "sizes"));
  TRY(require(given.size() == axes.size(), "sizes has ", given.size(), " numbers; ", axes.size(), " are needed"));
  SymbolicValues sizes = cx.type(x).shape;
  for (size_t i = 0; i < axes.size(); ++i) sizes[static_cast<size_t>(axes[i])] = given[i];
  TRY(keep_aspect_ratio(cx, op, sizes, axes));
  const bool crops = op.coordinate == CoordinateTransformation::kTfCropAndResize;
  const bool scaled_by_run = op.fit != ResizeFit::kStretch && op.fitted_sizes.empty();
  TRY(require(
      !crops || op.fit == ResizeFit::kStretch,
      "tf_crop_and_resize with keep_aspect_ratio_policy is not supported: which extents a region's ratio counts "
      "is not defined; give sizes that fit and no policy"));
  const ValueId roi = crops ? TRY(region_of(cx, op, axes, cx.rank(x))) : ValueId::kNone;
  ValueId scales = ValueId::kNone;
  if (scaled_by_run) {
    op.axes_given.assign(axes.begin(), axes.end());
    scales = TRY(scale_of_run(cx, op.fit, given, axes));
  }
  return resize_to(cx, std::move(op), sizes, roi, scales);
}

/// The extents floor(extent * scale) of axes whose scales follow from shapes, rounded as floats are; nothing where some
/// come from data.
std::optional<SymbolicValues> sizes_by_scales(const ImportContext& cx, ValueId x, ValueId scales,
                                              const std::vector<int>& axes) {
  const TensorType& type = cx.type(scales);
  if (!type.values || !is_float(type.dtype) || type.values->size() != axes.size()) return std::nullopt;
  SymbolicValues sizes = cx.type(x).shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    sym::Expr& size = sizes[static_cast<size_t>(axes[i])];
    size =
        sym::whole(sym::real_function(sym::RealFunction::kFloor, sym::real_prod(sym::real(size), (*type.values)[i])));
    if (!size.is_valid()) return std::nullopt;
  }
  return sizes;
}

/// The extents floor(extent * scale) of axes whose scales come from data: the run computes them, and the host reads
/// them.
Result<SymbolicValues> sizes_of_run(ImportContext& cx, ValueId x, ValueId scales, const std::vector<int>& axes) {
  TRY(require(sym::provably_equal(cx.type(scales).volume(), static_cast<int64_t>(axes.size())), "scales '",
              cx.graph().value(scales).name, "' are ", cx.type(scales), "; ", axes.size(), " are needed"));
  SymbolicValues from, sizes = cx.type(x).shape;
  for (const int axis : axes) from.push_back(sizes[static_cast<size_t>(axis)]);
  const ValueId extents = TRY(cast(cx, TRY(dims_value(cx, from)), DType::kF32));
  const ValueId made = TRY(binary(cx, ElementWiseKind::kProd, extents, TRY(cast(cx, scales, DType::kF32))));
  const ValueId whole = TRY(cast(cx, TRY(unary(cx, UnaryKind::kFloor, made)), DType::kI64));
  const SymbolicValues read = TRY(read_values(cx, whole));
  for (size_t i = 0; i < axes.size(); ++i) sizes[static_cast<size_t>(axes[i])] = read[i];
  return sizes;
}

/// Resizes by scales that come at run time. Where data decides them, the run checks that they fit the extents that the
/// model states, or tells them where it states none.
Status resize_by_scales_of_run(ImportContext& cx, ops::Resize op, ValueId scales, const std::vector<int>& axes) {
  const ValueId x = TRY(cx.input(0));
  auto known = sizes_by_scales(cx, x, scales, axes);
  const auto stated = cx.stated_extents(0);
  if (!known && (!stated || stated->size() != static_cast<size_t>(cx.rank(x))))
    known = TRY(sizes_of_run(cx, x, scales, axes));
  SymbolicValues sizes = known.value_or(cx.type(x).shape);
  for (const int axis : axes)
    if (!known) sizes[static_cast<size_t>(axis)] = (*stated)[static_cast<size_t>(axis)];
  op.axes_given.assign(axes.begin(), axes.end());
  return resize_to(cx, std::move(op), sizes, ValueId::kNone, TRY(cast(cx, scales, DType::kF32)));
}

/// y of extents floor(extent * scale), by the scales that input `input` has.
Status resize_by_scales(ImportContext& cx, ops::Resize op, size_t input) {
  const ValueId x = TRY(cx.input(0)), scales = TRY(cx.input(input));
  TRY(require(
      op.coordinate != CoordinateTransformation::kTfCropAndResize,
      "tf_crop_and_resize by scales is not supported: whether they count elements of x or of the region, ONNX's "
      "text and its reference answer differently; give sizes instead"));
  const std::vector<int> axes = TRY(axes_resized(cx, cx.rank(x)));
  const auto known = cx.constant(scales, "scales");
  if (!known) return resize_by_scales_of_run(cx, std::move(op), scales, axes);
  op.scales = TRY(for_every_axis(View(*known).numbers(), axes, cx.rank(x), "scales"));
  return cx.output(TRY(cx.add(std::move(op), {x})));
}

/// Before version 11 there is one rule: asymmetric coordinates, rounded down.
Result<ops::Resize> old_rule(ImportContext& cx) {
  ops::Resize op;
  op.mode = TRY(choose(cx, kModes, "mode", "nearest"));
  op.coordinate = CoordinateTransformation::kAsymmetric;
  op.rounding = ResizeRounding::kFloor;
  return op;
}

}  // namespace

Status resize(ImportContext& cx) {
  if (cx.opset() < 11) return resize_by_scales(cx, TRY(old_rule(cx)), 1);
  ops::Resize op;
  op.mode = TRY(choose(cx, kModes, "mode", "nearest"));
  op.coordinate = TRY(choose(cx, kCoordinates, "coordinate_transformation_mode", "half_pixel"));
  op.rounding = TRY(choose(cx, kRoundings, "nearest_mode", "round_prefer_floor"));
  op.exclude_outside = TRY(cx.node().get_int("exclude_outside", 0)) != 0;
  op.cubic_coeff = TRY(cx.node().get_float("cubic_coeff_a", -0.75f));
  op.antialias = TRY(cx.node().get_int("antialias", 0)) != 0;
  op.extrapolation = TRY(cx.node().get_float("extrapolation_value", 0));
  const bool sized = cx.has_input(3) && cx.type(TRY(cx.input(3))).volume() != sym::Expr(0);
  if (sized) return resize_to_sizes(cx, std::move(op), 3);
  return resize_by_scales(cx, std::move(op), 2);
}

Status upsample(ImportContext& cx) {
  ops::Resize op = TRY(old_rule(cx));
  if (cx.opset() >= 9) return resize_by_scales(cx, std::move(op), 1);
  const ValueId x = TRY(cx.input(0));
  const std::vector<float> scales = TRY(cx.node().get_floats("scales", {}));
  const std::vector<double> given(scales.begin(), scales.end());
  op.scales = TRY(for_every_axis(given, TRY(axes_resized(cx, cx.rank(x))), cx.rank(x), "scales"));
  return cx.output(TRY(cx.add(std::move(op), {x})));
}

}  // namespace kiln::onnx::importers
