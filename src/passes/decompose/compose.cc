#include "passes/decompose/compose.h"

#include <algorithm>
#include <cmath>

#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/expand.h"
#include "ops/fill.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/slice.h"

namespace kiln::passes {
namespace {

bool is_static(const Shape& shape) {
  return std::ranges::all_of(shape, [](const sym::Expr& extent) { return extent.is_const(); });
}
std::vector<int64_t> constants(const Shape& shape) {
  std::vector<int64_t> result;
  for (const sym::Expr& extent : shape) result.push_back(extent.value());
  return result;
}
Result<ir::ValueId> dims_value(ir::Graph& graph, const Shape& shape) {
  return graph.add_one(ops::DimValues{shape, DType::kI64, {static_cast<int64_t>(shape.size())}}, {});
}

}  // namespace

Result<ir::ValueId> binary(ir::Graph& graph, ops::ElementWiseKind kind, ir::ValueId a, ir::ValueId b) {
  return graph.add_one(ops::ElementWise{kind}, {a, b});
}
Result<ir::ValueId> binary(ir::Graph& graph, ops::ElementWiseKind kind, ir::ValueId a, double b) {
  return binary(graph, kind, a, number(graph, b, graph.type(a).dtype, graph.type(a).rank()));
}
ir::ValueId number(ir::Graph& graph, double value, DType dtype, int rank) {
  return graph.add_constant(HostTensor::scalar(dtype, value).reshaped(Extents(static_cast<size_t>(rank), 1)), "");
}
Result<ir::ValueId> extent_value(ir::Graph& graph, sym::Expr extent, DType dtype, int rank) {
  return graph.add_one(ops::DimValues{{extent}, dtype, std::vector<int64_t>(static_cast<size_t>(rank), 1)}, {});
}

Result<ir::ValueId> reshaped(ir::Graph& graph, ir::ValueId x, const Shape& shape) {
  ops::Reshape reshape{.dims = {}, .zero_is_placeholder = false};
  if (!is_static(shape)) return graph.add_one(std::move(reshape), {x, TRY(dims_value(graph, shape))});
  reshape.dims = constants(shape);
  return graph.add_one(std::move(reshape), {x});
}

Result<ir::ValueId> expanded(ir::Graph& graph, ir::ValueId x, const Shape& shape) {
  if (graph.type(x).shape == shape) return x;
  if (is_static(shape)) return graph.add_one(ops::Expand{constants(shape)}, {x});
  return graph.add_one(ops::Expand{}, {x, TRY(dims_value(graph, shape))});
}

Result<ir::ValueId> indices_along(ir::Graph& graph, sym::Expr extent, int axis, int rank, DType dtype) {
  const ir::ValueId line = TRY(graph.add_one(ops::Fill{.to = dtype}, {TRY(dims_value(graph, {extent}))}));
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = -1;
  return graph.add_one(ops::Reshape{std::move(dims), false}, {line});
}

Result<ir::ValueId> last_axis_part(ir::Graph& graph, ir::ValueId x, int64_t start, int64_t count, int64_t stride) {
  return graph.add_one(ops::Slice{.starts = {start}, .sizes = {count}, .strides = {stride}, .axes = {-1}}, {x});
}

Result<ir::ValueId> as_bias(ir::Graph& graph, ir::ValueId allowed, DType dtype) {
  const int rank = graph.type(allowed).rank();
  const ir::ValueId none = number(graph, 0, dtype, rank), hidden = number(graph, -INFINITY, dtype, rank);
  return graph.add_one(ops::Select{}, {allowed, none, hidden});
}

}  // namespace kiln::passes
