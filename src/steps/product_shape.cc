#include "steps/product_shape.h"

#include <algorithm>

#include "steps/step_tensors.h"

namespace kiln {
namespace {

ProductOperand operand(const Extents& extents, ops::MatrixOp op, bool is_left) {
  const std::span<const int64_t> all(extents);
  const int64_t last = extents.back();
  if (op == ops::MatrixOp::kVector) {
    const auto batch = all.first(all.size() - 1);
    return is_left ? ProductOperand{batch, 1, last, last, 1} : ProductOperand{batch, last, 1, 1, 1};
  }
  const auto batch = all.first(all.size() - 2);
  const int64_t first = all[all.size() - 2];
  return op == ops::MatrixOp::kTranspose ? ProductOperand{batch, last, first, 1, last}
                                         : ProductOperand{batch, first, last, last, 1};
}

std::vector<ProductAxis> batch_axes(const ProductOperand& a, const ProductOperand& b) {
  std::vector<ProductAxis> axes;
  int64_t a_step = a.matrix(), b_step = b.matrix(), y_step = a.rows * b.cols;
  for (size_t i = a.batch.size(); i-- > 0;) {
    const int64_t ea = a.batch[i], eb = b.batch[i], extent = ea == 1 ? eb : ea;
    const ProductAxis axis{extent, ea == 1 ? 0 : a_step, eb == 1 ? 0 : b_step, y_step};
    a_step *= ea, b_step *= eb, y_step *= extent;
    if (extent == 1) continue;
    if (!axes.empty()) {
      ProductAxis& inner = axes.back();
      if (axis.a == inner.a * inner.extent && axis.b == inner.b * inner.extent && axis.y == inner.y * inner.extent) {
        inner.extent *= extent;
        continue;
      }
    }
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

ProductOperand left_operand(const Extents& extents, ops::MatrixOp op) { return operand(extents, op, true); }
ProductOperand right_operand(const Extents& extents, ops::MatrixOp op) { return operand(extents, op, false); }

ProductShape ProductShape::of(const ops::MatrixMultiply& op, const Extents& left, const Extents& right) {
  const ProductOperand a = left_operand(left, op.a), b = right_operand(right, op.b);
  return {a.rows, b.cols, a.cols, a.row_stride, a.col_stride, b.row_stride, b.col_stride, batch_axes(a, b)};
}

void ProductShape::join_rows() {
  if (axes.empty() || axes.front().b != 0 || axes.front().a != m * k || a_k != 1) return;
  m *= axes.front().extent;
  a_row = k;
  axes.erase(axes.begin());
}

Status check_product(const ops::MatrixMultiply& op, const StepShapes& shapes) {
  const Extents &x = shapes.inputs[0], &w = shapes.inputs[1];
  const auto least_rank = [](ops::MatrixOp side) { return side == ops::MatrixOp::kVector ? 1u : 2u; };
  TRY(require(x.size() >= least_rank(op.a) && w.size() >= least_rank(op.b), "a product of ", x, " and ", w,
              " lacks axes"));
  const ProductOperand a = left_operand(x, op.a), b = right_operand(w, op.b);
  const bool batched =
      std::ranges::equal(a.batch, b.batch, [](int64_t i, int64_t j) { return i == 1 || j == 1 || i == j; });
  TRY(require(a.cols == b.rows && batched, "the axes of a product of ", x, " and ", w, " do not agree"));
  Extents y;
  for (size_t i = 0; i < a.batch.size(); ++i) y.push_back(a.batch[i] == 1 ? b.batch[i] : a.batch[i]);
  if (op.a != ops::MatrixOp::kVector) y.push_back(a.rows);
  if (op.b != ops::MatrixOp::kVector) y.push_back(b.cols);
  return require_extents(shapes.outputs[0], y, "a product");
}

}  // namespace kiln
