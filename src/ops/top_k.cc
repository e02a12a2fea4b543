#include "ops/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::TopK>();

namespace {

Result<sym::Expr> count_of(InferContext& cx, int64_t attribute) {
  if (!cx.has_input(1)) return sym::Expr(attribute);
  const TensorType& k = TRY(cx.input(1));
  TRY(cx.require(is_index(k.dtype) && sym::provably_equal(k.volume(), 1), "k is ", k, "; one i32 or i64 is needed"));
  return TRY(cx.values(1))[0];
}

/// Indices of a row in the order of its elements.
template <class T>
std::vector<int64_t> sorted(const std::vector<T>& row, bool largest) {
  const auto is_nan = [](T value) {
    if constexpr (std::is_same_v<T, double>) return std::isnan(value);
    return false;
  };
  const auto above = [&](T a, T b) { return a > b || (is_nan(a) && !is_nan(b)); };
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const T x = row[static_cast<size_t>(a)], y = row[static_cast<size_t>(b)];
    return largest ? above(x, y) : above(y, x);
  });
  return order;
}

}  // namespace

namespace ops {

Status TopK::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(x.dtype != DType::kBool, "x is ", x, "; TopK takes numbers, so cast it"));
  TRY(cx.require(is_index(indices), "indices of ", indices, "; i32 or i64 needed"));
  const auto along = static_cast<size_t>(TRY(cx.axis(axis, x)));
  const sym::Expr count = TRY(count_of(cx, k));
  TRY(cx.require(count.max() >= 0, "k is ", count, "; a count is needed"));
  TRY(cx.require(count.min() <= x.shape[along].max(), "k ", count, " is above extent ", x.shape[along], " of axis ",
                 along, " of x ", x));
  const std::string why = str("k ", count, " within axis ", along, " of x ", x);
  TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, 0, count, why}));
  TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, count, x.shape[along], why}));
  kiln::Shape shape = x.shape;
  shape[along] = count;
  TRY(cx.set_output(0, TensorType(x.dtype, shape)));
  return cx.set_output(1, TensorType(indices, std::move(shape)));
}

Status TopK::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView values = TRY(cx.output(0)), places = TRY(cx.output(1));
  const auto along = static_cast<size_t>(TRY(cx.axis(axis, x.rank())));
  const int64_t length = x.extents()[along], count = values.extents()[along];
  const int64_t inner = volume(std::span(x.extents()).subspan(along + 1));
  for (int64_t row = 0; row < values.volume() / count; ++row) {
    const int64_t from = row / inner * length * inner + row % inner, to = row / inner * count * inner + row % inner;
    const auto order = [&]<class T>(T each) {
      std::vector<decltype(each(0))> numbers;
      for (int64_t i = 0; i < length; ++i) numbers.push_back(each(from + i * inner));
      return sorted(numbers, largest);
    };
    const std::vector<int64_t> first =
        is_float(x.dtype()) ? order([&](int64_t i) { return x[i]; }) : order([&](int64_t i) { return x.integer(i); });
    for (int64_t i = 0; i < count; ++i) {
      values.copy_element(to + i * inner, x, from + first[static_cast<size_t>(i)] * inner);
      places.set_integer(to + i * inner, first[static_cast<size_t>(i)]);
    }
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
