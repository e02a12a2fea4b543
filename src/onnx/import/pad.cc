#include "onnx/import/pad.h"

#include <array>

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

}  // namespace

Result<ValueId> padded(ImportContext& cx, ValueId x, const SymbolicValues& pads, const std::optional<Axes>& given,
                       ValueId fill) {
  const int rank = cx.rank(x);
  SliceAlong along;
  along.mode = TRY(mode_of(cx));
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
  if (along.axes.empty()) return x;
  if (along.mode == SliceMode::kFill) along.fill = fill;
  return slice(cx, x, along);
}

Status pad(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  if (cx.opset() < 11) {
    const Ints pads = TRY(cx.node().need_ints("pads"));
    const float value = TRY(cx.node().get_float("value", 0));
    const ValueId fill = value == 0 ? ValueId::kNone : scalar_of(cx, value, cx.dtype(x));
    return cx.output(TRY(padded(cx, x, SymbolicValues(pads.begin(), pads.end()), std::nullopt, fill)));
  }
  const SymbolicValues pads = TRY(cx.values(TRY(cx.input(1)), "pads"));
  const std::optional<Axes> given = cx.opset() >= 18 ? TRY(axes_of(cx, 3, 18, cx.rank(x))) : std::nullopt;
  return cx.output(TRY(padded(cx, x, pads, given, cx.optional_input(2))));
}

}  // namespace kiln::onnx::importers
