#include "steps/normalized_product.h"

#include <cmath>

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::NormalizedProduct>();

namespace kiln::steps {
namespace {

/// Calls `use` with the step that it is but for its norm.
template <class Use>
Status with_plain(const NormalizedProduct& step, const Use& use) {
  if (step.gate) return use(GatedProduct{step.op, step.epilogue, *step.gate});
  return use(MatrixMultiply{step.op, step.epilogue});
}

}  // namespace

Status NormalizedProduct::check() const {
  TRY(require(std::isfinite(epsilon) && epsilon >= 0, "a normalized product has the epsilon ", epsilon));
  if (gate) return GatedProduct{op, epilogue, *gate}.check();
  return require(op.a == ops::MatrixOp::kNone && op.b != ops::MatrixOp::kVector,
                 "a normalized product takes a as it is, and a matrix b");
}

Status NormalizedProduct::check(const StepTypes& types) const {
  return with_plain(*this, [&](const auto& plain) { return plain.check(types); });
}

Status NormalizedProduct::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents &a = shapes.inputs[0], &b = shapes.inputs[1];
  TRY(require(a.size() >= 2 && b.size() >= 2 && volume(std::span(b).first(b.size() - 2)) == 1,
              "a normalized product of ", a, " and ", b, " is not of matrices of which the second is one"));
  return with_plain(*this, [&](const auto& plain) { return plain.check(types, shapes); });
}

}  // namespace kiln::steps
