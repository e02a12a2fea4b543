#include "onnx/import/feature_rows.h"

#include <numeric>

#include "onnx/dtypes.h"
#include "onnx/import/arg_max.h"
#include "ops/gather.h"
#include "tensor/view.h"

namespace kiln::onnx {

Result<ValueId> features(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const DType type = cx.dtype(x);
  if (type == DType::kF32 || type == DType::kF64) return x;
  TRY(require(type == DType::kI32 || type == DType::kI64, "x is ", cx.type(x),
              "; f32, f64, i32 or i64 features are needed"));
  return cast(cx, x, DType::kF32);
}

Result<ValueId> feature_rows(ImportContext& cx) {
  const ValueId x = TRY(features(cx));
  TRY(require(cx.rank(x) == 1 || cx.rank(x) == 2, "x is ", cx.type(x), "; [rows, features] or [features] is needed"));
  return with_rank(cx, x, 2);
}

Result<ValueId> single_rows(ImportContext& cx) { return cast(cx, TRY(feature_rows(cx)), DType::kF32); }

Result<std::vector<double>> get_floats(ImportContext& cx, std::string_view attribute) {
  const std::vector<float> floats = TRY(cx.node().get_floats(attribute, {}));
  return std::vector<double>(floats.begin(), floats.end());
}

Result<std::vector<double>> need_floats(ImportContext& cx, std::string_view attribute) {
  std::vector<double> floats = TRY(get_floats(cx, attribute));
  TRY(require(!floats.empty(), "attribute '", attribute, "' is missing or empty; floats are needed"));
  return floats;
}

Result<std::vector<double>> tensor_numbers(ImportContext& cx, std::string_view attribute) {
  const TensorDef* given = TRY(cx.node().get_tensor(attribute));
  if (!given) return std::vector<double>();
  return View(TRY(host_tensor(TRY(tensor_data(cx.model(), *given))))).numbers();
}

Result<std::vector<double>> floats_or_tensor(ImportContext& cx, std::string_view attribute) {
  std::vector<double> floats = TRY(get_floats(cx, attribute));
  const std::string as_tensor = str(attribute, "_as_tensor");
  std::vector<double> numbers = TRY(tensor_numbers(cx, as_tensor));
  TRY(require(floats.empty() || numbers.empty(), "attributes '", attribute, "' and '", as_tensor,
              "' are both given; one is needed"));
  return numbers.empty() ? std::move(floats) : std::move(numbers);
}

Result<Extents> extents_of_numbers(ImportContext& cx, ValueId x, size_t count, std::string_view what) {
  const int rank = cx.rank(x);
  Extents extents(static_cast<size_t>(rank), 1);
  if (count == 1) return extents;
  const auto features = static_cast<int64_t>(count);
  TRY(require(rank == 1 || rank == 2, "x is ", cx.type(x), "; of ", features, " numbers in ", what,
              ", [rows, features] or [features] is needed"));
  TRY(require_equal(cx, cx.extent(x, rank - 1), features, str("the features of x and the numbers in ", what)));
  extents.back() = features;
  return extents;
}

Result<ValueId> for_each_feature(ImportContext& cx, ValueId x, const std::vector<double>& numbers,
                                 std::string_view what) {
  Extents extents = TRY(extents_of_numbers(cx, x, numbers.size(), what));
  if (numbers.size() == 1) return scalar_like(cx, numbers[0], x);
  return cx.add_constant(HostTensor::of(cx.dtype(x), std::move(extents), numbers));
}

Result<Ints> class_labels(ImportContext& cx, std::string_view of_ints, std::string_view of_strings) {
  TRY(require(TRY(cx.node().get_strings(of_strings)).empty(), "attribute '", of_strings,
              "': strings are not in Kiln; train or export with classes that are integers"));
  Ints labels = TRY(cx.node().need_ints(of_ints));
  TRY(require(labels.size() >= 2, "attribute '", of_ints, "' has ", labels.size(), " labels; two or more are needed"));
  return labels;
}

Result<ValueId> top_labels(ImportContext& cx, ValueId scores, const Ints& labels) {
  const ValueId best = TRY(arg_extreme(cx, scores, 1, Extreme::kMax, Tie::kFirst));
  const ValueId index = TRY(reshape(cx, best, {cx.extent(scores, 0)}));
  Ints in_order(labels.size());
  std::iota(in_order.begin(), in_order.end(), int64_t{0});
  if (labels == in_order) return index;
  const Extents extents{static_cast<int64_t>(labels.size())};
  const ValueId table = cx.add_constant(HostTensor::of_ints(DType::kI64, extents, labels));
  return cx.add(ops::Gather{.axis = 0}, {table, index});
}

Result<ValueId> either_label(ImportContext& cx, ValueId is_second, const Ints& labels) {
  const auto label = [&](size_t i) {
    return cx.add_constant(HostTensor::of_ints(DType::kI64, {1, 1}, std::span(&labels[i], 1)));
  };
  const ValueId chosen = TRY(select(cx, is_second, label(1), label(0)));
  return reshape(cx, chosen, {cx.extent(is_second, 0)});
}

}  // namespace kiln::onnx
