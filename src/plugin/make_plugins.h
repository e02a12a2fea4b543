/// Plugins of a plan, made again by the creators of a registry.
#pragma once

#include <NvInferRuntime.h>

#include "base/log.h"
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
/// names the step and the plugin. `services` outlive the plan. `log` hears what plugins get that TensorRT gives them
/// otherwise.
Result<std::shared_ptr<const plan::Plan>> make_plugins(std::shared_ptr<const plan::Plan> plan, const Makers& makers,
                                                       const Services& services, Log& log);

}  // namespace kiln::plugin
