#include "onnx/import/axes.h"

namespace kiln::onnx {

sym::Expr Axes::contains(int i) const {
  sym::Expr found = 0;
  for (const sym::Expr& axis : given)
    found = sym::max(found, sym::max(sym::equal(axis, i), sym::equal(axis, i - rank)));
  return found;
}

sym::Expr Axes::pick(const SymbolicValues& values, int i, sym::Expr otherwise) const {
  sym::Expr result = otherwise * sym::equal(contains(i), 0);
  for (size_t k = 0; k < given.size(); ++k)
    result += values[k] * sym::max(sym::equal(given[k], i), sym::equal(given[k], i - rank));
  return result;
}

Result<Axes> make_axes(SymbolicValues given, int rank) {
  Axes axes{std::nullopt, std::move(given), rank};
  const auto numbers = all_constant(axes.given);
  if (!numbers) return axes;
  std::vector<int> known;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t axis : *numbers) {
    known.push_back(TRY(normalize_axis(axis, rank)));
    TRY(require(!seen[static_cast<size_t>(known.back())], "axis ", axis, " is given twice in ", *numbers));
    seen[static_cast<size_t>(known.back())] = true;
  }
  axes.known = std::move(known);
  return axes;
}

Result<std::optional<Axes>> axes_of(ImportContext& cx, size_t input, int64_t since, int rank) {
  SymbolicValues given;
  if (cx.opset() >= since) {
    if (!cx.has_input(input)) return std::nullopt;
    given = TRY(cx.values(TRY(cx.input(input)), "axes"));
  } else {
    if (!cx.node().find("axes")) return std::nullopt;
    const Ints numbers = TRY(cx.node().get_ints("axes", {}));
    given.assign(numbers.begin(), numbers.end());
  }
  return TRY(make_axes(std::move(given), rank));
}

}  // namespace kiln::onnx
