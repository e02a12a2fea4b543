/// LinearRegressor and LinearClassifier of ai.onnx.ml.
#include "onnx/import/feature_rows.h"
#include "onnx/import/importers.h"
#include "onnx/import/post_transform.h"

namespace kiln::onnx::importers::ml {
namespace {

/// x times `coefficients`, `count` rows of equal length, plus `intercepts`: [rows, count].
Result<ValueId> linear(ImportContext& cx, ValueId x, const std::vector<double>& coefficients,
                       const std::vector<double>& intercepts, int64_t count) {
  const auto size = static_cast<int64_t>(coefficients.size());
  TRY(require(count > 0 && size % count == 0, "coefficients has ", size, " numbers, which are not ", count,
              " rows of equal length"));
  TRY(require(intercepts.empty() || static_cast<int64_t>(intercepts.size()) == count, "intercepts has ",
              intercepts.size(), " numbers; ", count, " are needed"));
  TRY(require_equal(cx, cx.extent(x, 1), size / count, "the features of x and the coefficients of a row"));
  const ValueId w = cx.add_constant(HostTensor::of(DType::kF32, {count, size / count}, coefficients));
  const ValueId y = TRY(cx.add(ops::MatrixMultiply{.b = ops::MatrixOp::kTranspose}, {x, w}));
  if (intercepts.empty()) return y;
  return binary(cx, ElementWiseKind::kSum, y, cx.add_constant(HostTensor::of(DType::kF32, {1, count}, intercepts)));
}

/// How many rows the coefficients of a classifier have: one a class, or a single one for two classes.
Result<int64_t> rows_of(ImportContext& cx, ValueId x, size_t num_coefficients, size_t num_intercepts) {
  if (num_intercepts > 0) return static_cast<int64_t>(num_intercepts);
  const auto features = cx.extent(x, 1).constant();
  TRY(require(features && *features > 0, "x is ", cx.type(x),
              "; without intercepts its number of features must be a positive constant"));
  return static_cast<int64_t>(num_coefficients) / *features;
}

}  // namespace

Status linear_regressor(ImportContext& cx) {
  const ValueId x = TRY(single_rows(cx));
  const std::vector<double> coefficients = TRY(need_floats(cx, "coefficients")),
                            intercepts = TRY(get_floats(cx, "intercepts"));
  const int64_t targets = TRY(cx.node().get_int("targets", 1));
  const ValueId y = TRY(linear(cx, x, coefficients, intercepts, targets));
  return cx.output(TRY(post_transformed(cx, y, TRY(post_transform_of(cx)))));
}

/// Imports LinearClassifier. Labels are by scores before post_transform.
Status linear_classifier(ImportContext& cx) {
  const ValueId x = TRY(single_rows(cx));
  const Ints labels = TRY(class_labels(cx, "classlabels_ints", "classlabels_strings"));
  const std::vector<double> coefficients = TRY(need_floats(cx, "coefficients")),
                            intercepts = TRY(get_floats(cx, "intercepts"));
  cx.node().pass_over("multi_class");  // no implementation asks for it
  const PostTransform by = TRY(post_transform_of(cx));
  const int64_t count = TRY(rows_of(cx, x, coefficients.size(), intercepts.size()));
  const bool is_one = count == 1 && labels.size() == 2;
  TRY(require(is_one || count == static_cast<int64_t>(labels.size()), "there are ", labels.size(), " labels and ",
              count, " rows of coefficients; one a label is needed, or one for two labels"));
  const ValueId scores = TRY(linear(cx, x, coefficients, intercepts, count));
  if (!is_one) {
    TRY(cx.output(0, TRY(top_labels(cx, scores, labels))));
    return cx.output(1, TRY(post_transformed(cx, scores, by)));
  }
  const ValueId is_second = TRY(binary(cx, ElementWiseKind::kGreater, scores, 0));
  TRY(cx.output(0, TRY(either_label(cx, is_second, labels))));
  return cx.output(1, TRY(two_scores(cx, scores, OtherScore::kRest, by)));
}

}  // namespace kiln::onnx::importers::ml
