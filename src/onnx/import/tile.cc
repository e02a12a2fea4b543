#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// A slice that goes round: coordinate i is element i modulo the extent.
Status tile(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const SymbolicValues repeats = TRY(cx.values(TRY(cx.input(1)), "repeats"));
  TRY(require(static_cast<int>(repeats.size()) == cx.rank(x), "repeats has ", repeats.size(), " numbers; x ",
              cx.type(x), " needs ", cx.rank(x)));
  SliceAlong along;
  along.mode = SliceMode::kWrap;
  for (int axis = 0; axis < cx.rank(x); ++axis) {
    const sym::Expr times = repeats[static_cast<size_t>(axis)];
    if (times == sym::Expr(1)) continue;
    along.axes.push_back(axis);
    along.starts.emplace_back(0);
    along.sizes.push_back(cx.extent(x, axis) * times);
    along.strides.emplace_back(1);
  }
  return cx.output(along.axes.empty() ? x : TRY(slice(cx, x, along)));
}

}  // namespace kiln::onnx::importers
