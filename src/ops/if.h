/// One of two bodies, by a condition.
#pragma once

#include "ops/bodies.h"
#include "ops/op.h"

namespace kiln::ops {

/// Runs body 0 where the condition is true, body 1 where it is false, and never the other one.
///   in   condition  bool, one element
///        captured   any number: the inputs of both bodies
///   out  the outputs of the body that ran. Both bodies have outputs of the same types and ranks; an extent in which
///        they differ is decided by the run, and `decided` lists it. Where the host knows the condition and the
///        elements that both would give, it knows those of the output
struct If {
  static constexpr std::string_view name = "If";
  static constexpr int min_inputs = 1, max_inputs = -1;
  int outputs = 1;
  std::vector<DecidedAxis> decided;

  static void reflect(auto& self, auto f) { f("outputs", self.outputs), f("decided", self.decided); }
  int num_outputs() const { return outputs; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

/// The axes of outputs in which two bodies differ: what `If::decided` is for bodies with outputs of these types. Fails
/// where the types or ranks of an output differ.
Result<std::vector<DecidedAxis>> differing_axes(std::span<const TensorType> a, std::span<const TensorType> b);

}  // namespace kiln::ops
