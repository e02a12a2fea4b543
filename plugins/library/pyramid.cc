#include "library/pyramid.h"

namespace kiln::plugins {

Status require_pyramid(std::span<const Shape> inputs) {
  TRY(require_rank(inputs, 0, 3));
  TRY(require_extent(inputs, 0, 2, 4, "as many numbers as a region has"));
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY(require_rank(inputs, i, 4));
    TRY(require_equal(inputs, 0, 0, i, 0));
    TRY(require_equal(inputs, 1, 1, i, 1));
  }
  return {};
}

}  // namespace kiln::plugins
