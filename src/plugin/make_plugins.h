/// Plugins of a plan, made again by the creators of a registry.
#pragma once

#include <NvInferRuntime.h>

#include "plan/plan.h"
#include "plugin/plan_libraries.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// Who makes the plugins of a plan.
struct Makers {
  nvinfer1::IPluginRegistry& registry;
  std::shared_ptr<const PlanLibraries> libraries = nullptr;  ///< of the plan; they are asked first
};

/// The plan with its plugins made; itself if it has none. Fails where there is no creator, or one fails: the error
/// names the step and the plugin. `services` outlive the plan.
Result<std::shared_ptr<const plan::Plan>> make_plugins(std::shared_ptr<const plan::Plan> plan, const Makers& makers,
                                                       const Services& services);
bool has_plugins_of_version_2(const plan::Plan& plan);

}  // namespace kiln::plugin
