#include "passes/merge_products.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/patch.h"
#include "ops/concatenation.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/remove_dead.h"
#include "passes/row_wise.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

/// A product with constant weights, the bias behind it, and the result.
struct Projection {
  ir::NodeId product;
  ir::ValueId bias = ir::ValueId::kNone;  ///< a constant
  ir::ValueId result;
  int64_t columns;
};

/// Whether the op only moves elements, so that its readers could read its input with other strides instead.
bool only_moves(const Op& op) {
  return op.as<ops::Reshape>() || op.as<ops::Squeeze>() || op.as<ops::Unsqueeze>() || op.as<ops::Transpose>() ||
         op.as<ops::Slice>() || op.as<ops::Expand>();
}

/// Whether the node splits the channels of its input into heads, or moves heads: what reads its result could not be
/// computed with the product.
bool moves_heads(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Transpose>()) return true;
  const Shape &from = graph.type(node.inputs[0]).shape, &to = graph.type(node.outputs[0]).shape;
  return node.op.as<ops::Reshape>() && !to.empty() && from.back() != to.back();
}

/// Whether those alone read the value that can read it in a larger tensor: products of two variables, perhaps behind
/// what moves it or multiplies it by numbers; and of heads pointwise ops (rotary embeddings) and Concatenations (caches
/// of keys and values).
bool is_read_in_place(const ir::Graph& graph, ir::ValueId value, bool is_head = false, int depth = 8) {
  const auto& users = graph.value(value).users;
  if (graph.is_output(value) || users.empty() || depth == 0) return false;
  return std::ranges::all_of(users, [&](ir::NodeId user) {
    const ir::Node& node = graph.node(user);
    const ir::ValueId other = node.inputs[node.inputs[0] == value && node.inputs.size() > 1 ? 1 : 0];
    if (node.op.as<ops::MatrixMultiply>()) return !graph.constant(other);
    if (only_moves(node.op))
      return node.inputs[0] == value &&
             is_read_in_place(graph, node.outputs[0], is_head || moves_heads(graph, user), depth - 1);
    if (is_head && (node.op.has(Trait::kPointwise) || node.op.as<ops::Concatenation>())) return true;
    const auto* op = node.op.as<ops::ElementWise>();
    const HostTensor* number = op ? graph.constant(other) : nullptr;
    const bool scales = op && (op->kind == ops::ElementWiseKind::kProd || op->kind == ops::ElementWiseKind::kDiv);
    return number && number->volume() == 1 && scales && is_read_in_place(graph, node.outputs[0], false, depth - 1);
  });
}

/// The constant that a node adds to each row of `value`; kNone where it does something else.
ir::ValueId bias_behind(const ir::Graph& graph, ir::NodeId id, ir::ValueId value) {
  const ir::Node& node = graph.node(id);
  const auto* op = node.op.as<ops::ElementWise>();
  if (!op || op->kind != ops::ElementWiseKind::kSum) return ir::ValueId::kNone;
  const ir::ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
  const HostTensor* constant = graph.constant(other);
  if (!constant || constant->rank() == 0 || !graph.type(value).same_type(graph.type(node.outputs[0])))
    return ir::ValueId::kNone;
  const int64_t last = constant->extents().back();
  const bool is_row = constant->volume() == last && sym::Expr(last) == graph.type(value).shape.back();
  return is_row ? other : ir::ValueId::kNone;
}

std::optional<Projection> projection_at(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!is_row_product(graph, id)) return std::nullopt;
  const bool transposed = node.op.as<ops::MatrixMultiply>()->b == ops::MatrixOp::kTranspose;
  const Extents& extents = matrix_of(graph, id)->extents();
  Projection found{.product = id, .result = node.outputs[0], .columns = 0};
  found.columns = extents[extents.size() - (transposed ? 2 : 1)];
  if (graph.num_uses(found.result) == 1 && !graph.is_output(found.result)) {
    const ir::NodeId user = graph.value(found.result).users[0];
    found.bias = bias_behind(graph, user, found.result);
    if (found.bias != ir::ValueId::kNone) found.result = graph.node(user).outputs[0];
  }
  return is_read_in_place(graph, found.result) ? std::optional(found) : std::nullopt;
}

/// Whether the matrices of two products can be one: of numbers, or of bytes that are dequantized alike.
bool are_alike(const ir::Graph& graph, ir::NodeId a, ir::NodeId b) {
  const auto dequantize = [&](ir::NodeId product) {
    return graph.producer_as<ops::Dequantize>(graph.node(product).inputs[1]);
  };
  if (!dequantize(a) || !dequantize(b)) return !dequantize(a) && !dequantize(b);
  return matrix_of(graph, a)->dtype() == matrix_of(graph, b)->dtype() && dequantize(a)->to == dequantize(b)->to &&
         dequantize(a)->axis == dequantize(b)->axis;
}

/// The products of x like that at `first`, in the order of their ids.
std::vector<Projection> siblings_of(const ir::Graph& graph, ir::NodeId first) {
  const auto& like = *graph.node(first).op.as<ops::MatrixMultiply>();
  const ir::ValueId x = graph.node(first).inputs[0];
  std::vector<ir::NodeId> users = graph.value(x).users;
  std::ranges::sort(users);
  users.erase(std::unique(users.begin(), users.end()), users.end());
  std::vector<Projection> result;
  for (const ir::NodeId user : users) {
    const auto* op = graph.node(user).op.as<ops::MatrixMultiply>();
    if (!op || op->b != like.b || graph.node(user).inputs[0] != x) continue;
    const auto projection = projection_at(graph, user);
    if (projection && are_alike(graph, first, user)) result.push_back(*projection);
  }
  return result;
}

/// The biases in one row; zeros where there is none.
Result<ir::ValueId> joined_bias(const ir::Graph& graph, std::span<const Projection> parts, ir::Patch& patch) {
  const TensorType& y = graph.type(parts[0].result);
  std::vector<ir::ValueId> rows;
  for (const Projection& part : parts) {
    Extents extents(y.shape.size(), 1);
    extents.back() = part.columns;
    if (part.bias == ir::ValueId::kNone)
      rows.push_back(patch.add_constant(TRY(HostTensor::make(y.dtype, extents)).tensor));  // made of zeros
    else
      rows.push_back(patch.add_reshaped(part.bias, extents));
  }
  return patch.add(ops::Concatenation{y.rank() - 1}, rows);
}

/// The scales of a product's dequantized matrix, one a column.
Result<ir::ValueId> column_scales(const ir::Graph& graph, const Projection& part, int along, ir::Patch& patch) {
  const ir::Node& dequantize = graph.node(graph.value(graph.node(part.product).inputs[1]).producer);
  const HostTensor& scale = *graph.constant(dequantize.inputs[1]);
  if (scale.volume() == part.columns) return dequantize.inputs[1];
  Extents extents(static_cast<size_t>(scale.rank()), 1);
  extents[static_cast<size_t>(along)] = part.columns;
  HostTensor::Fresh repeated = TRY(HostTensor::make(scale.dtype(), extents));
  for (int64_t i = 0; i < part.columns; ++i)
    store_number(scale.dtype(), repeated.data.data(), i, load_number(scale.dtype(), scale.bytes().data(), 0));
  return patch.add_constant(std::move(repeated.tensor));
}

/// The matrices beside each other.
Result<ir::ValueId> joined_matrix(const ir::Graph& graph, std::span<const Projection> parts, int along,
                                  ir::Patch& patch) {
  std::vector<ir::ValueId> weights, scales;
  for (const Projection& part : parts) {
    const ir::ValueId w = graph.node(part.product).inputs[1];
    if (!graph.producer_as<ops::Dequantize>(w)) {
      weights.push_back(w);
      continue;
    }
    weights.push_back(graph.node(graph.value(w).producer).inputs[0]);
    scales.push_back(TRY(column_scales(graph, part, along, patch)));
  }
  const ir::ValueId w = TRY(patch.add(ops::Concatenation{along}, weights));
  if (scales.empty()) return w;
  const Op& dequantize = graph.node(graph.value(graph.node(parts[0].product).inputs[1]).producer).op;
  return patch.add(dequantize, {w, TRY(patch.add(ops::Concatenation{along}, scales))});
}

Status join(const ir::Graph& graph, std::span<const Projection> parts, ir::Patch& patch) {
  const ir::Node& first = graph.node(parts[0].product);
  const auto& op = *first.op.as<ops::MatrixMultiply>();
  const int rank = graph.output_type(parts[0].product).rank();
  const int along = op.b == ops::MatrixOp::kTranspose ? rank - 2 : rank - 1;
  const ir::ValueId w = TRY(joined_matrix(graph, parts, along, patch));
  ir::ValueId y = TRY(patch.add(op, {first.inputs[0], w}));
  if (std::ranges::any_of(parts, [](const Projection& part) { return part.bias != ir::ValueId::kNone; }))
    y = TRY(patch.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {y, TRY(joined_bias(graph, parts, patch))}));
  int64_t start = 0;
  for (const Projection& part : parts) {
    const ops::Slice slice{.starts = {start}, .sizes = {part.columns}, .strides = {1}, .axes = {rank - 1}};
    TRY(patch.replace(part.result, TRY(patch.add(slice, {y}))));
    start += part.columns;
  }
  return {};
}

/// Names of the layers that products come from, each once.
std::vector<std::string> provenance_of(const ir::Graph& graph, std::span<const Projection> parts) {
  std::vector<std::string> result;
  std::set<std::string_view> known;
  for (const Projection& part : parts)
    for (const ir::NodeId id : {part.product, graph.value(part.result).producer})
      for (const std::string& from : graph.node(id).provenance)
        if (known.insert(from).second) result.push_back(from);
  return result;
}

/// Applies the patch of `join` and sets the provenance of new nodes. Each Slice stands for one product and comes from
/// it alone; the other nodes come from all products.
Status apply(ir::Graph& graph, const ir::Patch& patch, std::span<const Projection> parts) {
  const std::vector<std::string> whole = provenance_of(graph, parts);
  std::vector<std::vector<std::string>> own;
  for (const Projection& part : parts) own.push_back(provenance_of(graph, {&part, 1}));
  const int first_new = graph.num_nodes();
  const std::vector<ir::ValueId> slices = TRY(patch.apply(graph, {{}, graph.node(parts[0].product).name}));
  for (int i = first_new; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); !graph.node(id).op.as<ops::Slice>())
      graph.set_provenance(id, whole);
  for (size_t i = 0; i < slices.size(); ++i) graph.set_provenance(graph.value(slices[i]).producer, std::move(own[i]));
  return {};
}

}  // namespace

Status merge_products(ir::Graph& graph, PassContext& cx) {
  // For each x, and how products read it, the first of these products; kNone if there is only one. An x that a thousand
  // products read is then looked at once.
  std::map<std::pair<ir::ValueId, ops::MatrixOp>, ir::NodeId> firsts;
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const auto* op = graph.node(id).op.as<ops::MatrixMultiply>();
    if (!op) continue;
    const auto [known, is_new] = firsts.emplace(std::pair(graph.node(id).inputs[0], op->b), ir::NodeId::kNone);
    if (!is_new && known->second != id) continue;
    const std::vector<Projection> parts = siblings_of(graph, id);
    if (parts.size() < 2) continue;
    known->second = parts[0].product;
    if (parts[0].product != id) continue;
    ir::Patch patch(graph);
    TRY(join(graph, parts, patch));
    if (TRY(patch.applies())) TRY(apply(graph, patch, parts));
  }
  TRY(graph.infer());
  return remove_dead(graph, cx);
}

}  // namespace kiln::passes
