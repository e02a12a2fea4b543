#include "ops/resize.h"

#include <array>

#include "onnx/import/axes.h"
#include "onnx/import/importers.h"
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
                                  Named{"tf_half_pixel_for_nn", CoordinateTransformation::kTfHalfPixelForNearest}};
constexpr std::array kRoundings{Named{"round_prefer_floor", ResizeRounding::kHalfDown},
                                Named{"round_prefer_ceil", ResizeRounding::kHalfUp},
                                Named{"floor", ResizeRounding::kFloor}, Named{"ceil", ResizeRounding::kCeil}};

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

/// Of a constant, or no scales at all where there is none or it is empty.
Result<std::vector<double>> scales_of(ImportContext& cx, size_t input) {
  if (!cx.has_input(input)) return std::vector<double>{};
  const ValueId scales = TRY(cx.input(input));
  if (cx.type(scales).volume() == sym::Expr(0)) return std::vector<double>{};
  return View(TRY(cx.constant(scales, "scales"))).numbers();
}

Result<std::vector<double>> for_every_axis(const std::vector<double>& values, const std::vector<int>& axes, int rank,
                                           std::string_view what) {
  TRY(require(values.size() == axes.size(), what, " has ", values.size(), " numbers; ", axes.size(), " are needed"));
  std::vector<double> result(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < axes.size(); ++i) result[static_cast<size_t>(axes[i])] = values[i];
  return result;
}

/// One scale for all axes: the least or the greatest that sizes ask for; extents are rounded, halves up.
Status keep_aspect_ratio(ImportContext& cx, ValueId x, SymbolicValues& sizes, const std::vector<int>& axes) {
  const std::string_view policy = TRY(cx.node().get_string("keep_aspect_ratio_policy", "stretch"));
  if (policy == "stretch") return {};
  const bool not_larger = policy == "not_larger";
  TRY(require(not_larger || policy == "not_smaller", "keep_aspect_ratio_policy is '", policy,
              "'; stretch, not_larger or not_smaller is needed"));
  const SymbolicValues wanted = sizes;
  for (const int axis : axes) {
    sym::Expr& size = sizes[static_cast<size_t>(axis)];
    for (size_t k = 0; k < axes.size(); ++k) {
      const sym::Expr from = cx.extent(x, axes[k]);
      const sym::Expr scaled = cx.extent(x, axis) * wanted[static_cast<size_t>(axes[k])];
      const sym::Expr rounded = sym::floor_div(2 * scaled + from, 2 * from);
      size = k == 0 ? rounded : not_larger ? sym::min(size, rounded) : sym::max(size, rounded);
    }
  }
  return {};
}

/// y of the sizes that input `input` has.
Status resize_to_sizes(ImportContext& cx, ops::Resize op, size_t input) {
  const ValueId x = TRY(cx.input(0));
  const std::vector<int> axes = TRY(axes_resized(cx, cx.rank(x)));
  const SymbolicValues given = TRY(cx.values(TRY(cx.input(input)), "sizes"));
  TRY(require(given.size() == axes.size(), "sizes has ", given.size(), " numbers; ", axes.size(), " are needed"));
  SymbolicValues sizes = cx.type(x).shape;
  for (size_t i = 0; i < axes.size(); ++i) sizes[static_cast<size_t>(axes[i])] = given[i];
  TRY(keep_aspect_ratio(cx, x, sizes, axes));
  if (const auto constants = all_constant(sizes)) {
    op.dims = *constants;
    return cx.output(TRY(cx.add(std::move(op), {x})));
  }
  return cx.output(TRY(cx.add(std::move(op), {x, TRY(dims_value(cx, sizes))})));
}

Status resize_by_scales(ImportContext& cx, ops::Resize op, const std::vector<double>& scales) {
  const ValueId x = TRY(cx.input(0));
  op.scales = TRY(for_every_axis(scales, TRY(axes_resized(cx, cx.rank(x))), cx.rank(x), "scales"));
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
  if (cx.opset() < 11) return resize_by_scales(cx, TRY(old_rule(cx)), TRY(scales_of(cx, 1)));
  ops::Resize op;
  op.mode = TRY(choose(cx, kModes, "mode", "nearest"));
  op.coordinate = TRY(choose(cx, kCoordinates, "coordinate_transformation_mode", "half_pixel"));
  op.rounding = TRY(choose(cx, kRoundings, "nearest_mode", "round_prefer_floor"));
  op.exclude_outside = TRY(cx.node().get_int("exclude_outside", 0)) != 0;
  op.cubic_coeff = TRY(cx.node().get_float("cubic_coeff_a", -0.75f));
  op.antialias = TRY(cx.node().get_int("antialias", 0)) != 0;
  if (cx.has_input(3)) return resize_to_sizes(cx, std::move(op), 3);
  return resize_by_scales(cx, std::move(op), TRY(scales_of(cx, 2)));
}

Status upsample(ImportContext& cx) {
  std::vector<double> scales;
  if (cx.opset() >= 9) {
    scales = TRY(scales_of(cx, 1));
  } else {
    const std::vector<float> given = TRY(cx.node().get_floats("scales", {}));
    scales.assign(given.begin(), given.end());
  }
  return resize_by_scales(cx, TRY(old_rule(cx)), scales);
}

}  // namespace kiln::onnx::importers
