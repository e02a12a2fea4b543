#include "ops/scatter.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Scatter>();

namespace {

Result<int64_t> checked_index(int64_t index, int64_t extent, size_t axis) {
  TRY(require(index >= -extent && index < extent, "index ", index, " is outside [", -extent, ", ", extent, ") of axis ",
              axis, " of data"));
  return index < 0 ? index + extent : index;
}

/// For each element of updates, the linear index of the element of data (of `extents`) that it is written over.
Result<std::vector<int64_t>> targets(const ops::Scatter& op, const Extents& extents, const Extents& index_extents,
                                     std::span<const int64_t> values, const Extents& update_extents) {
  const Extents strides = row_major_strides(extents);
  std::vector<int64_t> result(static_cast<size_t>(volume(update_extents)));
  if (op.mode == ScatterMode::kElement) {
    const auto axis = static_cast<size_t>(TRY(normalize_axis(op.axis, static_cast<int>(extents.size()))));
    Status status;
    for_each_index(update_extents, [&](int64_t linear, std::span<const int64_t> index) {
      const auto at = checked_index(values[static_cast<size_t>(linear)], extents[axis], axis);
      if (!at && status) status = std::unexpected(at.error());
      if (!status) return;
      int64_t& target = result[static_cast<size_t>(linear)];
      for (size_t i = 0; i < index.size(); ++i) target += (i == axis ? *at : index[i]) * strides[i];
    });
    TRY(std::move(status));
    return result;
  }
  const auto m = static_cast<size_t>(index_extents.back());
  const int64_t block = volume(std::span(extents).subspan(m));
  for (size_t i = 0; i < result.size() / static_cast<size_t>(std::max<int64_t>(block, 1)); ++i) {
    int64_t first = 0;
    for (size_t axis = 0; axis < m; ++axis)
      first += TRY(checked_index(values[i * m + axis], extents[axis], axis)) * strides[axis];
    for (int64_t b = 0; b < block; ++b) result[i * static_cast<size_t>(block) + static_cast<size_t>(b)] = first + b;
  }
  return result;
}

/// Integers wrap.
template <class T>
T reduced(ScatterReduction reduction, T a, T b) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (reduction) {
    case ScatterReduction::kNone: return b;
    case ScatterReduction::kSum: return static_cast<T>(static_cast<Sum>(a) + static_cast<Sum>(b));
    case ScatterReduction::kProd: return static_cast<T>(static_cast<Sum>(a) * static_cast<Sum>(b));
    case ScatterReduction::kMax: return std::max(a, b);
    case ScatterReduction::kMin: return std::min(a, b);
  }
  return b;
}

Status infer_updates(InferContext& cx, const ops::Scatter& op, const TensorType& data, const TensorType& indices,
                     const TensorType& updates) {
  Shape wanted = indices.shape;
  if (op.mode == ScatterMode::kElement) {
    const int axis = TRY(cx.axis(op.axis, data, "data"));
    TRY(cx.require(indices.rank() == data.rank(), "indices are ", indices, " and data is ", data,
                   "; scattering elements needs equal ranks"));
    for (int i = 0; i < data.rank(); ++i)
      if (const auto at = static_cast<size_t>(i); i != axis)
        TRY(sym::assume(cx.assumptions(),
                        {sym::Relation::kLessEqual, indices.shape[at], data.shape[at],
                         str("axis ", i, " of indices ", indices, " lies within that of data ", data)}));
  } else {
    TRY(cx.require(indices.rank() > 0 && indices.shape.back().is_const(), "indices are ", indices,
                   "; their last axis must hold coordinates, and its extent must be a constant"));
    const int64_t m = indices.shape.back().value();
    TRY(cx.require(m <= data.rank(), "coordinates of ", m, " axes exceed data ", data));
    wanted.pop_back();
    wanted.insert(wanted.end(), data.shape.begin() + m, data.shape.end());
  }
  TRY(cx.require(updates.dtype == data.dtype && updates.rank() == static_cast<int>(wanted.size()), "updates are ",
                 updates, " for data ", data, " and indices ", indices));
  for (size_t i = 0; i < wanted.size(); ++i)
    TRY(cx.assume_equal(updates.shape[i], wanted[i],
                        str("axis ", i, " of updates ", updates, " and indices ", indices)));
  return {};
}

/// Gives y the values of data and updates where these and the indices are known.
Status add_values(InferContext& cx, const ops::Scatter& op, TensorType& y) {
  if (op.reduction != ScatterReduction::kNone || !carries_values(y)) return {};
  auto values = small_values(cx, 0);
  const auto indices = small_values(cx, 1), updates = small_values(cx, 2);
  if (!values || !indices || !updates) return {};
  std::vector<int64_t> known;
  for (const sym::Expr& index : *indices)
    if (index.is_const()) known.push_back(index.value());
  if (known.size() < indices->size()) return {};
  const std::vector<int64_t> over = TRY(targets(op, TRY(y.extents()), TRY(TRY(cx.input(1)).get().extents()), known,
                                                TRY(TRY(cx.input(2)).get().extents())));
  for (size_t k = 0; k < over.size(); ++k) (*values)[static_cast<size_t>(over[k])] = (*updates)[k];
  give_values(y, *std::move(values));
  return {};
}

}  // namespace

namespace ops {

Status Scatter::infer(InferContext& cx) const {
  const TensorType& data = TRY(cx.input(0));
  const TensorType& indices = TRY(cx.input(1));
  const TensorType& updates = TRY(cx.input(2));
  TRY(cx.require(data.rank() > 0, "data is ", data, "; it needs an axis"));
  TRY(cx.require(is_index(indices.dtype), "indices are ", indices, "; i32 or i64 needed"));
  TRY(cx.require(reduction == ScatterReduction::kNone || data.dtype != DType::kBool, "data is ", data,
                 "; only numbers can be reduced"));
  TRY(infer_updates(cx, *this, data, indices, updates));
  TensorType y(data.dtype, data.shape);
  TRY(add_values(cx, *this, y));
  return cx.set_output(0, std::move(y));
}

Status Scatter::reference(ReferenceContext& cx) const {
  const View data = TRY(cx.input(0)), indices = TRY(cx.input(1)), updates = TRY(cx.input(2));
  const MutableView y = TRY(cx.output(0));
  Sources sources(static_cast<size_t>(volume(data.extents())));
  std::iota(sources.begin(), sources.end(), 0);
  move_elements(data, y, sources);
  const std::vector<int64_t> over =
      TRY(targets(*this, data.extents(), indices.extents(), indices.integers(), updates.extents()));
  const View so_far(y.dtype(), y.extents(), y.data());
  for (size_t k = 0; k < over.size(); ++k) {
    const auto i = static_cast<int64_t>(k);
    if (reduction == ScatterReduction::kNone)
      y.copy_element(over[k], updates, i);
    else if (is_float(y.dtype()))
      y.set(over[k], reduced(reduction, so_far[over[k]], updates[i]));
    else
      y.set_integer(over[k], reduced(reduction, so_far.integer(over[k]), updates.integer(i)));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
