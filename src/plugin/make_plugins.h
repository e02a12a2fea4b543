/// Plugins of a plan, made again by the creators of a registry.
#pragma once

#include <NvInferRuntime.h>

#include "base/log.h"
#include "plan/plan.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// The plan with its plugins made; itself if it has none. Fails where the registry lacks a creator, or one fails: the
/// error names the step and the plugin. `services` outlive the plan. `log` hears what plugins get that TensorRT gives
/// them otherwise.
Result<std::shared_ptr<const plan::Plan>> make_plugins(std::shared_ptr<const plan::Plan> plan,
                                                       nvinfer1::IPluginRegistry& registry, const Services& services,
                                                       Log& log);

}  // namespace kiln::plugin
