/// LabelEncoder of ai.onnx.ml from numbers to numbers, and OneHotEncoder of integers.
#include <algorithm>
#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"
#include "tensor/view.h"

namespace kiln::onnx::importers::ml {
namespace {

constexpr int64_t kMostKeys = 1 << 16;  // each is compared with each element

/// The tensor of an attribute, or of the list of integers or of floats beside it.
Result<HostTensor> numbers_of(ImportContext& cx, const std::string& what) {
  NodeReader& node = cx.node();
  TRY(require(!node.find(what + "_strings"), what,
              "_strings: strings are not in Kiln; keep them outside of the network"));
  const Ints ints = TRY(node.get_ints(what + "_int64s", {}));
  const std::vector<float> floats = TRY(node.get_floats(what + "_floats", {}));
  const TensorDef* tensor = TRY(node.get_tensor(what + "_tensor"));
  TRY(require((ints.empty() ? 0 : 1) + (floats.empty() ? 0 : 1) + (tensor ? 1 : 0) == 1, "one of ", what, "_int64s, ",
              what, "_floats and ", what, "_tensor is needed, and no other"));
  if (tensor) {
    const HostTensor given = TRY(host_tensor(TRY(tensor_data(cx.model(), *tensor))));
    TRY(require(given.extents().size() == 1 && given.volume() > 0, what, "_tensor is ", given.dtype(), " ",
                given.extents(), "; one axis that is not empty is needed"));
    return given;
  }
  if (!ints.empty()) return HostTensor::of_ints(DType::kI64, {static_cast<int64_t>(ints.size())}, ints);
  const std::vector<double> doubles(floats.begin(), floats.end());
  return HostTensor::of(DType::kF32, {static_cast<int64_t>(doubles.size())}, doubles);
}

/// The value of what is no key, one element of the values' type.
Result<HostTensor> otherwise(ImportContext& cx, DType type) {
  if (const TensorDef* tensor = TRY(cx.node().get_tensor("default_tensor"))) {
    const HostTensor given = TRY(host_tensor(TRY(tensor_data(cx.model(), *tensor))));
    TRY(require(given.volume() == 1 && given.dtype() == type, "default_tensor is ", given.dtype(), " ", given.extents(),
                "; one element of ", type, ", which the values are, is needed"));
    return given;
  }
  const int64_t of_ints = TRY(cx.node().get_int("default_int64", -1));
  const double of_floats = TRY(cx.node().get_float("default_float", -0.0F));
  cx.node().pass_over("default_string");
  if (is_integer(type)) return HostTensor::of_ints(type, {1}, std::span(&of_ints, 1));
  return HostTensor::of(type, {1}, std::span(&of_floats, 1));
}

/// The values, and behind them the default.
Result<HostTensor> table_of(ImportContext& cx, const HostTensor& values) {
  const HostTensor last = TRY(otherwise(cx, values.dtype()));
  const Extents extents{values.volume() + 1};
  if (is_integer(values.dtype())) {
    Ints all = View(values).integers();
    all.push_back(View(last).integers()[0]);
    return HostTensor::of_ints(values.dtype(), extents, all);
  }
  std::vector<double> all = View(values).numbers();
  all.push_back(View(last).numbers()[0]);
  return HostTensor::of(values.dtype(), extents, all);
}

/// The index of x's elements among the keys, of equal keys the first; the number of keys where there is none. Since
/// version 4, NaN is a key like others.
Result<ValueId> index_of(ImportContext& cx, ValueId x, const HostTensor& keys) {
  const int64_t count = keys.volume();
  Extents extents(static_cast<size_t>(cx.rank(x)) + 1, 1);
  extents.back() = count;
  const bool is_whole = is_integer(keys.dtype());
  const ValueId all = cx.add_constant(is_whole ? HostTensor::of_ints(cx.dtype(x), extents, View(keys).integers())
                                               : HostTensor::of(cx.dtype(x), extents, View(keys).numbers()));
  const ValueId each = TRY(unsqueeze(cx, x, {cx.rank(x)}));
  ValueId is_here = TRY(binary(cx, ElementWiseKind::kEqual, each, all));
  const std::vector<double> numbers = View(keys).numbers();
  if (cx.opset() >= 4 && std::ranges::any_of(numbers, [](double key) { return std::isnan(key); })) {
    const ValueId both = TRY(binary(cx, ElementWiseKind::kAnd, TRY(unary(cx, UnaryKind::kIsNan, each)),
                                    TRY(unary(cx, UnaryKind::kIsNan, all))));
    is_here = TRY(binary(cx, ElementWiseKind::kOr, is_here, both));
  }
  const ValueId index = TRY(indices_along(cx, count, cx.rank(x), cx.rank(x) + 1));
  const ValueId found = TRY(select(cx, is_here, index, scalar_like(cx, static_cast<double>(count), index)));
  return reduce(cx, ReduceKind::kMin, found, {cx.rank(x)}, false);
}

}  // namespace

Status label_encoder(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.opset() >= 2, "LabelEncoder of version 1 maps strings, which are not in Kiln"));
  const HostTensor keys = TRY(numbers_of(cx, "keys")), values = TRY(numbers_of(cx, "values"));
  TRY(require(keys.volume() == values.volume(), "there are ", keys.volume(), " keys and ", values.volume(), " values"));
  TRY(require(keys.volume() <= kMostKeys, "there are ", keys.volume(), " keys; ", kMostKeys, " are supported"));
  TRY(require(is_integer(cx.dtype(x)) == is_integer(keys.dtype()) && cx.dtype(x) != DType::kBool, "x is ", cx.type(x),
              " and keys are ", keys.dtype(), "; both must be integers or floats"));
  const ValueId table = cx.add_constant(TRY(table_of(cx, values)));
  const ValueId wide = is_integer(keys.dtype()) ? TRY(cast(cx, x, DType::kI64)) : x;
  return cx.output(TRY(cx.add(ops::Gather{.axis = 0}, {table, TRY(index_of(cx, wide, keys))})));
}

/// Imports OneHotEncoder: rows of the unit matrix. What is no category is a row of zeros or, where `zeros` is 0, an
/// index outside the matrix, which fails the run.
Status one_hot_encoder(ImportContext& cx) {
  const ValueId x = TRY(cast(cx, TRY(cx.input(0)), DType::kI64));
  TRY(require(!cx.node().find("cats_strings"),
              "cats_strings: strings are not in Kiln; keep them outside of the network"));
  const Ints categories = TRY(cx.node().need_ints("cats_int64s"));
  constexpr size_t kMostCategories = 1 << 12;  // of which the matrix has the square
  TRY(require(!categories.empty() && categories.size() <= kMostCategories, "cats_int64s has ", categories.size(),
              " numbers; 1 to ", kMostCategories, " are supported"));
  const auto count = static_cast<int64_t>(categories.size());
  const int64_t rows = TRY(cx.node().get_int("zeros", 1)) == 0 ? count : count + 1;
  std::vector<double> unit(static_cast<size_t>(rows * count), 0);
  for (int64_t i = 0; i < count; ++i) unit[static_cast<size_t>(i * (count + 1))] = 1;
  const ValueId table = cx.add_constant(HostTensor::of(DType::kF32, {rows, count}, unit));
  const ValueId index = TRY(index_of(cx, x, HostTensor::of_ints(DType::kI64, {count}, categories)));
  return cx.output(TRY(cx.add(ops::Gather{.axis = 0}, {table, index})));
}

}  // namespace kiln::onnx::importers::ml
