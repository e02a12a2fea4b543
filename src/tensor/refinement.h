/// Two shapes of the same elements, cut into pieces that both have.
#pragma once

#include <optional>

#include "tensor/tensor_type.h"

namespace kiln {

/// Pieces whose products, in order, give both shapes. Axes of extent 1 have no pieces.
struct Refinement {
  Shape pieces;
  std::vector<std::vector<int64_t>> from, to;  ///< the pieces of each axis
};
/// The refinement of two shapes. Nothing where the shapes have no pieces in common, where that is not known for all
/// values of their symbols, and where an extent is 0.
std::optional<Refinement> refine(const Shape& from, const Shape& to);

}  // namespace kiln
