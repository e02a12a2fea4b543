/// Plugin objects that keep their code loaded.
#pragma once

#include <memory>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// Returns `object`, which holds `code` from now on: `code` keeps the library of the object's class loaded, and is let
/// go after the object is destroyed.
inline std::shared_ptr<const PluginObject> with_code(std::shared_ptr<const PluginObject> object,
                                                     std::shared_ptr<const void> code) {
  if (!code) return object;
  const PluginObject* const at = object.get();
  return {at, [object = std::move(object), code = std::move(code)](const PluginObject*) mutable {
            object.reset();
            code.reset();
          }};
}

}  // namespace kiln::plugin
