#include "onnx/import/pairwise_coupling.h"

#include "ops/loop.h"

namespace kiln::onnx {
namespace {

using enum ElementWiseKind;

constexpr int64_t kMostClasses = 32;      // a dozen ops each
constexpr int64_t kMostIterations = 100;  // libsvm's

/// The probability of each pair's first class, [rows, pairs].
Result<ValueId> of_pairs(ImportContext& cx, ValueId decisions, const std::vector<double>& a,
                         const std::vector<double>& b) {
  constexpr double kLeast = 1e-7;
  const auto row = [&](const std::vector<double>& numbers) {
    return cx.add_constant(HostTensor::of(DType::kF32, {1, static_cast<int64_t>(numbers.size())}, numbers));
  };
  const ValueId linear = TRY(binary(cx, kSum, TRY(binary(cx, kProd, decisions, row(a))), row(b)));
  const ValueId sigmoid = TRY(activation(cx, ActivationKind::kSigmoid, linear));
  const ValueId first = TRY(binary(cx, kSum, TRY(unary(cx, UnaryKind::kNeg, sigmoid)), 1));
  return binary(cx, kMin, TRY(binary(cx, kMax, first, kLeast)), 1 - kLeast);
}

/// r[i][j], [rows, classes, classes]: the probability of class i where only i and j are possible; 0 where i is j.
Result<ValueId> pair_matrix(ImportContext& cx, ValueId first, int64_t classes) {
  const int64_t pairs = classes * (classes - 1) / 2, size = classes * classes;
  std::vector<double> above(static_cast<size_t>(pairs * size), 0), below = above;
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      above[static_cast<size_t>(pair * size + i * classes + j)] = 1;
      below[static_cast<size_t>(pair * size + j * classes + i)] = 1;
    }
  const auto placed = [&](ValueId numbers, const std::vector<double>& places) {
    return matrix_multiply(cx, numbers, cx.add_constant(HostTensor::of(DType::kF32, {pairs, size}, places)));
  };
  const ValueId second = TRY(binary(cx, kSum, TRY(unary(cx, UnaryKind::kNeg, first)), 1));
  const ValueId all = TRY(binary(cx, kSum, TRY(placed(first, above)), TRY(placed(second, below))));
  return reshape(cx, all, {cx.extent(first, 0), classes, classes});
}

/// The matrix whose quadratic form the probabilities make least: r[j][i]^2 summed over j on the diagonal, and
/// -r[i][j] * r[j][i] beside it.
Result<ValueId> form_of(ImportContext& cx, ValueId r, int64_t classes) {
  std::vector<double> unit(static_cast<size_t>(classes * classes), 0);
  for (int64_t i = 0; i < classes; ++i) unit[static_cast<size_t>(i * (classes + 1))] = 1;
  const ValueId sums = TRY(reduce(cx, ReduceKind::kSum, TRY(binary(cx, kProd, r, r)), {1}, true));
  const ValueId diagonal =
      TRY(binary(cx, kProd, sums, cx.add_constant(HostTensor::of(DType::kF32, {1, classes, classes}, unit))));
  return binary(cx, kSub, diagonal, TRY(binary(cx, kProd, r, TRY(transpose(cx, r, {0, 2, 1})))));
}

/// Probabilities p, the form q times p, and p times that: [rows, classes] twice, and [rows, 1].
struct Search {
  ValueId p, qp, pqp;
};

/// Makes class `i` agree with the others.
Result<Search> agreed(ImportContext& cx, const Search& now, ValueId q, int64_t i, int64_t classes) {
  const auto constant = [&](double number) { return scalar_of(cx, number, DType::kF32, 2); };
  const ValueId row = TRY(reshape(cx, TRY(slice(cx, q, {{i}, {1}, {1}, {1}})), {cx.extent(q, 0), classes}));
  const ValueId own = TRY(slice(cx, row, {{i}, {1}, {1}, {1}}));
  const ValueId qp = TRY(slice(cx, now.qp, {{i}, {1}, {1}, {1}}));
  const ValueId step = TRY(binary(cx, kDiv, TRY(binary(cx, kSub, now.pqp, qp)), own));
  const ValueId total = TRY(binary(cx, kSum, step, constant(1)));
  const auto moved = [&](ValueId from, ValueId by) -> Result<ValueId> {
    return binary(cx, kDiv, TRY(binary(cx, kSum, from, TRY(binary(cx, kProd, step, by)))), total);
  };
  std::vector<double> unit(static_cast<size_t>(classes), 0);
  unit[static_cast<size_t>(i)] = 1;
  const ValueId slope =
      TRY(binary(cx, kSum, TRY(binary(cx, kProd, step, own)), TRY(binary(cx, kProd, qp, constant(2)))));
  return Search{TRY(moved(now.p, cx.add_constant(HostTensor::of(DType::kF32, {1, classes}, unit)))),
                TRY(moved(now.qp, row)), TRY(binary(cx, kDiv, TRY(moved(now.pqp, slope)), total))};
}

/// One iteration: a row stays as it is where it is good enough, and then stays so. Gives whether another row is not.
Status iterate(ImportContext& cx, ValueId p, ValueId q, int64_t classes) {
  const double enough = 0.005 / static_cast<double>(classes);
  Search search{p, TRY(reduce(cx, ReduceKind::kSum, TRY(binary(cx, kProd, q, TRY(unsqueeze(cx, p, {1})))), {2}, false)),
                ValueId::kNone};
  search.pqp = TRY(reduce(cx, ReduceKind::kSum, TRY(binary(cx, kProd, p, search.qp)), {1}, true));
  const ValueId off = TRY(unary(cx, UnaryKind::kAbs, TRY(binary(cx, kSub, search.qp, search.pqp))));
  const ValueId is_good = TRY(binary(cx, kLess, TRY(reduce(cx, ReduceKind::kMax, off, {1}, true)), enough));
  for (int64_t i = 0; i < classes; ++i) search = TRY(agreed(cx, search, q, i, classes));
  const ValueId next = TRY(select(cx, is_good, p, search.p));
  const ValueId open = TRY(cast(cx, TRY(unary(cx, UnaryKind::kNot, is_good)), DType::kF32));
  const ValueId count = TRY(reduce(cx, ReduceKind::kSum, open, {0, 1}, false));
  cx.graph().mark_output(TRY(binary(cx, kGreater, count, 0)), "is another needed");
  cx.graph().mark_output(next, "probabilities");
  return {};
}

}  // namespace

Result<ValueId> coupled_probabilities(ImportContext& cx, ValueId decisions, int64_t classes,
                                      const std::vector<double>& a, const std::vector<double>& b) {
  TRY(require(classes <= kMostClasses, "probabilities of ", classes, " classes; ", kMostClasses, " are supported"));
  const ValueId r = TRY(pair_matrix(cx, TRY(of_pairs(cx, decisions, a, b)), classes));
  const ValueId q = TRY(form_of(cx, r, classes));
  const ValueId even = scalar_of(cx, 1 / static_cast<double>(classes), DType::kF32, 2);
  const ValueId first = TRY(expand(cx, even, {cx.extent(decisions, 0), classes}));
  const auto body = std::make_shared<ir::Graph>(cx.graph().shared_table());
  body->add_input("iteration", TensorType(DType::kI64, Shape{}));
  const ValueId inner_p = body->add_input("probabilities", TensorType(DType::kF32, cx.type(first).shape));
  const ValueId inner_q = body->add_input("form", TensorType(DType::kF32, cx.type(q).shape));
  ImportContext inside(cx.model(), cx.def(), cx.opset(), *body, {}, cx.state());
  TRY(iterate(inside, inner_p, inner_q, classes));
  const ValueId count = TRY(scalar_value(cx, kMostIterations));
  const std::vector<ValueId> inputs{count, ValueId::kNone, first, q};
  ops::Loop loop;
  loop.carried = 1;
  loop.tests = true;
  return TRY(cx.add_all(std::move(loop), inputs, {body}))[0];
}

}  // namespace kiln::onnx
