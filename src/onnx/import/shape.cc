#include "ops/shape.h"

#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/dim_values.h"

namespace kiln::onnx::importers {

Status shape(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int64_t rank = cx.rank(x);
  const auto from_front = [&](int64_t at) { return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank); };
  const int64_t start = from_front(TRY(cx.node().get_int("start", 0)));
  const int64_t end = from_front(TRY(cx.node().get_int("end", rank)));
  const ValueId all = TRY(cx.add(ops::Shape{}, {x}));
  if (start == 0 && end == rank) return cx.output(all);
  return cx.output(TRY(slice(cx, all, {{start}, {std::max<int64_t>(0, end - start)}, {1}, {0}})));
}

Status size(ImportContext& cx) {
  return cx.output(TRY(cx.add(ops::DimValues{{cx.type(TRY(cx.input(0))).volume()}, DType::kI64, {}}, {})));
}

}  // namespace kiln::onnx::importers
