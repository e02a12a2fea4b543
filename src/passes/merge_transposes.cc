#include "passes/merge_transposes.h"

#include "ops/transpose.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

using Perm = std::vector<int64_t>;

bool is_identity(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// The permutation of `inner` and then `outer`.
Perm compose(const Perm& inner, const Perm& outer) {
  Perm result;
  for (const int64_t axis : outer) result.push_back(inner[static_cast<size_t>(axis)]);
  return result;
}

/// Whether the axes of extents other than 1 keep their order.
bool keeps_memory(const Perm& perm, const Shape& x) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (x[static_cast<size_t>(axis)] == sym::Expr(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

Status merge_transposes(ir::Graph& graph, PassContext&) {
  const ir::Pattern two = ir::op<ops::Transpose>("outer", ir::op<ops::Transpose>("inner", ir::any("x")));
  TRY(rewrite(graph, two, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const Perm perm = compose(found.op<ops::Transpose>("inner").perm, found.op<ops::Transpose>("outer").perm);
    const ir::ValueId x = found.value("x");
    const ir::ValueId y = is_identity(perm) ? x : TRY(patch.add(ops::Transpose{perm}, {x}));
    return patch.replace(found.value("outer"), y);  // "inner" stays if others read it
  }));
  const ir::Pattern one = ir::op<ops::Transpose>("y", ir::any("x"));
  return rewrite(graph, one, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::ValueId x = found.value("x");
    const Perm& perm = found.op<ops::Transpose>("y").perm;
    if (is_identity(perm)) return patch.replace(found.value("y"), x);
    if (!keeps_memory(perm, patch.type(x).shape)) return {};
    return patch.replace(found.value("y"), TRY(reshape_to(patch, x, found.type("y").shape)));
  });
}

}  // namespace kiln::passes
