#include "ops/gather.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Gather>();

namespace {
using Index = std::span<const int64_t>;

/// The extents of a Gather's operands, as its sources need them.
struct Operands {
  const ops::Gather& op;
  Extents data, indices;
  std::vector<int64_t> values;  ///< the indices

  int64_t value_at(std::span<const int64_t> index) const {
    int64_t linear = 0;
    for (size_t i = 0; i < index.size(); ++i) linear = linear * indices[i] + (indices[i] == 1 ? 0 : index[i]);
    return values[static_cast<size_t>(linear)];
  }
};

Result<int64_t> checked_index(int64_t index, int64_t extent, int axis) {
  TRY(require(index >= -extent && index < extent, "index ", index, " is outside [", -extent, ", ", extent, ") of axis ",
              axis, " of data"));
  return index < 0 ? index + extent : index;
}

/// The coordinates in data of y's element at `index`.
Result<Extents> data_coordinates(const Operands& o, Index index) {
  const auto rank = o.data.size(), k = static_cast<size_t>(o.op.num_elementwise_dims);
  Extents at(rank, 0);
  if (o.op.mode == GatherMode::kNd) {
    const size_t lead = o.indices.size() - 1, m = static_cast<size_t>(o.indices[lead]);
    Extents where(index.begin(), index.begin() + static_cast<int64_t>(lead));
    where.push_back(0);
    for (size_t i = 0; i < k; ++i) at[i] = index[i];
    for (size_t i = 0; i < m; ++i) {
      where[lead] = static_cast<int64_t>(i);
      at[k + i] = TRY(checked_index(o.value_at(where), o.data[k + i], static_cast<int>(k + i)));
    }
    for (size_t i = k + m; i < rank; ++i) at[i] = index[lead + i - k - m];
    return at;
  }
  const auto axis = static_cast<size_t>(TRY(normalize_axis(o.op.axis, static_cast<int>(rank))));
  if (o.op.mode == GatherMode::kElement) {
    at.assign(index.begin(), index.end());
    at[axis] = TRY(checked_index(o.value_at(index), o.data[axis], static_cast<int>(axis)));
    return at;
  }
  const size_t picked = o.indices.size() - k;  // axes of indices that y has in place of data's axis
  Extents where(index.begin(), index.begin() + static_cast<int64_t>(k));
  for (size_t i = 0; i < picked; ++i) where.push_back(index[axis + i]);
  for (size_t i = 0; i < rank; ++i) {
    if (i == axis)
      at[i] = TRY(checked_index(o.value_at(where), o.data[i], static_cast<int>(axis)));
    else
      at[i] = o.data[i] == 1 ? 0 : index[i < axis ? i : i + picked - 1];
  }
  return at;
}

Result<Sources> gather_sources(const Operands& o, std::span<const int64_t> to) {
  const Extents strides = row_major_strides(o.data);
  Sources sources(static_cast<size_t>(volume(to)), 0);
  Status status;
  for_each_index(to, [&](int64_t linear, Index index) {
    if (!status) return;
    const auto at = data_coordinates(o, index);
    if (!at) {
      status = std::unexpected(at.error());
      return;
    }
    for (size_t i = 0; i < strides.size(); ++i) sources[static_cast<size_t>(linear)] += (*at)[i] * strides[i];
  });
  TRY(std::move(status));
  return sources;
}

Result<kiln::Shape> default_shape(InferContext& cx, const ops::Gather& op, const TensorType& data,
                                  const TensorType& indices) {
  const int axis = TRY(cx.axis(op.axis, data, "data")), k = op.num_elementwise_dims;
  TRY(cx.require(k >= 0 && k <= axis && k <= indices.rank(), "num_elementwise_dims ", k, " must not exceed axis ", axis,
                 " nor the rank of indices ", indices));
  kiln::Shape shape;
  for (int i = 0; i < k; ++i)
    shape.push_back(TRY(cx.broadcast(data.shape[static_cast<size_t>(i)], indices.shape[static_cast<size_t>(i)])));
  shape.insert(shape.end(), data.shape.begin() + k, data.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin() + k, indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  return shape;
}

Result<kiln::Shape> element_shape(InferContext& cx, const ops::Gather& op, const TensorType& data,
                                  const TensorType& indices) {
  const int axis = TRY(cx.axis(op.axis, data, "data"));
  TRY(cx.require(indices.rank() == data.rank(), "indices are ", indices, " and data is ", data,
                 "; gathering elements needs equal ranks"));
  for (int i = 0; i < data.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (i == axis) continue;
    TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, indices.shape[at], data.shape[at],
                                       str("axis ", i, " of indices ", indices, " lies within that of data ", data)}));
  }
  return indices.shape;
}

Result<kiln::Shape> nd_shape(InferContext& cx, const ops::Gather& op, const TensorType& data,
                             const TensorType& indices) {
  const int k = op.num_elementwise_dims, last = indices.rank() - 1;
  TRY(cx.require(last >= 0, "indices are ", indices, "; their last axis must hold coordinates"));
  const sym::Expr count = indices.shape[static_cast<size_t>(last)];
  TRY(cx.require(count.is_const(), "indices are ", indices, "; their last extent must be a constant"));
  const int64_t m = count.value();
  TRY(cx.require(k >= 0 && k <= last && m <= data.rank() - k, "coordinates of ", m, " axes after ", k,
                 " elementwise ones exceed data ", data, " or indices ", indices));
  kiln::Shape shape(indices.shape.begin(), indices.shape.begin() + last);
  for (int i = 0; i < k; ++i) {
    const auto at = static_cast<size_t>(i);
    TRY(cx.assume_equal(data.shape[at], indices.shape[at],
                        str("elementwise axis ", i, " of data ", data, " and indices ", indices)));
  }
  shape.insert(shape.end(), data.shape.begin() + k + m, data.shape.end());
  return shape;
}

/// For each element of y, the element of data that it would be at index 0, and the element of indices that it has.
struct Bases {
  Sources data, indices;
  int64_t stride, extent;  ///< of data's gathered axis
};
/// Nothing for gathers along more than one axis.
Result<std::optional<Bases>> bases_of(Operands o, std::span<const int64_t> to) {
  const auto rank = static_cast<int>(o.data.size());
  if (o.op.mode == GatherMode::kNd || o.op.num_elementwise_dims > 0) return std::nullopt;
  const auto axis = static_cast<size_t>(TRY(normalize_axis(o.op.axis, rank)));
  Bases result{{}, {}, row_major_strides(o.data)[axis], o.data[axis]};
  if (result.extent == 0) return std::nullopt;
  o.values.assign(static_cast<size_t>(volume(o.indices)), 0);
  result.data = TRY(gather_sources(o, to));
  const size_t picked = o.indices.size();
  for_each_index(to, [&](int64_t, Index index) {
    int64_t linear = 0;
    const Index own = o.op.mode == GatherMode::kElement ? index : index.subspan(axis, picked);
    for (size_t i = 0; i < own.size(); ++i) linear = linear * o.indices[i] + own[i];
    result.indices.push_back(linear);
  });
  return result;
}

/// The values of y where the indices are known at run time only.
Result<SymbolicValues> picked_values(const Bases& bases, DType dtype, const SymbolicValues& data,
                                     const SymbolicValues& indices) {
  SymbolicValues result;
  for (size_t k = 0; k < bases.data.size(); ++k) {
    const sym::Expr index = indices[static_cast<size_t>(bases.indices[k])];
    SymbolicValues row;
    for (int64_t i = 0; i < bases.extent; ++i)
      row.push_back(data[static_cast<size_t>(bases.data[k] + i * bases.stride)]);
    result.push_back(value_at(dtype, row, index + bases.extent * sym::less(index, 0)));
  }
  return result;
}

/// Gives y the values of data where they and the indices are known.
Status add_values(InferContext& cx, const ops::Gather& op, TensorType& y) {
  if (!carries_values(y)) return {};
  const auto data = small_values(cx, 0), indices = small_values(cx, 1);
  if (!data || !indices) return {};
  Operands o{op, TRY(TRY(cx.input(0)).get().extents()), TRY(TRY(cx.input(1)).get().extents()), {}};
  for (const sym::Expr& index : *indices)
    if (index.is_const()) o.values.push_back(index.value());
  if (o.values.size() < indices->size()) {
    if (std::ssize(*indices) > kMaxSymbolicValues || std::ssize(*data) > kMaxSymbolicValues) return {};
    if (const auto bases = TRY(bases_of(o, TRY(y.extents()))))
      give_values(y, TRY(picked_values(*bases, y.dtype, *data, *indices)));
    return {};
  }
  SymbolicValues moved;
  for (const int64_t source : TRY(gather_sources(o, TRY(y.extents()))))
    moved.push_back((*data)[static_cast<size_t>(source)]);
  give_values(y, std::move(moved));
  return {};
}
}  // namespace

namespace ops {

Status Gather::infer(InferContext& cx) const {
  const TensorType& data = TRY(cx.input(0));
  const TensorType& indices = TRY(cx.input(1));
  TRY(cx.require(is_index(indices.dtype), "indices are ", indices, "; i32 or i64 needed"));
  TensorType y(data.dtype, mode == GatherMode::kDefault   ? TRY(default_shape(cx, *this, data, indices))
                           : mode == GatherMode::kElement ? TRY(element_shape(cx, *this, data, indices))
                                                          : TRY(nd_shape(cx, *this, data, indices)));
  TRY(add_values(cx, *this, y));
  return cx.set_output(0, std::move(y));
}

Status Gather::reference(ReferenceContext& cx) const {
  const View data = TRY(cx.input(0)), indices = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const Operands o{*this, data.extents(), indices.extents(), indices.integers()};
  move_elements(data, y, TRY(gather_sources(o, y.extents())));
  return {};
}

}  // namespace ops
}  // namespace kiln
