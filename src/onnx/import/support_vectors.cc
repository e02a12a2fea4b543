/// SVMRegressor and SVMClassifier of ai.onnx.ml, by kernels of each row with each support vector.
#include <algorithm>

#include "onnx/import/feature_rows.h"
#include "onnx/import/importers.h"
#include "onnx/import/pairwise_coupling.h"
#include "onnx/import/post_transform.h"

namespace kiln::onnx::importers::ml {
namespace {

using enum ElementWiseKind;

struct Kernel {
  std::string_view type;
  double gamma = 0, coef0 = 0, degree = 0;
};
Result<Kernel> kernel_of(ImportContext& cx) {
  Kernel kernel{TRY(cx.node().get_string("kernel_type", "LINEAR"))};
  const std::vector<double> parameters = TRY(get_floats(cx, "kernel_params"));
  if (kernel.type == "LINEAR") return kernel;
  TRY(require(kernel.type == "POLY" || kernel.type == "RBF" || kernel.type == "SIGMOID", "kernel_type is '",
              kernel.type, "'; LINEAR, POLY, RBF or SIGMOID is needed"));
  TRY(require(parameters.size() == 3, "kernel_params has ", parameters.size(),
              " numbers; gamma, coef0 and degree are needed"));
  kernel.gamma = parameters[0], kernel.coef0 = parameters[1], kernel.degree = parameters[2];
  return kernel;
}

/// The kernel of each row of x with each of `count` vectors: [rows, vectors].
Result<ValueId> kernels(ImportContext& cx, ValueId x, const Kernel& kernel, const std::vector<double>& vectors,
                        int64_t count) {
  const auto size = static_cast<int64_t>(vectors.size());
  TRY(require(count > 0 && size % count == 0 && size > 0, "support_vectors has ", size, " numbers, which are not ",
              count, " vectors of equal length"));
  const int64_t features = size / count;
  TRY(require_equal(cx, cx.extent(x, 1), features, "the features of x and those of a support vector"));
  if (kernel.type == "RBF") {  // by differences, of which none is lost where rows are close to vectors
    const ValueId all = cx.add_constant(HostTensor::of(DType::kF32, {1, count, features}, vectors));
    const ValueId off = TRY(binary(cx, kSub, TRY(unsqueeze(cx, x, {1})), all));
    const ValueId distance = TRY(reduce(cx, ReduceKind::kSum, TRY(binary(cx, kProd, off, off)), {2}, false));
    return unary(cx, UnaryKind::kExp, TRY(binary(cx, kProd, distance, -kernel.gamma)));
  }
  const ValueId all = cx.add_constant(HostTensor::of(DType::kF32, {count, features}, vectors));
  const ValueId dot = TRY(cx.add(ops::MatrixMultiply{.b = ops::MatrixOp::kTranspose}, {x, all}));
  if (kernel.type == "LINEAR") return dot;
  const ValueId moved = TRY(binary(cx, kSum, TRY(binary(cx, kProd, dot, kernel.gamma)), kernel.coef0));
  if (kernel.type == "SIGMOID") return activation(cx, ActivationKind::kTanh, moved);
  return binary(cx, kPow, moved, kernel.degree);
}

/// A weighted sum of each row of kernels, [vectors, columns] of weights, plus rho. It is computed in FP64, since
/// weights are large where classes overlap, and their sum is small.
Result<ValueId> weighted(ImportContext& cx, ValueId kernels, const std::vector<double>& weights,
                         const std::vector<double>& rho) {
  const auto columns = static_cast<int64_t>(rho.size());
  const auto vectors = static_cast<int64_t>(weights.size()) / columns;
  const ValueId wide = TRY(cast(cx, kernels, DType::kF64));
  const ValueId sums =
      TRY(matrix_multiply(cx, wide, cx.add_constant(HostTensor::of(DType::kF64, {vectors, columns}, weights))));
  return cast(cx, TRY(binary(cx, kSum, sums, cx.add_constant(HostTensor::of(DType::kF64, {1, columns}, rho)))),
              DType::kF32);
}

/// The decisions of each pair of classes.
struct Pairs {
  int64_t count;
  std::vector<double> coefficients;   ///< [vectors, pairs]
  std::vector<double> first, second;  ///< [pairs, classes]: 1 for the pair's class that its decision may choose
};

/// Coefficients have a row for each class but one; the support vectors of a class stand together. Class i's are in
/// row j - 1 for its decision against a later class j, and class j's in row i.
Pairs pairs_of(const Ints& vectors_per_class, const std::vector<double>& coefficients, int64_t num_vectors) {
  const auto classes = static_cast<int64_t>(vectors_per_class.size());
  Pairs pairs{classes * (classes - 1) / 2, {}, {}, {}};
  pairs.coefficients.assign(static_cast<size_t>(num_vectors * pairs.count), 0);
  pairs.first.assign(static_cast<size_t>(pairs.count * classes), 0);
  pairs.second = pairs.first;
  Ints start(vectors_per_class.size() + 1, 0);
  for (size_t i = 0; i < vectors_per_class.size(); ++i) start[i + 1] = start[i] + vectors_per_class[i];
  int64_t pair = 0;
  const auto take = [&](int64_t of, int64_t row) {
    for (int64_t v = start[static_cast<size_t>(of)]; v < start[static_cast<size_t>(of) + 1]; ++v)
      pairs.coefficients[static_cast<size_t>(v * pairs.count + pair)] =
          coefficients[static_cast<size_t>(row * num_vectors + v)];
  };
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      take(i, j - 1);
      take(j, i);
      pairs.first[static_cast<size_t>(pair * classes + i)] = 1;
      pairs.second[static_cast<size_t>(pair * classes + j)] = 1;
    }
  return pairs;
}

/// The number of support vectors that the classes have, checked with the attributes that depend on it.
Result<int64_t> count_vectors(const Ints& per_class, size_t num_labels, size_t num_coefficients, size_t num_rho) {
  constexpr int64_t kMostVectors = 1 << 24;
  constexpr size_t kMostClasses = 256;  // tables of pairs by classes
  TRY(require(num_labels <= kMostClasses, "there are ", num_labels, " classes; ", kMostClasses, " are supported"));
  TRY(require(per_class.size() == num_labels, "vectors_per_class has ", per_class.size(), " numbers; there are ",
              num_labels, " labels"));
  int64_t count = 0;
  for (const int64_t each : per_class) {
    TRY(require(each >= 0 && each <= kMostVectors, "vectors_per_class has ", each));
    count += each;
  }
  const size_t pairs = num_labels * (num_labels - 1) / 2;
  TRY(require(num_coefficients == (num_labels - 1) * static_cast<size_t>(count), "coefficients has ", num_coefficients,
              " numbers; ", count, " for each class but one are needed"));
  TRY(require(num_rho == pairs, "rho has ", num_rho, " numbers; ", pairs, " are needed, one a pair of classes"));
  return count;
}

/// The class that most decisions choose, of equally many the first.
Result<ValueId> voted(ImportContext& cx, ValueId scores, const Pairs& pairs, const Ints& labels) {
  const auto classes = static_cast<int64_t>(labels.size());
  const ValueId is_first = TRY(binary(cx, kGreater, scores, 0));
  const auto votes = [&](ValueId chosen, const std::vector<double>& of) -> Result<ValueId> {
    const ValueId table = cx.add_constant(HostTensor::of(DType::kF32, {pairs.count, classes}, of));
    return matrix_multiply(cx, TRY(cast(cx, chosen, DType::kF32)), table);
  };
  const ValueId all = TRY(binary(cx, kSum, TRY(votes(is_first, pairs.first)),
                                 TRY(votes(TRY(unary(cx, UnaryKind::kNot, is_first)), pairs.second))));
  return top_labels(cx, all, labels);
}

}  // namespace

/// Imports SVMRegressor: a sum of kernels; without support vectors, a linear model.
Status svm_regressor(ImportContext& cx) {
  const ValueId x = TRY(single_rows(cx));
  const Kernel kernel = TRY(kernel_of(cx));
  const std::vector<double> coefficients = TRY(need_floats(cx, "coefficients")), rho = TRY(need_floats(cx, "rho")),
                            vectors = TRY(get_floats(cx, "support_vectors"));
  const int64_t count = TRY(cx.node().get_int("n_supports", 0));
  TRY(require(rho.size() == 1, "rho has ", rho.size(), " numbers; one is needed"));
  TRY(require(TRY(post_transform_of(cx)) == PostTransform::kNone, "post_transform of SVMRegressor is not in Kiln"));
  TRY(require(count == 0 || static_cast<int64_t>(coefficients.size()) == count, "n_supports is ", count,
              " and coefficients has ", coefficients.size(), " numbers; one a support vector is needed"));
  const ValueId y = count == 0 ? TRY(binary(cx, kSum, TRY(kernels(cx, x, {"LINEAR"}, coefficients, 1)), rho[0]))
                               : TRY(weighted(cx, TRY(kernels(cx, x, kernel, vectors, count)), coefficients, rho));
  if (TRY(cx.node().get_int("one_class", 0)) == 0) return cx.output(y);
  const ValueId is_inside = TRY(binary(cx, kGreater, y, 0));
  return cx.output(TRY(select(cx, is_inside, scalar_like(cx, 1, y), scalar_like(cx, -1, y))));
}

/// Imports SVMClassifier. Scores are probabilities where the model has them, else decisions, one a pair of classes; of
/// two classes, the decision and its negative before it.
Status svm_classifier(ImportContext& cx) {
  const ValueId x = TRY(single_rows(cx));
  const Ints labels = TRY(class_labels(cx, "classlabels_ints", "classlabels_strings"));
  const std::vector<double> slopes = TRY(get_floats(cx, "prob_a")), offsets = TRY(get_floats(cx, "prob_b"));
  const Ints per_class = TRY(cx.node().get_ints("vectors_per_class", {}));
  TRY(require(!per_class.empty(), "vectors_per_class is missing or empty: a linear SVM is to be a LinearClassifier"));
  const Kernel kernel = TRY(kernel_of(cx));
  const std::vector<double> coefficients = TRY(need_floats(cx, "coefficients")), rho = TRY(need_floats(cx, "rho"));
  const int64_t count = TRY(count_vectors(per_class, labels.size(), coefficients.size(), rho.size()));
  const ValueId of_vectors = TRY(kernels(cx, x, kernel, TRY(need_floats(cx, "support_vectors")), count));
  const Pairs pairs = pairs_of(per_class, coefficients, count);
  const ValueId scores = TRY(weighted(cx, of_vectors, pairs.coefficients, rho));
  TRY(cx.output(0, TRY(voted(cx, scores, pairs, labels))));
  const PostTransform by = TRY(post_transform_of(cx));
  if (!slopes.empty() || !offsets.empty()) {
    const auto needed = static_cast<size_t>(pairs.count);
    TRY(require(slopes.size() == needed && offsets.size() == needed, "prob_a has ", slopes.size(),
                " numbers and prob_b ", offsets.size(), "; ", needed, " each are needed, one a pair of classes"));
    const auto classes = static_cast<int64_t>(labels.size());
    const ValueId p = TRY(coupled_probabilities(cx, scores, classes, slopes, offsets));
    return cx.output(1, TRY(post_transformed(cx, p, by)));
  }
  if (labels.size() > 2) return cx.output(1, TRY(post_transformed(cx, scores, by)));
  const OtherScore other = by == PostTransform::kNone ? OtherScore::kNegative : OtherScore::kRest;
  return cx.output(1, TRY(two_scores(cx, scores, other, by)));
}

}  // namespace kiln::onnx::importers::ml
