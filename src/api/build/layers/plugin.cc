/// Plugins of versions 2 and 3.
#include "ops/plugin.h"

#include <impl/NvInferPythonPlugin.h>

#include "api/build/layers/layers.h"
#include "api/run/plugin_services.h"
#include "plugin/fields.h"
#include "plugin/parts.h"
#include "plugin/v2_plugin.h"
#include "plugin/v3_plugin.h"

namespace kiln::api {
namespace {

class PluginV3Layer final
    : public LayerOf<ops::Plugin, nv::LayerType::kPLUGIN_V3, nv::IPluginV3Layer, nv::apiv::VPluginV3Layer> {
 public:
  using LayerOf::LayerOf;

  nv::IPluginV3& getPlugin() noexcept override { return *plugin::v3_plugin_of(*op().object); }
};

class PluginV2Layer final
    : public LayerOf<ops::Plugin, nv::LayerType::kPLUGIN_V2, nv::IPluginV2Layer, nv::apiv::VPluginV2Layer> {
 public:
  using LayerOf::LayerOf;

  nv::IPluginV2& getPlugin() noexcept override { return *plugin::v2_plugin_of(*op().object); }
};

/// The layer of a node that the parser made.
std::unique_ptr<Layer> make_plugin_layer(Network& network, ir::NodeId node) {
  const auto& op = *network.graph().node(node).op.as<ops::Plugin>();
  if (op.object && plugin::v2_plugin_of(*op.object)) return make<PluginV2Layer>(network, node);
  return make<PluginV3Layer>(network, node);
}

/// Appends the values of a list of tensors.
Status add_values(Network& network, nv::ITensor* const* tensors, int32_t count, const char* what,
                  std::vector<ir::ValueId>& values) {
  TRY(require(count >= 0, "the number of ", what, "s is ", count));
  TRY(require(tensors || count == 0, what, "s are null"));
  for (int32_t i = 0; i < count; ++i) {
    TRY(require(tensors[i] != nullptr, what, " ", i, " is null"));
    values.push_back(TRY(network.value_of(*tensors[i], what)));
  }
  return {};
}

/// A plugin as errors name it before it is adopted.
std::string name_of(const char* name, const char* version) {
  return str(PluginIdentity{name ? name : "", version ? version : "", ""});
}
std::string name_of(const nv::IPluginV2& plugin) { return name_of(plugin.getPluginType(), plugin.getPluginVersion()); }
std::string name_of(nv::IPluginV3& plugin) {
  nv::IPluginCapability* const core = plugin.getCapabilityInterface(nv::PluginCapabilityType::kCORE);
  const auto named = [](const auto& part) { return name_of(part.getPluginName(), part.getPluginVersion()); };
  if (const auto* one = plugin::part_as<nv::IPluginV3OneCore>(core, plugin::kV3Core)) return named(*one);
  if (const auto* quick = plugin::part_as<nv::IPluginV3QuickCore>(core, plugin::kQuickCore)) return named(*quick);
  return "the plugin";
}

/// A copy of a plugin, which the network keeps.
template <class Given>
Result<Given*> cloned(Given& given) {
  Given* const clone = given.clone();
  if (!clone) return error(Code::kInvalidArgument, name_of(given), ": clone() returned null");
  if (clone == &given)
    return error(Code::kInvalidArgument, name_of(given), ": clone() returned the plugin itself, not a copy");
  return clone;
}

/// The services of plugins while a network is built: the allocator that the builder has now.
Result<plugin::Services> services_of(Network& network) {
  return plugin_services(network.reporter(), network.gpu_allocator());
}

}  // namespace

Result<nv::IPluginV2Layer*> add_plugin_v2(Network& network, nv::ITensor* const* inputs, int32_t num_inputs,
                                          nv::IPluginV2& given) {
  std::vector<ir::ValueId> values;
  TRY(add_values(network, inputs, num_inputs, "input", values));
  const plugin::Services services = TRY(services_of(network));
  nv::IPluginV2* const clone = TRY(cloned(given));
  auto object = TRY(plugin::adopt_v2(clone, nv::TensorRTPhase::kBUILD, services));
  ops::Plugin op{.plugin = object->identity(), .fields = {}, .num_tensors = num_inputs, .object = object};
  return network.add<PluginV2Layer>(std::move(op), values, Settings::kComplete);
}

Result<nv::IPluginV3Layer*> add_plugin_v3(Network& network, nv::ITensor* const* inputs, int32_t num_inputs,
                                          nv::ITensor* const* shape_inputs, int32_t num_shape_inputs,
                                          nv::IPluginV3& given) {
  std::vector<ir::ValueId> values;
  TRY(add_values(network, inputs, num_inputs, "input", values));
  TRY(add_values(network, shape_inputs, num_shape_inputs, "shape input", values));
  const plugin::Services services = TRY(services_of(network));
  nv::IPluginV3* const clone = TRY(cloned(given));
  auto object = TRY(plugin::adopt_v3(clone, nv::TensorRTPhase::kBUILD, services));
  ops::Plugin op{.plugin = object->identity(), .fields = {}, .num_tensors = num_inputs, .object = object};
  return network.add<PluginV3Layer>(std::move(op), values, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Plugin>) { return make_plugin_layer; }

}  // namespace kiln::api
