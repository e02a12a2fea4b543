#include "api/build/expand_plugins.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "api/base/convert.h"
#include "api/build/held_errors.h"
#include "plugin/v2_plugin.h"
#include "plugin/v3_plugin.h"

namespace kiln::api {
namespace {

std::atomic<const KilnExpander*>& expander_in_use() {
  static std::atomic<const KilnExpander*> expander = nullptr;
  return expander;
}

/// The program's object behind an op; null where there is none.
const void* object_of(const ops::Plugin& op) {
  if (!op.object) return nullptr;
  if (const nv::IPluginV2* const plugin = plugin::v2_plugin_of(*op.object)) return plugin;
  return plugin::v3_plugin_of(*op.object);
}

/// What an expander keeps for the layers that it added.
struct ExpansionData {
  const KilnExpander& expander;
  void* data = nullptr;
  explicit ExpansionData(const KilnExpander& expander) : expander(expander) {}
  ExpansionData(const ExpansionData&) = delete;
  ~ExpansionData() { expander.release(data); }
};

/// Gives constants that borrow their elements from an expander elements of their own.
Status own_constants(ir::Graph& graph, ir::NodeId first) {
  for (auto i = ir::index(first); i < static_cast<size_t>(graph.num_nodes()); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    const auto* constant = graph.alive(id) ? graph.node(id).op.as<ops::Constant>() : nullptr;
    if (!constant || constant->value.owner() || constant->value.bytes().empty()) continue;
    HostTensor::Fresh copy = TRY(HostTensor::make(constant->value.dtype(), constant->value.extents()));
    std::memcpy(copy.data.data(), constant->value.bytes().data(), copy.data.size());
    ops::Constant own = *constant;
    own.value = std::move(copy.tensor);
    graph.set_op(id, std::move(own));
  }
  return {};
}

/// Names the layers behind `first` after the plugin's, and says where they come from.
void describe_layers(ir::Graph& graph, ir::NodeId first, const ir::Node& plugin) {
  for (auto i = ir::index(first); i < static_cast<size_t>(graph.num_nodes()); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    graph.set_name(id, str(plugin.name, "/", graph.node(id).op.name(), "_", i - ir::index(first)));
    graph.set_provenance(id, plugin.provenance);
  }
}

/// Whether no axis is of two different numbers. Of extents that a run tells, the layers have conditions (Assertion).
bool may_be_equal(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.rank() != b.rank()) return false;
  return std::ranges::equal(a.shape, b.shape, [](const sym::Expr& one, const sym::Expr& other) {
    const auto first = one.constant(), second = other.constant();
    return !first || !second || *first == *second;
  });
}

/// Puts the expansion's results in the place of the plugin's, whose types and names they have.
Status replace_outputs(Network& scratch, ir::NodeId id, const std::vector<void*>& results) {
  ir::Graph& graph = scratch.graph();
  for (size_t i = 0; i < results.size(); ++i) {
    TRY(require(results[i] != nullptr, "output ", i, " of the expansion is null"));
    const ir::ValueId by = TRY(scratch.value_of(*static_cast<nv::ITensor*>(results[i]), "output of the expansion"));
    const ir::ValueId old = graph.node(id).outputs[i];
    const TensorType& has = TRY(graph.inferred_type(by));
    const TensorType& says = TRY(graph.inferred_type(old));
    if (!may_be_equal(has, says))
      return error(Code::kInvalidArgument, "the plugin says that output ", i, " is ", says, "; its layers make ", has,
                   " of these inputs");
    std::string name = graph.value(old).name;
    graph.replace_uses(old, by);
    graph.set_name(by, std::move(name));
  }
  return {};
}

/// What a step of each tensor is worth, inputs first, where it is an i8.
std::vector<float> scales_of(const ir::Node& node) {
  const std::vector<double>& scales = node.op.as<ops::Plugin>()->scales;
  std::vector<float> result(node.inputs.size() + node.outputs.size(), 1.0F);
  for (size_t i = 0; i < scales.size() && i < result.size(); ++i) result[i] = static_cast<float>(scales[i]);
  return result;
}

/// Expands one plugin, if the expander knows it. `errors` are those of the network's calls.
Status expand(const KilnExpander& expander, Network& scratch, ir::NodeId id, RangesAre ranges, HeldErrors& errors) {
  ir::Graph& graph = scratch.graph();
  const auto first = static_cast<ir::NodeId>(graph.num_nodes());
  std::vector<void*> inputs, outputs(graph.node(id).outputs.size());
  for (const ir::ValueId input : graph.node(id).inputs)
    inputs.push_back(static_cast<nv::ITensor*>(scratch.tensor_or_null(input)));
  ExpansionData kept(expander);
  nv::INetworkDefinition& network = scratch;
  const std::vector<float> scales = scales_of(graph.node(id));
  const KilnExpansion result = expander.expand(object_of(*graph.node(id).op.as<ops::Plugin>()), &network,
                                               ranges == RangesAre::kKnown ? scales.data() : nullptr, inputs.data(),
                                               static_cast<int32_t>(inputs.size()), outputs.data(),
                                               static_cast<int32_t>(outputs.size()), &kept.data);
  if (result == kKilnNotOurs || result == kKilnLater) return {};
  if (result != kKilnExpanded) {
    const std::string reason = errors.take_first();
    return error(Code::kInvalidArgument, expander.words(kept.data), reason.empty() ? "" : ": ", reason);
  }
  TRY(own_constants(graph, first));
  TRY(replace_outputs(scratch, id, outputs));
  describe_layers(graph, first, graph.node(id));
  graph.remove(id);
  return {};
}

}  // namespace

void set_plugin_expander(const KilnExpander* expander) { expander_in_use() = expander; }

bool plugin_needs_int32(const ops::Plugin& op, std::span<const DType> before) {
  const KilnExpander* const expander = expander_in_use();
  if (!expander) return false;
  std::vector<int32_t> types;
  for (const DType dtype : before) types.push_back(static_cast<int32_t>(to_api(dtype)));
  return expander->needs_int32(object_of(op), types.data(), static_cast<int32_t>(types.size())) != 0;
}

Status expand_plugins(const Network& network, ir::Graph& graph, RangesAre ranges) {
  const KilnExpander* const expander = expander_in_use();
  std::vector<ir::NodeId> plugins;
  for (int i = 0; expander && i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    if (graph.node(id).op.as<ops::Plugin>()) plugins.push_back(id);
    if (ranges == RangesAre::kKnown) continue;
    for (const auto& body : graph.node(id).bodies) TRY(expand_plugins(network, *body, ranges));
  }
  if (plugins.empty()) return {};
  HeldErrors errors(network.reporter().logger());
  Network scratch(network.getBuilder(), Reporter(errors), network.getFlags());
  scratch.graph() = std::move(graph);
  for (const ir::NodeId id : plugins) {
    const std::string what =
        str("layer '", scratch.graph().node(id).name, "': ", scratch.graph().node(id).op.as<ops::Plugin>()->plugin);
    TRY(in_context(expand(*expander, scratch, id, ranges, errors), [&] { return what; }));
  }
  graph = std::move(scratch.graph());
  return {};
}

}  // namespace kiln::api
