#include "passes/split_doubles.h"

#include <numeric>

#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "passes/rewrite.h"
#include "tensor/compute_types.h"

namespace kiln::passes {
namespace {

using enum ops::ElementWiseKind;
constexpr int64_t kMostPairs = int64_t{1} << 24;  // 128 MiB

/// Whether the axis that is summed over is an operand's last one, or the one before it. `is_left`: whether it is a.
bool has_terms_last(ops::MatrixOp op, bool is_left) {
  return op == ops::MatrixOp::kVector || (op == ops::MatrixOp::kNone) == is_left;
}
sym::Expr terms_of(const TensorType& x, ops::MatrixOp op, bool is_left) {
  return x.shape[static_cast<size_t>(x.rank() - (has_terms_last(op, is_left) ? 1 : 2))];
}

/// An operand with the axis that is summed over innermost.
Result<ir::ValueId> with_terms_last(ir::Patch& patch, ir::ValueId x, ops::MatrixOp op, bool is_left) {
  if (has_terms_last(op, is_left)) return x;
  std::vector<int64_t> perm(static_cast<size_t>(patch.type(x).rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return patch.add(ops::Transpose{std::move(perm)}, {x});
}

Status split_product(const ir::Capture& found, ir::Patch& patch, bool has_kernels) {
  if (!is_own_kind(found.type("y").dtype)) return {};
  const auto& op = found.op<ops::MatrixMultiply>("y");
  const sym::Expr terms = terms_of(found.type("a"), op.a, /*is_left=*/true);
  const bool is_outer = terms == sym::Expr(1) && terms_of(found.type("b"), op.b, /*is_left=*/false) == terms;
  const int64_t most_terms = terms.max(), most_results = found.type("y").volume().max();
  if (!is_outer && (has_kernels || (most_terms > 0 && most_results > kMostPairs / most_terms))) return {};
  ir::ValueId a = TRY(with_terms_last(patch, found.value("a"), op.a, /*is_left=*/true));
  ir::ValueId b = TRY(with_terms_last(patch, found.value("b"), op.b, /*is_left=*/false));
  // [..., M, 1, K] and [..., 1, N, K], without the axes that vectors lack
  const bool is_column = op.b == ops::MatrixOp::kVector;
  if (!is_column) a = TRY(patch.add(ops::Unsqueeze{{-2}}, {a}));
  if (op.a != ops::MatrixOp::kVector) b = TRY(patch.add(ops::Unsqueeze{{is_column ? -2 : -3}}, {b}));
  const ir::ValueId pairs = TRY(patch.add(ops::ElementWise{kProd}, {a, b}));
  const ir::ValueId y = is_outer ? TRY(patch.add(ops::Squeeze{{-1}}, {pairs}))
                                 : TRY(patch.add(ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {-1}}, {pairs}));
  return patch.replace(found.value("y"), y);
}

Status split_softmax(const ir::Capture& found, ir::Patch& patch) {
  if (found.type("y").dtype != DType::kF64) return {};
  const auto reduced = [&](ir::ValueId x, ops::ReduceKind kind) {
    return patch.add(ops::Reduce{.kind = kind, .axes = {found.op<ops::Softmax>("y").axis}, .keep = true}, {x});
  };
  const ir::ValueId x = found.value("x"), most = TRY(reduced(x, ops::ReduceKind::kMax));
  const ir::ValueId less = TRY(patch.add(ops::ElementWise{kSub}, {x, most}));
  const ir::ValueId e = TRY(patch.add(ops::Unary{ops::UnaryKind::kExp}, {less}));
  const ir::ValueId sum = TRY(reduced(e, ops::ReduceKind::kSum));
  return patch.replace(found.value("y"), TRY(patch.add(ops::ElementWise{kDiv}, {e, sum})));
}

}  // namespace

Status split_doubles(ir::Graph& graph, PassContext& cx) {
  const ir::Pattern product = ir::op<ops::MatrixMultiply>("y", ir::any("a"), ir::any("b"));
  const ir::Pattern softmax = ir::op<ops::Softmax>("y", ir::any("x"));
  TRY(rewrite(graph, product,
              [&](const auto& found, ir::Patch& patch) { return split_product(found, patch, cx.multiplies_in_kind); }));
  return rewrite(graph, softmax, [](const auto& found, ir::Patch& patch) { return split_softmax(found, patch); });
}

}  // namespace kiln::passes
