#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// The extent of each part: as given, or as even as they come, the last one smaller.
Result<SymbolicValues> sizes(ImportContext& cx, sym::Expr extent) {
  if (cx.opset() >= 13 && cx.has_input(1)) return cx.values(TRY(cx.input(1)), "split");
  const Ints given = TRY(cx.node().get_ints("split", {}));
  if (cx.opset() < 13 && !given.empty()) return SymbolicValues(given.begin(), given.end());
  const auto count = static_cast<int64_t>(cx.num_outputs());
  const int64_t stated = TRY(cx.node().get_int("num_outputs", count));
  TRY(require(stated == count, "num_outputs is ", stated, "; the node has ", count, " outputs"));
  const sym::Expr chunk = sym::ceil_div(extent, count);
  SymbolicValues result(cx.num_outputs(), chunk);
  result.back() = extent - chunk * (count - 1);
  return result;
}

}  // namespace

Status split(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", 0)), cx.rank(x)));
  const SymbolicValues parts = TRY(sizes(cx, cx.extent(x, axis)));
  TRY(require(parts.size() == cx.num_outputs(), "split has ", parts.size(), " parts; the node has ", cx.num_outputs(),
              " outputs"));
  sym::Expr start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (cx.wants(i)) TRY(cx.output(i, TRY(slice(cx, x, {{start}, {parts[i]}, {1}, {axis}}))));
    start += parts[i];
  }
  return {};
}

}  // namespace kiln::onnx::importers
