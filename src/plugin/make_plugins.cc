#include "plugin/make_plugins.h"

#include <algorithm>

#include "plugin/code_keeper.h"
#include "plugin/creators.h"
#include "plugin/fields.h"
#include "plugin/v2_plugin.h"
#include "plugin/v3_plugin.h"
#include "steps/plugin.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

bool is_plugin(const plan::Step& step) { return step.step.as<steps::Plugin>() != nullptr; }

bool has_plugins(const plan::Block& block) { return std::ranges::any_of(block.steps, is_plugin); }

bool is_old_plugin(const plan::Step& step) {
  const auto* plugin = step.step.as<steps::Plugin>();
  return plugin && plugin->generation == PluginGeneration::kV2;
}
bool has_old_plugins(const plan::Block& block) { return std::ranges::any_of(block.steps, is_old_plugin); }

Result<std::shared_ptr<const PluginObject>> make_v3(const steps::Plugin& step, const std::string& layer,
                                                    nv::IPluginCreatorV3One& creator, const Services& services) {
  const FieldCollection fields(step.fields);
  nv::IPluginV3* const made = creator.createPlugin(layer.c_str(), &fields.collection(), nv::TensorRTPhase::kRUNTIME);
  if (!made) return error(Code::kDevice, step.plugin, ": createPlugin returned null for the fields of the plan");
  return adopt_v3(made, nv::TensorRTPhase::kRUNTIME, services);
}

/// The name that the creator is given is the plugin's, by which Python finds its functions.
Result<std::shared_ptr<const PluginObject>> make_quick(const steps::Plugin& step, nv::IPluginCreatorV3Quick& creator,
                                                       const Services& services) {
  constexpr auto kPhase = nv::TensorRTPhase::kRUNTIME;
  // What is ahead of time left a kernel in the plan, and no plugin.
  constexpr auto kQuickRequest = nv::QuickPluginCreationRequest::kSTRICT_JIT;
  const FieldCollection fields(step.fields);
  nv::IPluginV3* const made = creator.createPlugin(step.plugin.name.c_str(), step.plugin.plugin_namespace.c_str(),
                                                   &fields.collection(), kPhase, kQuickRequest);
  if (!made) return error(Code::kDevice, step.plugin, ": createPlugin returned null for the fields of the plan");
  return adopt_v3(made, kPhase, services);
}

Result<std::shared_ptr<const PluginObject>> make_v2(const steps::Plugin& step, const std::string& layer,
                                                    nv::IPluginCreator& creator, const Services& services) {
  if (step.fields.size() != 1)
    return error(Code::kCorrupt, step.plugin, ": the plan has ", step.fields.size(),
                 " fields of it; a plugin of version 2 has one, which is what it serialized");
  const Bytes& bytes = step.fields[0].data;
  nv::IPluginV2* const made = creator.deserializePlugin(layer.c_str(), bytes.data(), bytes.size());
  if (!made)
    return error(Code::kDevice, step.plugin, ": deserializePlugin returned null for the ", bytes.size(),
                 " bytes of the plan");
  return adopt_v2(made, nv::TensorRTPhase::kRUNTIME, services,
                  std::make_shared<const std::string>(step.plugin.plugin_namespace));
}

Result<std::shared_ptr<const PluginObject>> make(const steps::Plugin& step, const std::string& layer,
                                                 const Makers& makers, const Services& services) {
  const PluginIdentity& id = step.plugin;
  nv::IPluginCreatorInterface* const planned = makers.libraries ? makers.libraries->find(id) : nullptr;
  nv::IPluginCreatorInterface* const found = planned ? planned : find_creator(makers.registry, id);
  if (!found)
    return error(
        Code::kNotFound, "no creator of ", id,
        " is registered: load its library (IPluginRegistry::loadLibrary, trtexec --staticPlugins), or register "
        "the creator, before the engine is loaded");
  const PluginGeneration generation = TRY(generation_of(*found, id));
  // A creator of version 3 may make quick plugins, and the other way round: what it makes tells which it is.
  if ((generation == PluginGeneration::kV2) != (step.generation == PluginGeneration::kV2))
    return error(Code::kVersion, id, " is of generation ", step.generation,
                 " in the plan, and its creator makes those of ", generation,
                 "; rebuild the engine with this creator, or register the one that it was built with");
  std::shared_ptr<const PluginObject> made;
  switch (generation) {
    case PluginGeneration::kV3:
      made = TRY(make_v3(step, layer, static_cast<nv::IPluginCreatorV3One&>(*found), services));
      break;
    case PluginGeneration::kV2:
      made = TRY(make_v2(step, layer, static_cast<nv::IPluginCreator&>(*found), services));
      break;
    case PluginGeneration::kQuick:
      made = TRY(make_quick(step, static_cast<nv::IPluginCreatorV3Quick&>(*found), services));
      break;
  }
  return with_code(std::move(made), planned ? makers.libraries : nullptr);
}

Status make_all(plan::Block& block, const Makers& makers, const Services& services) {
  const auto replace = [&](AnyStep& any, const std::string& layer) -> Status {
    const auto* planned = any.as<steps::Plugin>();
    if (!planned) return {};
    steps::Plugin step = *planned;
    step.object = TRY(in_context(make(step, layer, makers, services), [&] { return str("step '", layer, "'"); }));
    const int num_outputs = step.object->num_outputs();
    if (num_outputs >= 0 && num_outputs != std::ssize(step.decided_axes))
      return error(Code::kVersion, "step '", layer, "': ", step.plugin, " that its creator makes has ", num_outputs,
                   " outputs; the plan was built with one of ", step.decided_axes.size());
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

Result<std::shared_ptr<const plan::Plan>> make_plugins(std::shared_ptr<const plan::Plan> plan, const Makers& makers,
                                                       const Services& services) {
  if (std::ranges::none_of(plan->profiles, has_plugins) && std::ranges::none_of(plan->bodies, has_plugins)) return plan;
  auto result = std::make_shared<plan::Plan>(*plan);
  for (plan::Profile& profile : result->profiles) TRY(make_all(profile, makers, services));
  for (plan::Body& body : result->bodies) TRY(make_all(body, makers, services));
  return result;
}

bool has_plugins_of_version_2(const plan::Plan& plan) {
  return std::ranges::any_of(plan.profiles, has_old_plugins) || std::ranges::any_of(plan.bodies, has_old_plugins);
}

}  // namespace kiln::plugin
