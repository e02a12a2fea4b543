/// Shared by the pointwise ops: their types' rules, broadcasting, symbolic values and the loop of their references.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "ops/infer_context.h"
#include "ops/op.h"
#include "ops/reference_context.h"
#include "tensor/compute_types.h"

namespace kiln {

inline constexpr int kMaxPointwiseInputs = 3;

/// The shape of all inputs broadcast against each other. Fails if their ranks differ.
Result<Shape> broadcast_inputs(InferContext& cx, std::string_view op);

/// An integer as storing it in `dtype` leaves it: wrapped; bool is value != 0.
int64_t wrap_integer(DType dtype, int64_t value);

/// The positions in the inputs, broadcast at equal rank, that belong to one element of the output.
using ElementIndices = std::array<int64_t, kMaxPointwiseInputs>;

/// Walks the elements of an output in row-major order with the linear indices of its inputs' elements.
class BroadcastWalk {
 public:
  /// `inputs` have the rank of `extents`; an extent of 1 repeats.
  BroadcastWalk(Extents extents, std::span<const Extents> inputs);
  bool done() const { return left_ == 0; }
  const ElementIndices& at() const { return at_; }
  void next();

 private:
  Extents extents_, position_;
  std::vector<ElementIndices> strides_;  // by axis
  ElementIndices at_{};
  int64_t left_;
};

/// The walk over output 0 of a reference.
Result<BroadcastWalk> walk_output(ReferenceContext& cx);

/// One element's expression from those of the inputs, the last of which is of type `dtype`; none where it cannot be
/// said. Floats are reals (sym/real.h).
using CombineValues = std::optional<sym::Expr> (*)(const void* op, DType dtype, std::span<const sym::Expr> arguments);
/// Sets output 0 and, if every input has values and `combine` succeeds for every element, its values.
Status set_pointwise_output(InferContext& cx, DType dtype, Shape shape, const void* op, CombineValues combine);

}  // namespace kiln
