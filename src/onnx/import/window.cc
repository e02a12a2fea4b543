#include "onnx/import/window.h"

#include <algorithm>
#include <array>

namespace kiln::onnx {
namespace {

using ops::PaddingMode;

struct AutoPad {
  std::string_view name;
  PaddingMode mode;
};
constexpr std::array<AutoPad, 4> kAutoPads{{{"NOTSET", PaddingMode::kExplicitRoundDown},
                                            {"VALID", PaddingMode::kExplicitRoundDown},
                                            {"SAME_UPPER", PaddingMode::kSameUpper},
                                            {"SAME_LOWER", PaddingMode::kSameLower}}};

Result<PaddingMode> auto_pad(std::string_view name) {
  for (const AutoPad& known : kAutoPads)
    if (known.name == name) return known.mode;
  return error(Code::kInvalidArgument, "auto_pad is '", name, "'; NOTSET, VALID, SAME_UPPER or SAME_LOWER is needed");
}

Result<Ints> list(ImportContext& cx, std::string_view attribute, size_t count, int64_t otherwise, int64_t least) {
  Ints values = TRY(cx.node().get_ints(attribute, Ints(count, otherwise)));
  TRY(require(values.size() == count, attribute, " is ", values, "; ", count, " numbers are needed"));
  for (const int64_t value : values)
    TRY(require(value >= least && value <= kLargestOfWindow, attribute, " is ", values, "; ", value, " is outside [",
                least, ", ", kLargestOfWindow, "]"));
  return values;
}

/// Passes over pads of 0 beside auto_pad. Others stay unread: they have no effect, and a warning tells so.
void pass_over_zero_pads(ImportContext& cx) {
  for (const AttributeDef& attribute : cx.def().attributes)
    if (attribute.name == "pads" && std::ranges::count(attribute.ints, 0) == std::ssize(attribute.ints))
      cx.node().pass_over("pads");
}

}  // namespace

Result<int> spatial_axes(ImportContext& cx, ValueId x) {
  const int spatial = cx.rank(x) - 2;
  TRY(require(spatial >= 1 && spatial <= 3, "x is ", cx.type(x),
              "; batch, channels and 1 to 3 spatial axes are needed"));
  return spatial;
}

Result<WindowAttributes> window_attributes(ImportContext& cx, int spatial) {
  const auto count = static_cast<size_t>(spatial);
  const std::string_view padding = TRY(cx.node().get_string("auto_pad", "NOTSET"));
  WindowAttributes w;
  w.padding = TRY(auto_pad(padding));
  if (cx.node().find("kernel_shape")) w.kernel = TRY(list(cx, "kernel_shape", count, 1, 1));
  w.strides = TRY(list(cx, "strides", count, 1, 1));
  w.dilations = TRY(list(cx, "dilations", count, 1, 1));
  w.pre_pads = w.post_pads = Ints(count, 0);
  if (padding != "NOTSET") {
    pass_over_zero_pads(cx);
    return w;
  }
  const Ints pads = TRY(list(cx, "pads", 2 * count, 0, -kLargestOfWindow));
  w.pre_pads.assign(pads.begin(), pads.begin() + spatial);
  w.post_pads.assign(pads.begin() + spatial, pads.end());
  return w;
}

}  // namespace kiln::onnx
