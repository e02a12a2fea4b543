/// The shape of a matrix product's work: the same on every device.
#pragma once

#include <span>
#include <vector>

#include "ops/matrix_multiply.h"
#include "steps/step_types.h"

namespace kiln {

/// An operand as matrices that the product reads (row, column), with batch axes in front of them.
struct ProductOperand {
  std::span<const int64_t> batch;
  int64_t rows, cols;
  int64_t row_stride, col_stride;  ///< in elements
  int64_t matrix() const { return rows * cols; }
};
/// The left and the right operand of these extents, which outlive the result. Their rank is at least what `op` takes.
ProductOperand left_operand(const Extents& extents, ops::MatrixOp op);
ProductOperand right_operand(const Extents& extents, ops::MatrixOp op);

/// One batch axis: its extent, and how far each tensor moves along it. 0 repeats.
struct ProductAxis {
  int64_t extent = 1, a = 0, b = 0, y = 0;
};

/// Element (i, l) of a lies at i * a_row + l * a_k, (l, j) of b at l * b_k + j * b_column; y is row-major, m x n.
struct ProductShape {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_k = 0, b_k = 0, b_column = 0;
  /// The innermost first. Neighbours are one where every tensor moves through them in one stride.
  std::vector<ProductAxis> axes;

  /// The shape for extents that `check_product` takes.
  static ProductShape of(const ops::MatrixMultiply& op, const Extents& a, const Extents& b);
  /// Matrices that share b and lie behind each other become one taller matrix.
  void join_rows();
};

/// Fails unless a product of the first two inputs makes the first output.
Status check_product(const ops::MatrixMultiply& op, const StepShapes& shapes);

}  // namespace kiln
