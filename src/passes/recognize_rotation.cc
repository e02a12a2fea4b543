#include "passes/recognize_rotation.h"

#include <array>
#include <optional>

#include "ops/concatenation.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/unsqueeze.h"
#include "passes/formula.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using namespace formula;
using ir::any;

/// Elements start, start + stride ... along the last axis, all constant.
struct Part {
  int64_t start, stride, count;
  bool operator==(const Part&) const = default;
};

/// The one number of an input that is there, else of the attribute; nothing where there is not exactly one.
std::optional<int64_t> one_number(const ir::Graph& graph, const ir::Node& node, size_t input,
                                  const std::vector<int64_t>& attribute) {
  if (node.input(input) == ir::ValueId::kNone)
    return attribute.size() == 1 ? std::optional(attribute[0]) : std::nullopt;
  const HostTensor* given = graph.constant(node.inputs[input]);
  return given && given->volume() == 1 ? std::optional(View(*given).integer(0)) : std::nullopt;
}

/// What a Slice along the last axis alone takes.
std::optional<Part> part_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto& op = *node.op.as<ops::Slice>();
  const int rank = graph.input_type(id, 0).rank();
  const auto axis = one_number(graph, node, 5, op.axes), start = one_number(graph, node, 1, op.starts),
             stride = op.strides.empty() && node.input(3) == ir::ValueId::kNone
                          ? std::optional<int64_t>(1)
                          : one_number(graph, node, 3, op.strides);
  const auto count = graph.output_type(id).shape.back().constant();
  if (op.mode != SliceMode::kStrictBounds || !axis || normalize_axis(*axis, rank).value_or(-1) != rank - 1 || !start ||
      !stride || !count)
    return std::nullopt;
  return Part{*start, *stride, *count};
}

/// Whether the node joins two values along their last axis.
bool joins_rows(const ir::Graph& graph, const ir::Node& node) {
  const int rank = graph.type(node.outputs[0]).rank();
  return node.inputs.size() == 2 &&
         normalize_axis(node.op.as<ops::Concatenation>()->axis, rank).value_or(-1) == rank - 1;
}

/// The extents of x's pairs: the last axis as [2, half], or as [half, 2].
Shape paired(const Shape& x, bool interleaved) {
  Shape shape(x.begin(), x.end() - 1);
  const sym::Expr half = sym::floor_div(x.back(), 2);
  for (const sym::Expr& extent : interleaved ? std::array{half, sym::Expr(2)} : std::array{sym::Expr(2), half})
    shape.push_back(extent);
  return shape;
}

/// A factor of x under the axes of its pairs. Where it has one element for all channels, so it has for pairs.
Result<ir::ValueId> paired_factor(ir::Patch& patch, ir::ValueId factor, bool interleaved) {
  Shape shape = patch.type(factor).shape;
  if (shape.back() == sym::Expr(1))
    shape.push_back(1);
  else
    shape = paired(shape, interleaved);
  return reshape_to(patch, factor, shape);
}

/// The rule of one spelling, whose parts and types fit.
Status replace(const ir::Capture& found, ir::Patch& patch, bool interleaved) {
  using enum ops::ElementWiseKind;
  const Shape shape = paired(found.type("x").shape, interleaved);
  const int axis = static_cast<int>(shape.size()) - (interleaved ? 1 : 2);
  const ir::ValueId pairs = TRY(reshape_to(patch, found.value("x"), shape));
  const ops::Slice backwards{.starts = {1}, .sizes = {2}, .strides = {-1}, .axes = {axis}};
  Extents of_signs(shape.size(), 1);
  of_signs[static_cast<size_t>(axis)] = 2;
  constexpr double kSigns[] = {-1, 1};
  const ir::ValueId signs = patch.add_constant(HostTensor::of(found.type("x").dtype, of_signs, kSigns));
  const ir::ValueId cos = TRY(paired_factor(patch, found.value("cos"), interleaved)),
                    sin = TRY(paired_factor(patch, found.value("sin"), interleaved));
  const ir::ValueId direct = TRY(patch.add(ops::ElementWise{kProd}, {pairs, cos}));
  const ir::ValueId sines = TRY(patch.add(ops::ElementWise{kProd}, {sin, signs}));
  const ir::ValueId crossed = TRY(patch.add(ops::ElementWise{kProd}, {TRY(patch.add(backwards, {pairs})), sines}));
  const ir::ValueId sum = TRY(patch.add(ops::ElementWise{kSum}, {direct, crossed}));
  return patch.replace(found.value("y"), TRY(reshape_to(patch, sum, found.type("y").shape)));
}

Status recognize(ir::Graph& graph, const ir::Pattern& turned, bool interleaved) {
  const ir::Pattern pattern = sum(product(any("x"), any("cos")), product(turned, any("sin")), "y");
  return rewrite(graph, pattern, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    const TensorType& x = found.type("x");
    const auto size = x.rank() == 0 ? std::nullopt : x.shape.back().constant();
    if (!size || *size % 2 != 0 || *size < 4 || x.rank() >= kMaxRank || !is_float(x.dtype)) return {};
    const int64_t half = *size / 2;
    const Part first = interleaved ? Part{0, 2, half} : Part{0, 1, half},
               second = interleaved ? Part{1, 2, half} : Part{half, 1, half};
    const auto fits = [&](std::string_view name) {
      const TensorType& factor = found.type(name);
      return factor.rank() == x.rank() &&
             (factor.shape.back() == sym::Expr(*size) || factor.shape.back() == sym::Expr(1));
    };
    if (part_of(found.graph(), found.node_id("a")) != first || part_of(found.graph(), found.node_id("b")) != second ||
        !joins_rows(found.graph(), found.node(interleaved ? "joined" : "turned")) || !x.same_type(found.type("y")) ||
        !x.same_type(found.type("turned")) || !fits("cos") || !fits("sin"))
      return {};
    return replace(found, patch, interleaved);
  });
}

}  // namespace

Status recognize_rotation(ir::Graph& graph, PassContext&) {
  const ir::Pattern a = ir::op<ops::Slice>("a", any("x")), b = ir::op<ops::Slice>("b", any("x")),
                    minus_b = unary(ops::UnaryKind::kNeg, b);
  TRY(recognize(graph, ir::op<ops::Concatenation>("turned", minus_b, a), false));
  return recognize(
      graph,
      ir::op<ops::Reshape>("turned", ir::op<ops::Concatenation>("joined", ir::op<ops::Unsqueeze>("", minus_b),
                                                                ir::op<ops::Unsqueeze>("", a))),
      true);
}

}  // namespace kiln::passes
