#include "ops/matrix_multiply.h"

#include <utility>

#include "ops/define.h"
#include "tensor/compute_types.h"

namespace kiln {
template const OpInfo& op_info<ops::MatrixMultiply>();

namespace ops {
namespace {

enum class Side : uint8_t { kLeft, kRight };

/// The axes of an operand, from the front; `free` (M or N) is -1 for vectors.
struct OperandAxes {
  int batch, free, inner;
};
OperandAxes operand_axes(MatrixOp op, Side side, int rank) {
  if (op == MatrixOp::kVector) return {rank - 1, -1, rank - 1};
  const bool inner_last = (side == Side::kLeft) == (op == MatrixOp::kNone);
  return inner_last ? OperandAxes{rank - 2, rank - 2, rank - 1} : OperandAxes{rank - 2, rank - 1, rank - 2};
}

/// An operand with extents: strides along its axes, and where the matrix of each batch index begins.
struct Operand {
  int64_t free = 1, inner = 1, free_stride = 0, inner_stride = 0;
  std::vector<int64_t> begins;  // by linear index over the batch axes of y
};
Operand operand(const View& x, const OperandAxes& axes, std::span<const int64_t> batch) {
  const Extents strides = row_major_strides(x.extents());
  const auto at = [](int axis) { return static_cast<size_t>(axis); };
  Operand result;
  result.inner = x.extents()[at(axes.inner)];
  result.inner_stride = strides[at(axes.inner)];
  if (axes.free >= 0) {
    result.free = x.extents()[at(axes.free)];
    result.free_stride = strides[at(axes.free)];
  }
  result.begins = {0};
  for (size_t axis = 0; axis < batch.size(); ++axis) {
    std::vector<int64_t> next;
    for (const int64_t begin : result.begins)
      for (int64_t i = 0; i < batch[axis]; ++i)
        next.push_back(begin + (x.extents()[axis] == 1 ? 0 : i * strides[axis]));
    result.begins = std::move(next);
  }
  return result;
}

/// Calls `store(at, sum)` for every element of y, the sums in T.
template <class T, class Store>
void multiply(const Operand& left, const Operand& right, const std::vector<T>& ls, const std::vector<T>& rs,
              Store store) {
  std::vector<T> row(static_cast<size_t>(right.free));
  int64_t at = 0;
  for (size_t n = 0; n < left.begins.size(); ++n)
    for (int64_t i = 0; i < left.free; ++i) {
      std::fill(row.begin(), row.end(), T());
      for (int64_t k = 0; k < left.inner; ++k) {
        const T factor = ls[static_cast<size_t>(left.begins[n] + i * left.free_stride + k * left.inner_stride)];
        const T* from = rs.data() + right.begins[n] + k * right.inner_stride;
        for (int64_t j = 0; j < right.free; ++j) row[static_cast<size_t>(j)] += factor * from[j * right.free_stride];
      }
      for (const T sum : row) store(at++, sum);
    }
}
/// All elements, without a sign: they wrap.
std::vector<uint64_t> bits_of(const View& x) {
  const std::vector<int64_t> numbers = x.integers();
  return {numbers.begin(), numbers.end()};
}

}  // namespace

Status MatrixMultiply::infer(InferContext& cx) const {
  const TensorType& l = TRY(cx.input(0));
  const TensorType& r = TRY(cx.input(1));
  TRY(cx.require(is_float(l.dtype) || is_index(l.dtype), "a is ", l, "; MatrixMultiply takes floats, i32 or i64"));
  TRY(cx.require(l.dtype == r.dtype, "a is ", l, " and b is ", r, "; their types must agree"));
  const auto enough = [&](const TensorType& x, MatrixOp op, std::string_view which) {
    const int needed = op == MatrixOp::kVector ? 1 : 2;
    return cx.require(x.rank() >= needed, which, " is ", x, ", of rank ", x.rank(), "; as ",
                      op == MatrixOp::kVector ? "vectors" : "matrices", " it needs at least ", needed);
  };
  TRY(enough(l, a, "a"));
  TRY(enough(r, b, "b"));
  const OperandAxes left = operand_axes(a, Side::kLeft, l.rank()), right = operand_axes(b, Side::kRight, r.rank());
  TRY(cx.require(left.batch == right.batch, "a ", l, " has ", left.batch, " batch axes and b ", r, " has ", right.batch,
                 "; they must have equally many"));
  const auto extent = [](const TensorType& x, int axis) { return x.shape[static_cast<size_t>(axis)]; };
  TRY(cx.assume_equal(
      extent(l, left.inner), extent(r, right.inner),
      str("axis ", left.inner, " of a ", l, " and axis ", right.inner, " of b ", r, " are summed over together")));
  Shape shape;
  for (int i = 0; i < left.batch; ++i)
    shape.push_back(TRY(in_context(cx.broadcast(extent(l, i), extent(r, i)),
                                   [&] { return str("batch axis ", i, " of a ", l, " and b ", r); })));
  if (left.free >= 0) shape.push_back(extent(l, left.free));
  if (right.free >= 0) shape.push_back(extent(r, right.free));
  return cx.set_output(0, l, std::move(shape));
}

Status MatrixMultiply::reference(ReferenceContext& cx) const {
  const View l = TRY(cx.input(0)), r = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const OperandAxes left_axes = operand_axes(a, Side::kLeft, l.rank());
  const auto batch = std::span(y.extents()).first(static_cast<size_t>(left_axes.batch));
  const Operand left = operand(l, left_axes, batch), right = operand(r, operand_axes(b, Side::kRight, r.rank()), batch);
  if (is_index(l.dtype()))
    multiply(left, right, bits_of(l), bits_of(r),
             [&](int64_t at, uint64_t sum) { y.set_integer(at, static_cast<int64_t>(sum)); });
  else
    multiply(left, right, l.numbers(), r.numbers(), [&](int64_t at, double sum) { y.set(at, sum); });
  return {};
}

}  // namespace ops
}  // namespace kiln
