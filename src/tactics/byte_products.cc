#include "tactics/byte_products.h"

#include <algorithm>

#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"
#include "ops/quantization.h"
#include "ops/quantize.h"
#include "tactics/byte_table.h"

namespace kiln {
namespace {

using ir::ValueId;

bool is_one(const TensorType& type) { return type.volume() == sym::Expr(1); }

ValueId zero_point_of(const ir::Node& node) { return node.inputs.size() > 2 ? node.inputs[2] : ValueId::kNone; }

bool is_depthwise(const ops::Convolution& op, const TensorType& w) {
  return w.shape[0] == sym::Expr(op.groups) && w.shape[1] == sym::Expr(1);
}

/// The axis of w along which channels of the result lie; nothing where the contraction is none that bytes have.
std::expected<int, Reject> channel_axis_of_w(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const TensorType& w = graph.input_type(id, 1);
  if (const auto* convolution = node.op.as<ops::Convolution>()) {
    if (convolution->groups == 1 || is_depthwise(*convolution, w)) return 0;
    return reject("a convolution in ", convolution->groups, " groups by w ", w,
                  "; bytes have one, or one a channel of x and of the result");
  }
  const auto* product = node.op.as<ops::MatrixMultiply>();
  if (!product) return reject(node.op.name(), " is no contraction of bytes");
  if (product->a != ops::MatrixOp::kNone || product->b == ops::MatrixOp::kVector)
    return reject("a product of bytes takes a as it is, and a matrix b");
  for (int axis = 0; axis + 2 < w.rank(); ++axis)
    if (w.shape[static_cast<size_t>(axis)] != sym::Expr(1)) return reject("b is ", w, "; bytes have one matrix b");
  return product->b == ops::MatrixOp::kTranspose ? w.rank() - 2 : w.rank() - 1;
}

/// Whether numbers and scales may have the type.
bool is_number(DType type, const ByteRules& rules) {
  return rules.halves ? is_kernel_float(type) : type == DType::kF32;
}

/// The Dequantize that makes a value, if its scales and what it makes are numbers.
std::expected<ir::NodeId, Reject> dequantize_of(const ir::Graph& graph, ValueId value, const ByteRules& rules) {
  const ir::NodeId producer = graph.value(value).producer;
  if (producer == ir::NodeId::kNone || !graph.node(producer).op.as<ops::Dequantize>())
    return reject(graph.type(value), " is not dequantized");
  if (!is_number(graph.type(value).dtype, rules) || !is_number(graph.input_type(producer, 1).dtype, rules))
    return reject("operands of ", graph.type(value), " by scales of ", graph.input_type(producer, 1));
  return producer;
}

Status check_x(const ir::Graph& graph, ir::NodeId id, const ByteRules& rules) {
  const TensorType &q = graph.input_type(id, 0), &scale = graph.input_type(id, 1);
  TRY(require(is_byte(q.dtype) || (rules.fp8 && q.dtype == DType::kF8E4M3), "x is ", q, "; i8 or u8 is needed"));
  return require(is_one(scale), "x has scales ", scale, "; one is needed");
}
Status check_w(const ir::Graph& graph, ir::NodeId id, int channel_axis, DType x) {
  const ir::Node& node = graph.node(id);
  const TensorType &q = graph.input_type(id, 0), &scale = graph.input_type(id, 1);
  const DType needed = x == DType::kF8E4M3 ? x : DType::kI8;
  TRY(require(q.dtype == needed && graph.constant(node.inputs[0]), "w is ", q, "; constant ", needed, " is needed"));
  TRY(require(zero_point_of(node) == ValueId::kNone, "w has zero points"));
  const Extents extents = TRY(q.extents());
  TRY(steps::check_byte_sums(extents, extents[static_cast<size_t>(channel_axis)]));
  if (is_one(scale)) return {};
  TRY(require(scale.rank() == q.rank(), "w ", q, " has scales ", scale));
  for (int axis = 0; axis < q.rank(); ++axis) {
    const auto at = static_cast<size_t>(axis);
    TRY(require(scale.shape[at] == (axis == channel_axis ? q.shape[at] : sym::Expr(1)), "w ", q, " has scales ", scale,
                "; one, or one a channel of the result, is needed"));
  }
  return {};
}

/// Whether only `reader` reads what a node makes.
bool is_read_by(const ir::Graph& graph, ir::NodeId id, ir::NodeId reader) {
  const ir::Value& y = graph.value(graph.node(id).outputs[0]);
  return !graph.is_output(graph.node(id).outputs[0]) &&
         std::ranges::all_of(y.users, [&](ir::NodeId user) { return user == reader; });
}

/// The node above a Quantize to bytes by one scale that only it reads.
std::expected<ir::NodeId, Reject> above_quantize(const ir::Graph& graph, ir::NodeId root, const ByteRules& rules) {
  const ir::Node& node = graph.node(root);
  const ir::NodeId above = graph.value(node.inputs[0]).producer;
  const DType made = graph.output_type(root).dtype;
  if ((!is_byte(made) && !(rules.fp8 && made == DType::kF8E4M3)) ||
      !is_number(graph.input_type(root, 0).dtype, rules) || !is_number(graph.input_type(root, 1).dtype, rules) ||
      !is_one(graph.input_type(root, 1)))
    return reject("a Quantize of ", graph.input_type(root, 0), " by ", graph.input_type(root, 1), " to ",
                  graph.output_type(root));
  if (above == ir::NodeId::kNone || !is_read_by(graph, above, root)) return reject("others read what is quantized");
  return above;
}

/// What follows the contraction up to `end`. A residual that is dequantized is left to a hook, which reads its bytes.
std::expected<EpilogueMatch, Reject> match_behind(const ir::Graph& graph, ir::NodeId end,
                                                  bool (*is_contraction)(const Op&), int channel_axis,
                                                  ResultOrder order, const ByteRules& rules) {
  auto found = match_epilogue(graph, end, is_contraction, channel_axis);
  const bool reads_floats =
      found && (found->residual == ValueId::kNone || !graph.producer_as<ops::Dequantize>(found->residual));
  if (reads_floats) return found;
  auto hooked = match_hook(graph, end, is_contraction, channel_axis, order, rules.halves,
                           rules.fp8 ? is_device_hook_type : is_hook_type);
  return hooked ? hooked : found ? found : hooked;
}

}  // namespace

std::expected<ByteProduct, Reject> find_byte_product(const ir::Graph& graph, ir::NodeId contraction,
                                                     const ByteRules& rules) {
  const auto axis = channel_axis_of_w(graph, contraction);
  if (!axis) return std::unexpected(axis.error());
  const ir::Node& node = graph.node(contraction);
  const auto x = dequantize_of(graph, node.inputs[0], rules), w = dequantize_of(graph, node.inputs[1], rules);
  if (!x) return std::unexpected(x.error());
  if (!w) return std::unexpected(w.error());
  if (Status good = check_x(graph, *x, rules); !good) return reject(good.error().message);
  if (Status good = check_w(graph, *w, *axis, graph.input_type(*x, 0).dtype); !good)
    return reject(good.error().message);
  return ByteProduct{contraction, *x, *w};
}

Match match_byte_product(const TacticContext& cx, ir::NodeId root, bool (*is_contraction)(const Op&), int channel_axis,
                         ResultOrder order, const ByteRules& rules) {
  const ir::Graph& graph = cx.graph;
  const bool requantizes = graph.node(root).op.as<ops::Quantize>() != nullptr;
  ir::NodeId end = root;
  if (requantizes) {
    const auto above = above_quantize(graph, root, rules);
    if (!above) return std::unexpected(above.error());
    end = *above;
  }
  const auto match = match_behind(graph, end, is_contraction, channel_axis, order, rules);
  if (!match) return std::unexpected(match.error());
  const auto product = find_byte_product(graph, match->contraction, rules);
  if (!product) return std::unexpected(product.error());
  for (const ir::NodeId operand : {product->x, product->w})
    if (!is_read_by(graph, operand, product->contraction)) return reject("others read a dequantized operand");
  Match region = contraction_region(cx, end, *match);
  if (!region) return region;
  const ir::Node &x = graph.node(product->x), &w = graph.node(product->w), &last = graph.node(root);
  region->nodes.insert(region->nodes.begin(), {product->x, product->w});
  region->inputs[0] = x.inputs[0];
  region->inputs[1] = w.inputs[0];
  region->inputs.insert(region->inputs.end(),
                        {x.inputs[1], zero_point_of(x), w.inputs[1], ValueId::kNone, ValueId::kNone});
  if (!requantizes) return region;
  region->nodes.push_back(root);
  region->outputs = {last.outputs[0]};
  using steps::ByteOperand;
  region->inputs[steps::input_of(ByteOperand::kYScale, region->inputs.size())] = last.inputs[1];
  region->inputs[steps::input_of(ByteOperand::kYZero, region->inputs.size())] = zero_point_of(last);
  if (rules.tables && table_source(graph, region->nodes))
    return reject("it ends with a function of a byte, which is looked up in a step of its own");
  return region;
}

const Op& contraction_of_bytes(const TacticContext& cx, const Region& region) {
  return cx.graph.node(region.nodes[2]).op;
}

}  // namespace kiln
