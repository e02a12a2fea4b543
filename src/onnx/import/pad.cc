#include <array>

#include "onnx/import/axes.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

struct Mode {
  std::string_view name;
  SliceMode mode;
};
constexpr std::array<Mode, 4> kModes{{{"constant", SliceMode::kFill},
                                      {"reflect", SliceMode::kReflect},
                                      {"edge", SliceMode::kClamp},
                                      {"wrap", SliceMode::kWrap}}};

Result<SliceMode> mode_of(ImportContext& cx) {
  const std::string_view name = TRY(cx.node().get_string("mode", "constant"));
  for (const Mode& mode : kModes)
    if (mode.name == name) return mode.mode;
  return error(Code::kInvalidArgument, "mode is '", name, "'; constant, reflect, edge or wrap is needed");
}

/// Pads before, then pads after, an axis each.
Result<SymbolicValues> pads_of(ImportContext& cx) {
  if (cx.opset() >= 11) return cx.values(TRY(cx.input(1)), "pads");
  const Ints pads = TRY(cx.node().need_ints("pads"));
  return SymbolicValues(pads.begin(), pads.end());
}

}  // namespace

Status pad(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  const SymbolicValues pads = TRY(pads_of(cx));
  SliceAlong along;
  along.mode = TRY(mode_of(cx));
  const std::optional<Axes> given = cx.opset() >= 18 ? TRY(axes_of(cx, 3, 18, rank)) : std::nullopt;
  const size_t count = given ? given->given.size() : static_cast<size_t>(rank);
  TRY(require(pads.size() == 2 * count, "pads has ", pads.size(), " numbers; ", count, " axes of x ", cx.type(x),
              " need ", 2 * count));
  const SymbolicValues before(pads.begin(), pads.begin() + static_cast<int64_t>(count));
  const SymbolicValues after(pads.begin() + static_cast<int64_t>(count), pads.end());
  for (int axis = 0; axis < rank; ++axis) {
    const auto at = static_cast<size_t>(axis);
    const sym::Expr pre = given ? given->pick(before, axis, 0) : before[at];
    const sym::Expr post = given ? given->pick(after, axis, 0) : after[at];
    if (pre == sym::Expr(0) && post == sym::Expr(0)) continue;
    along.axes.push_back(axis);
    along.starts.push_back(-pre);
    along.sizes.push_back(cx.extent(x, axis) + pre + post);
    along.strides.emplace_back(1);
  }
  if (along.axes.empty()) return cx.output(x);
  if (along.mode == SliceMode::kFill) {
    const float attribute = cx.opset() < 11 ? TRY(cx.node().get_float("value", 0)) : 0;
    if (cx.opset() >= 11 && cx.has_input(2)) along.fill = TRY(cx.input(2));
    if (attribute != 0) along.fill = scalar_of(cx, attribute, cx.dtype(x));
  }
  return cx.output(TRY(slice(cx, x, along)));
}

}  // namespace kiln::onnx::importers
