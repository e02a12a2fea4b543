/// Plugin objects that keep their code loaded.
#pragma once

#include <memory>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// The object, of whose code `code` keeps the library: that goes after it.
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
