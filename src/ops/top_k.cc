#include "ops/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/define.h"
#include "ops/movement.h"
#include "sym/real.h"

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

constexpr int64_t kMostRanked = 16;  // values of a row: their ranks are a comparison a pair

/// The order of a row that is known at run time only.
class Ranks {
 public:
  Ranks(SymbolicValues row, DType dtype, bool largest) : row_(std::move(row)), dtype_(dtype), largest_(largest) {
    for (size_t i = 0; i < row_.size(); ++i) {
      sym::Expr rank = 0;  // the number of elements before this one; of equal ones the first comes first
      for (size_t j = 0; j < row_.size(); ++j) {
        const auto [low, high] = largest ? std::pair(i, j) : std::pair(j, i);
        if (i != j) rank += j < i ? 1 - less(high, low) : less(low, high);
      }
      ranks_.push_back(rank);
    }
  }
  /// The place of the element of rank k. Its limits are those of a place: of a sum they would be those of all terms.
  sym::Expr place(int64_t k) const {
    sym::Expr result = 0;
    for (size_t i = 0; i < row_.size(); ++i) result += sym::equal(ranks_[i], k) * sym::Expr(i);
    return sym::min(sym::max(result, 0), std::ssize(row_) - 1);
  }
  /// The element of rank k, within the limits of all.
  sym::Expr value(int64_t k) const {
    sym::Expr result = 0, least = row_[0], greatest = row_[0];
    for (size_t i = 0; i < row_.size(); ++i) {
      result += sym::equal(ranks_[i], k) * row_[i];
      least = is_float(dtype_) ? sym::real_min(least, row_[i]) : sym::min(least, row_[i]);
      greatest = is_float(dtype_) ? sym::real_max(greatest, row_[i]) : sym::max(greatest, row_[i]);
    }
    if (k == 0) return largest_ ? greatest : least;
    return sym::max(least, sym::min(greatest, result));
  }

 private:
  sym::Expr less(size_t i, size_t j) const {
    return is_float(dtype_) ? sym::real_less(row_[i], row_[j]) : sym::less(row_[i], row_[j]);
  }
  SymbolicValues row_, ranks_;
  DType dtype_;
  bool largest_;
};

/// Gives both outputs their values, where x has some.
Status add_values(InferContext& cx, const ops::TopK& op, size_t along, TensorType& values, TensorType& places) {
  const TensorType& x = TRY(cx.input(0));
  if (!x.values || !carries_values(x) || !carries_values(values) || std::ssize(*x.values) > kMaxSymbolicValues)
    return {};
  const Extents from = TRY(x.extents()), to = TRY(values.extents());
  const int64_t length = from[along], count = to[along], inner = volume(std::span(from).subspan(along + 1));
  if (length > kMostRanked || count == 0) return {};
  const int64_t num_rows = volume(to) / count;
  SymbolicValues chosen(static_cast<size_t>(volume(to))), at(chosen.size());
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t first = row / inner * length * inner + row % inner;
    SymbolicValues elements;
    for (int64_t i = 0; i < length; ++i) elements.push_back((*x.values)[static_cast<size_t>(first + i * inner)]);
    const Ranks ranks(elements, x.dtype, op.largest);
    for (int64_t k = 0; k < count; ++k) {
      const auto place = static_cast<size_t>(row / inner * count * inner + row % inner + k * inner);
      at[place] = ranks.place(k);
      chosen[place] = ranks.value(k);
    }
  }
  give_values(values, std::move(chosen));
  give_values(places, std::move(at));
  return {};
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
  TensorType values(x.dtype, shape), places(indices, std::move(shape));
  TRY(add_values(cx, *this, along, values, places));
  TRY(cx.set_output(0, std::move(values)));
  return cx.set_output(1, std::move(places));
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
