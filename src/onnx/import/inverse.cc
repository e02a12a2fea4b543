/// Inverse of com.microsoft, by the elimination of Gauss and Jordan: [X, I] becomes [I, X's inverse].
#include "onnx/import/arg_max.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"

namespace kiln::onnx::importers::microsoft {
namespace {

using enum ElementWiseKind;

constexpr int64_t kMostRows = 32;  // 15 ops each

/// [X, I] on its way to [I, X's inverse].
class Elimination {
 public:
  Elimination(ImportContext& cx, ValueId both, int64_t rows) : cx_(cx), both_(both), rows_(rows) {}

  /// Makes column `step` a unit's. The row of the greatest element in it, of those from `step` on, is exchanged with
  /// row `step`, divided by that element, and subtracted from all others.
  Status eliminate(int64_t step) {
    const ValueId column = TRY(part(column_axis(), step));
    const ValueId at = TRY(indices_along(cx_, rows_, row_axis(), rank(), DType::kI64));
    const ValueId is_done = TRY(binary(cx_, kLess, at, static_cast<double>(step)));
    const ValueId size =
        TRY(select(cx_, is_done, scalar_like(cx_, -1, column), TRY(unary(cx_, UnaryKind::kAbs, column))));
    const ValueId best = TRY(arg_extreme(cx_, size, row_axis(), Extreme::kMax, Tie::kFirst));
    const ValueId is_best = TRY(binary(cx_, kEqual, at, best));
    const ValueId chosen = TRY(select(cx_, is_best, both_, scalar_like(cx_, 0, both_)));
    const ValueId row = TRY(reduce(cx_, ReduceKind::kSum, chosen, {row_axis()}, true));
    const ValueId pivot = TRY(slice(cx_, row, {{step}, {1}, {1}, {column_axis()}}));
    const ValueId unit = TRY(binary(cx_, kDiv, row, pivot));
    both_ = TRY(select(cx_, is_best, TRY(part(row_axis(), step)), both_));
    const ValueId factor = TRY(part(column_axis(), step));
    const ValueId rest = TRY(binary(cx_, kSub, both_, TRY(binary(cx_, kProd, factor, unit))));
    both_ = TRY(select(cx_, TRY(binary(cx_, kEqual, at, static_cast<double>(step))), unit, rest));
    return {};
  }
  Result<ValueId> right_half() { return slice(cx_, both_, {{rows_}, {rows_}, {1}, {column_axis()}}); }

 private:
  int rank() const { return cx_.rank(both_); }
  int row_axis() const { return rank() - 2; }
  int column_axis() const { return rank() - 1; }
  Result<ValueId> part(int axis, int64_t at) { return slice(cx_, both_, {{at}, {1}, {1}, {axis}}); }

  ImportContext& cx_;
  ValueId both_;
  const int64_t rows_;
};

/// The unit matrix, with the axes before the last two of x.
Result<ValueId> unit_like(ImportContext& cx, ValueId x, int64_t rows) {
  const int rank = cx.rank(x);
  Extents extents(static_cast<size_t>(rank), 1);
  extents[static_cast<size_t>(rank) - 1] = extents[static_cast<size_t>(rank) - 2] = rows;
  std::vector<double> elements(static_cast<size_t>(rows * rows), 0);
  for (int64_t i = 0; i < rows; ++i) elements[static_cast<size_t>(i * (rows + 1))] = 1;
  return expand(cx, cx.add_constant(HostTensor::of(cx.dtype(x), extents, elements)), cx.type(x).shape);
}

}  // namespace

Status inverse(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0));
  const DType type = cx.dtype(given);
  const Shape shape = cx.type(given).shape;
  TRY(require(shape.size() >= 2 && shape.back().is_const() && shape[shape.size() - 2] == shape.back(), "x is ",
              cx.type(given), "; square matrices of a constant extent are needed"));
  TRY(require(is_kernel_float(type) || type == DType::kF64, "x is ", cx.type(given), "; floats are needed"));
  const int64_t rows = shape.back().value();
  if (rows < 1 || rows > kMostRows)
    return error(Code::kUnsupported, "an inverse of ", rows, " rows; 1 to ", kMostRows, " are supported");
  const ValueId x = TRY(cast(cx, given, type == DType::kF64 ? type : DType::kF32));
  const ValueId both = TRY(cx.add(ops::Concatenation{cx.rank(x) - 1}, {x, TRY(unit_like(cx, x, rows))}));
  Elimination elimination(cx, both, rows);
  for (int64_t step = 0; step < rows; ++step) TRY(elimination.eliminate(step));
  return cx.output(TRY(cast(cx, TRY(elimination.right_half()), type)));
}

}  // namespace kiln::onnx::importers::microsoft
