/// How creators make plugins.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "library/guard.h"

namespace kiln::plugins {

/// Warns of fields that the plugin does not know, as one that is misspelt: they have no effect.
inline void warn_of_unknown(const Definition& definition, const nv::PluginFieldCollection& given) {
  for (int32_t i = 0; i < given.nbFields; ++i) {
    const std::string_view name = given.fields[i].name;
    if (std::ranges::any_of(definition.fields, [&](const nv::PluginField& known) { return name == known.name; }))
      continue;
    const std::string text =
        str(definition.name, " version ", definition.version, ": it has no field '", name, "', which is ignored");
    logger().log(nv::ILogger::Severity::kWARNING, text.c_str());
  }
}

/// A plugin of class P with the attributes that createPlugin is given; null, and the reason in the log, where it fails.
template <class P>
P* create(const Definition& definition, const nv::PluginFieldCollection* given,
          const std::string& plugin_namespace) noexcept {
  return guarded(definition, "createPlugin", static_cast<P*>(nullptr), [&]() -> Result<P*> {
    Plugin plugin = TRY(make_plugin(definition, TRY(Fields::of(given, definition.fields))));  // before `new` allocates
    warn_of_unknown(definition, *given);
    return new P(std::make_shared<const Plugin>(std::move(plugin)), plugin_namespace);
  });
}

}  // namespace kiln::plugins
