/// Small expressions of ops, from which decompositions are composed.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ops/element_wise.h"

namespace kiln::passes {

/// A function of two values of one rank, which broadcast.
Result<ir::ValueId> binary(ir::Graph& graph, ops::ElementWiseKind kind, ir::ValueId a, ir::ValueId b);
/// The same with a number of a's type.
Result<ir::ValueId> binary(ir::Graph& graph, ops::ElementWiseKind kind, ir::ValueId a, double b);
/// A constant of one element, of `rank` axes.
ir::ValueId number(ir::Graph& graph, double value, DType dtype, int rank);
/// An expression as one element of an index type, of `rank` axes.
Result<ir::ValueId> extent_value(ir::Graph& graph, sym::Expr extent, DType dtype, int rank);
/// x under `shape`, which inference took to have as many elements.
Result<ir::ValueId> reshaped(ir::Graph& graph, ir::ValueId x, const Shape& shape);
/// x repeated along axes where its extent is 1, to `shape`.
Result<ir::ValueId> expanded(ir::Graph& graph, ir::ValueId x, const Shape& shape);
/// 0, 1, 2 ... of an index type along `axis` of a tensor of `rank` axes, extents 1 elsewhere.
Result<ir::ValueId> indices_along(ir::Graph& graph, sym::Expr extent, int axis, int rank, DType dtype);
/// Elements `start`, start + stride ... along the last axis, `count` of them.
Result<ir::ValueId> last_axis_part(ir::Graph& graph, ir::ValueId x, int64_t start, int64_t count, int64_t stride = 1);
/// 0 where `allowed`, minus infinity elsewhere: what is added to scores before a softmax.
Result<ir::ValueId> as_bias(ir::Graph& graph, ir::ValueId allowed, DType dtype);

}  // namespace kiln::passes
