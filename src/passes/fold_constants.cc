#include "passes/fold_constants.h"

#include <algorithm>
#include <set>

#include "base/mapped_pages.h"
#include "ir/work.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/dequantize.h"
#include "ops/fill.h"
#include "ops/fold.h"
#include "ops/plugin.h"
#include "passes/deterministic.h"

namespace kiln::passes {
namespace {

constexpr double kMostWork = 0x1p30;  // numbers that references add up while a network is built: seconds

bool may_fold(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Constant>() || !is_deterministic(node.op) || !node.bodies.empty()) return false;
  if (node.inputs.empty() && !node.op.as<ops::Fill>()) return false;
  for (const ir::ValueId input : node.inputs)
    if (input != ir::ValueId::kNone && !graph.constant(input)) return false;
  for (const ir::ValueId output : node.outputs)
    if (!graph.type(output).is_static() && node.sizes.empty()) return false;
  return std::ranges::all_of(node.sizes, [](const DecidedSize& size) { return size.most.is_const(); });
}

/// Whether all that read a value are contractions that take the bytes it is made of, perhaps behind casts and what only
/// moves elements.
bool is_taken_as_bytes(const ir::Graph& graph, ir::ValueId value, const PassContext& cx) {
  const std::vector<ir::NodeId>& users = graph.value(value).users;
  return !users.empty() && !graph.is_output(value) && std::ranges::all_of(users, [&](ir::NodeId user) {
    const ir::Node& reader = graph.node(user);
    if (reader.op.as<ops::Cast>() || reader.op.has(Trait::kMovement))
      return is_taken_as_bytes(graph, reader.outputs[0], cx);
    return reader.op.has(Trait::kContraction) && reader.inputs[1] == value && cx.multiplies_bytes(graph, user);
  });
}

/// Whether the node makes numbers of weights whose bytes contractions read.
bool stays_bytes(const ir::Graph& graph, ir::NodeId id, const PassContext& cx) {
  const ir::Node& node = graph.node(id);
  return cx.multiplies_bytes && node.op.as<ops::Dequantize>() && is_taken_as_bytes(graph, node.outputs[0], cx);
}

/// Whether all outputs of a node are empty whatever its inputs are. Such a node needs no computing and no kernel,
/// unless it is a plugin, whose code may do more than write its outputs.
bool makes_nothing(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Constant>() || node.op.as<ops::Plugin>() || !node.bodies.empty()) return false;
  return std::ranges::all_of(node.outputs, [&](ir::ValueId output) {
    const TensorType& type = graph.type(output);
    return type.is_static() && std::ranges::count(type.shape, sym::Expr(0)) > 0;
  });
}
Result<std::vector<ops::Constant>> nothing(const ir::Graph& graph, ir::NodeId id) {
  std::vector<ops::Constant> results;
  for (const ir::ValueId output : graph.node(id).outputs)
    results.push_back({TRY(HostTensor::make(graph.type(output).dtype, TRY(graph.type(output).extents()))).tensor});
  return results;
}

/// Whether the results take at most `budget` bytes more than the inputs.
bool within_budget(const ir::Graph& graph, ir::NodeId id, int64_t budget) {
  int64_t grown = 0;
  for (const ir::ValueId output : graph.node(id).outputs) {
    const auto count = checked_volume(graph.type(output).max_extents());
    if (!count || *count > INT64_MAX / 8) return false;
    grown += size_bytes(graph.type(output).dtype, *count);
  }
  for (const ir::ValueId input : graph.node(id).inputs)
    if (input != ir::ValueId::kNone) grown -= static_cast<int64_t>(graph.constant(input)->bytes().size());
  return grown <= budget;
}

/// Computes a node of constants. A model file's pages that it has read go back to the system.
Result<std::vector<ops::Constant>> evaluate(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  std::vector<const ops::Constant*> inputs;
  for (const ir::ValueId input : node.inputs)
    inputs.push_back(input == ir::ValueId::kNone ? nullptr : graph.producer_as<ops::Constant>(input));
  auto results = fold(node.op, inputs);
  for (const ops::Constant* input : inputs)
    if (input) release_pages(input->value.bytes());
  return results;
}

/// Replaces the sizes that a node decides by those of its results.
void bind_sizes(ir::Graph& graph, ir::NodeId id, std::span<const ops::Constant> results) {
  const std::vector<DecidedSize> sizes = graph.node(id).sizes;
  std::set<int> found;
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape shape = graph.output_type(id, static_cast<int>(i)).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (std::ranges::count(sizes, shape[axis], &DecidedSize::symbol) > 0 &&
          found.insert(shape[axis].symbol_id()).second)
        graph.replace_size(shape[axis], results[i].value.extents()[axis]);
  }
}

void warn_of_work(const ir::Node& node, double work, PassContext& cx) {
  const std::string text =
      str(node.op.name(), " '", node.name, "' reads constants alone and is computed in each run: it adds up ",
          static_cast<int64_t>(std::min(work, 0x1p62)), " numbers, which takes a build too long");
  if (cx.warned.insert(text).second) cx.log.warning(text);
}

}  // namespace

Status fold_constants(ir::Graph& graph, PassContext& cx) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const bool is_empty = makes_nothing(graph, id);
    if (!is_empty && !(may_fold(graph, id) && within_budget(graph, id, cx.fold_budget_bytes))) continue;
    if (!is_empty && stays_bytes(graph, id, cx)) continue;
    const ir::Node& node = graph.node(id);
    const double work = is_empty ? 0 : ir::work_of(graph, id).all();
    if (work > kMostWork) {
      warn_of_work(node, work, cx);
      continue;
    }
    auto results = is_empty ? nothing(graph, id) : evaluate(graph, id);
    if (!results && cx.is_body) continue;
    if (!results)
      return error(results.error().code, "folding ", node.op.name(), " '", node.name, "': ", results.error().message);
    const std::vector<ir::ValueId> outputs = node.outputs;
    bind_sizes(graph, id, *results);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ir::ValueId folded = graph.add_constant(std::move((*results)[i]), graph.value(outputs[i]).name);
      graph.set_provenance(graph.value(folded).producer, graph.node(id).provenance);
      graph.replace_uses(outputs[i], folded);
    }
    const std::vector<ir::ValueId> sources = node.inputs;
    graph.remove(id);
    for (const ir::ValueId source : sources) {  // large weights are not kept in two forms
      if (source == ir::ValueId::kNone || graph.num_uses(source) > 0) continue;
      const ir::NodeId producer = graph.value(source).producer;
      if (producer != ir::NodeId::kNone && graph.alive(producer) && graph.constant(source)) graph.remove(producer);
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
