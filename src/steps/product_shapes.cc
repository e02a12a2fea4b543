#include "steps/product_shapes.h"

#include <algorithm>

#include "steps/step_tensors.h"

namespace kiln {

Operand operand(const Extents& extents, bool is_vector, bool is_left) {
  if (is_vector) {
    const int64_t length = extents.back();
    return {Extents(extents.begin(), extents.end() - 1), is_left ? 1 : length, is_left ? length : 1};
  }
  return {Extents(extents.begin(), extents.end() - 2), extents[extents.size() - 2], extents.back()};
}

Status check_product(const ProductLayout& at, const StepShapes& shapes) {
  const Extents &x = shapes.inputs[0], &w = shapes.inputs[1];
  TRY(require(x.size() >= (at.vector_a ? 1u : 2u) && w.size() >= (at.vector_b ? 1u : 2u), "a product of ", x, " and ",
              w));
  const Operand a = operand(x, at.vector_a, true), b = operand(w, at.vector_b, false);
  const bool sums = (at.transpose_a ? a.rows : a.cols) == (at.transpose_b ? b.cols : b.rows);
  const bool batched =
      std::ranges::equal(a.batch, b.batch, [](int64_t i, int64_t j) { return i == 1 || j == 1 || i == j; });
  TRY(require(sums && batched, "a product of ", x, " and ", w));
  Extents y;
  for (size_t i = 0; i < a.batch.size(); ++i) y.push_back(a.batch[i] == 1 ? b.batch[i] : a.batch[i]);
  if (!at.vector_a) y.push_back(at.transpose_a ? a.cols : a.rows);
  if (!at.vector_b) y.push_back(at.transpose_b ? b.rows : b.cols);
  return require_extents(shapes.outputs[0], y, "a product");
}

}  // namespace kiln
