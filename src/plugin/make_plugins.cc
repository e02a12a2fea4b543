#include "plugin/make_plugins.h"

#include <algorithm>

#include "plugin/code_keeper.h"
#include "plugin/creators.h"
#include "steps/plugin.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

enum class Which : bool { kAll, kOfVersion2 };

bool is_plugin(const AnyStep& step, Which which) {
  const auto* plugin = step.as<steps::Plugin>();
  return plugin && (which == Which::kAll || plugin->generation == PluginGeneration::kV2);
}

/// Whether a plan has such a plugin, among its steps or what may run in their place.
bool has_plugins(const plan::Plan& plan, Which which) {
  const auto in_block = [&](const plan::Block& block) {
    return std::ranges::any_of(block.steps, [&](const plan::Step& step) {
      return is_plugin(step.step, which) || std::ranges::any_of(step.alternatives, [&](const plan::Alternative& other) {
               return is_plugin(other.step, which);
             });
    });
  };
  return std::ranges::any_of(plan.profiles, in_block) || std::ranges::any_of(plan.bodies, in_block);
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
  auto made = TRY(create_object(*found, {.plugin = id,
                                         .layer = layer,
                                         .fields = step.fields,
                                         .phase = nv::TensorRTPhase::kRUNTIME,
                                         // A plugin ahead of time left a kernel in the plan, and no plugin.
                                         .request = nv::QuickPluginCreationRequest::kSTRICT_JIT,
                                         .services = services}));
  // Many plugins do not know their creator's namespace, so that it is not compared.
  if (const PluginIdentity& it = made->identity(); it.name != id.name || it.version != id.version)
    return error(Code::kVersion, "the creator of ", id, " makes ", it,
                 "; rebuild the engine with this creator, or register the one that it was built with");
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
  if (!has_plugins(*plan, Which::kAll)) return plan;
  auto result = std::make_shared<plan::Plan>(*plan);
  for (plan::Profile& profile : result->profiles) TRY(make_all(profile, makers, services));
  for (plan::Body& body : result->bodies) TRY(make_all(body, makers, services));
  return result;
}

bool has_plugins_of_version_2(const plan::Plan& plan) { return has_plugins(plan, Which::kOfVersion2); }

}  // namespace kiln::plugin
