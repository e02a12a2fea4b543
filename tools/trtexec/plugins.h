/// Libraries of plugins that the command line names.
#pragma once

#include "NvInferRuntime.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// Loads libraries that register their plugins by themselves, for as long as the process runs. Fails with the library's
/// name and what is wrong.
void load_static_plugins(const std::vector<std::string>& libraries, Log& log);

/// Loads libraries by a builder's or a runtime's registry.
void load_plugins(const std::vector<std::string>& libraries, nvinfer1::IPluginRegistry& registry, Log& log);

/// The dynamic libraries that a runtime has to load, since they are not part of the plan.
std::vector<std::string> loaded_with_engine(const PluginOptions& plugins);

}  // namespace kiln::cli::trtexec
