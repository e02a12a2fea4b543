#include "plugin/make_plugins.h"

#include <algorithm>
#include <cstring>

#include "plugin/creators.h"
#include "plugin/fields.h"
#include "plugin/v3_plugin.h"
#include "steps/plugin.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

bool is_plugin(const plan::Step& step) { return step.step.as<steps::Plugin>() != nullptr; }

bool has_plugins(const plan::Block& block) { return std::ranges::any_of(block.steps, is_plugin); }

Result<std::shared_ptr<const PluginObject>> make(const steps::Plugin& step, const std::string& layer,
                                                 nv::IPluginRegistry& registry, const Services& services) {
  const PluginIdentity& id = step.plugin;
  nv::IPluginCreatorInterface* const found = find_creator(registry, id);
  if (!found)
    return error(
        Code::kNotFound, "no creator of ", id,
        " is registered: load its library (IPluginRegistry::loadLibrary, trtexec --staticPlugins), or register "
        "the creator, before the engine is loaded");
  const nv::InterfaceInfo info = found->getInterfaceInfo();
  if (!info.kind || std::strcmp(info.kind, "PLUGIN CREATOR_V3ONE") != 0)
    return error(Code::kUnsupported, "the creator of ", id, " is of interface '", info.kind ? info.kind : "",
                 "'; 'PLUGIN CREATOR_V3ONE' is needed");
  const FieldCollection fields(step.fields);
  auto& creator = static_cast<nv::IPluginCreatorV3One&>(*found);
  nv::IPluginV3* const made = creator.createPlugin(layer.c_str(), &fields.collection(), nv::TensorRTPhase::kRUNTIME);
  if (!made) return error(Code::kDevice, id, ": createPlugin returned null for the fields of the plan");
  return adopt_v3(made, nv::TensorRTPhase::kRUNTIME, services);
}

Status make_all(plan::Block& block, nv::IPluginRegistry& registry, const Services& services) {
  const auto replace = [&](AnyStep& any, const std::string& layer) -> Status {
    const auto* planned = any.as<steps::Plugin>();
    if (!planned) return {};
    steps::Plugin step = *planned;
    step.object = TRY(in_context(make(step, layer, registry, services), [&] { return str("step '", layer, "'"); }));
    any = std::move(step);
    return {};
  };
  for (plan::Step& step : block.steps) {
    TRY(replace(step.step, step.name));
    for (plan::Alternative& other : step.alternatives) TRY(replace(other.step, step.name));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const plan::Plan>> make_plugins(std::shared_ptr<const plan::Plan> plan,
                                                       nv::IPluginRegistry& registry, const Services& services) {
  if (std::ranges::none_of(plan->profiles, has_plugins) && std::ranges::none_of(plan->bodies, has_plugins)) return plan;
  auto result = std::make_shared<plan::Plan>(*plan);
  for (plan::Profile& profile : result->profiles) TRY(make_all(profile, registry, services));
  for (plan::Body& body : result->bodies) TRY(make_all(body, registry, services));
  return result;
}

}  // namespace kiln::plugin
