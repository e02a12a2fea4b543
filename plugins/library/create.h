/// How creators make plugins.
#pragma once

#include <string>
#include <utility>

#include "library/guard.h"

namespace kiln::plugins {

/// A plugin of class P with the attributes that createPlugin is given; null, and the reason in the log, where it fails.
template <class P>
P* create(const Definition& definition, const nv::PluginFieldCollection* given,
          const std::string& plugin_namespace) noexcept {
  return guarded(definition, "createPlugin", static_cast<P*>(nullptr), [&]() -> Result<P*> {
    Plugin plugin = TRY(make_plugin(definition, TRY(Fields::of(given, definition.fields))));  // before `new` allocates
    return new P(std::move(plugin), plugin_namespace);
  });
}

}  // namespace kiln::plugins
