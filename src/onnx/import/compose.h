/// Small expressions of ops, from which importers compose what ONNX operators mean.
#pragma once

#include <utility>

#include "onnx/import/context.h"
#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reduce.h"
#include "ops/slice.h"
#include "ops/unary.h"

namespace kiln::onnx {

using ops::ActivationKind;
using ops::ElementWiseKind;
using ops::ReduceKind;
using ops::UnaryKind;
using Ints = std::vector<int64_t>;

/// Extents or other integers as a value: a Constant where all are constants, else DimValues. i64, of rank 1.
Result<ValueId> dims_value(ImportContext& cx, const SymbolicValues& dims);
/// A scalar of i64 or i32.
Result<ValueId> scalar_value(ImportContext& cx, sym::Expr value, DType dtype = DType::kI64);
std::optional<Ints> all_constant(const SymbolicValues& values);
/// The elements of integers that are computed from data, which the host reads while the network runs.
Result<SymbolicValues> read_values(ImportContext& cx, ValueId integers);

/// A constant of one element of x's type, of x's rank so that it broadcasts with x.
ValueId scalar_like(ImportContext& cx, double number, ValueId x);
ValueId scalar_of(ImportContext& cx, double number, DType dtype, int rank = 0);

/// x with leading axes of extent 1, so that it has `rank` axes. Constants are reshaped in place.
Result<ValueId> with_rank(ImportContext& cx, ValueId x, int rank);
/// All with the rank of the one that has most axes.
Result<Values> with_one_rank(ImportContext& cx, Values values);
/// A vector along axis 1 of a tensor of `rank` axes: [1, C, 1 ...].
Result<ValueId> along_channels(ImportContext& cx, ValueId vector, int rank);

// Pointwise; operands broadcast as numpy has it.
Result<ValueId> binary(ImportContext& cx, ElementWiseKind kind, ValueId a, ValueId b);
Result<ValueId> binary(ImportContext& cx, ElementWiseKind kind, ValueId a, double b);
Result<ValueId> unary(ImportContext& cx, UnaryKind kind, ValueId x);
Result<ValueId> activation(ImportContext& cx, ActivationKind kind, ValueId x, double alpha = 0, double beta = 0);
/// x * sigmoid(alpha * x)
Result<ValueId> swish(ImportContext& cx, ValueId x, double alpha = 1);
Result<ValueId> select(ImportContext& cx, ValueId condition, ValueId then, ValueId otherwise);
Result<ValueId> cast(ImportContext& cx, ValueId x, DType to);  ///< x itself if it is `to`

// Movement. Shapes are taken by value: a reference into the graph would not survive what is added to it.
Result<ValueId> reshape(ImportContext& cx, ValueId x,
                        Shape to);  ///< extents, no placeholders; x itself if they are its own
Result<ValueId> transpose(ImportContext& cx, ValueId x, Ints perm);  ///< x itself if nothing moves
Result<ValueId> unsqueeze(ImportContext& cx, ValueId x, Ints axes);
Result<ValueId> expand(ImportContext& cx, ValueId x, Shape to);
struct SliceAlong {
  SymbolicValues starts, sizes, strides;
  Ints axes;
  SliceMode mode = SliceMode::kStrictBounds;
  ValueId fill = ValueId::kNone;
};
Result<ValueId> slice(ImportContext& cx, ValueId x, const SliceAlong& along);

Result<ValueId> reduce(ImportContext& cx, ReduceKind kind, ValueId x, Ints axes, bool keep);
/// x - max(x) - log(sum(exp(x - max(x)))) along an axis: a logarithm of a softmax would lose what underflows.
Result<ValueId> log_softmax_along(ImportContext& cx, ValueId x, int axis);
Result<ValueId> matrix_multiply(ImportContext& cx, ValueId a, ValueId b);  ///< numpy's matmul
/// 0, 1, 2 ... along `axis` of a tensor of `rank` axes, extents 1 elsewhere.
Result<ValueId> indices_along(ImportContext& cx, sym::Expr extent, int axis, int rank, DType dtype = DType::kI64);
/// Indices into an axis of `extent`, of which negative ones are outside too: Gather and Scatter count such from the
/// back.
Result<ValueId> refuse_negative(ImportContext& cx, ValueId indices, sym::Expr extent);
/// Fails the run where a condition of numbers that only it knows is 0; `what` says what should be.
Status assert_true(ImportContext& cx, sym::Expr condition, std::string_view what);
/// Requires two extents to be equal: now where both are known, else when shapes are bound.
Status require_equal(ImportContext& cx, sym::Expr a, sym::Expr b, std::string_view what);
/// `from`, from + 1 ... to - 1.
Ints axes_between(int from, int to);

}  // namespace kiln::onnx
