/// Creators of standard plugins, by the interfaces that programs know them by.
#pragma once

#include <memory>
#include <string>

#include "library/standard_plugin.h"

namespace kiln::plugins {

/// An IPluginCreator, whose plugins are IPluginV2DynamicExt, or an IPluginCreatorV3One, as the definition says.
std::unique_ptr<nv::IPluginCreatorInterface> make_creator(const Definition& definition, std::string plugin_namespace);

std::unique_ptr<nv::IPluginCreatorInterface> make_v2_creator(const Definition& definition,
                                                             std::string plugin_namespace);
std::unique_ptr<nv::IPluginCreatorInterface> make_v3_creator(const Definition& definition,
                                                             std::string plugin_namespace);

}  // namespace kiln::plugins
