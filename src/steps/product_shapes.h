/// What a step of a matrix product computes, as far as shapes go: the same on every device.
#pragma once

#include "base/error.h"
#include "steps/step_types.h"

namespace kiln {

/// Which operands of a product are transposed, and which are vectors: without an axis of their own in the result.
struct ProductLayout {
  bool transpose_a = false, transpose_b = false, vector_a = false, vector_b = false;
};

/// An operand's extents as matrices with batch axes in front.
struct Operand {
  Extents batch;
  int64_t rows, cols;  ///< as stored
};
Operand operand(const Extents& extents, bool is_vector, bool is_left);

/// Whether a product of the first two inputs makes the first output.
Status check_product(const ProductLayout& at, const StepShapes& shapes);

}  // namespace kiln
