#include "api/entry/plugin_entry.h"

#include "api/build/expand_plugins.h"
#include "api/entry/status.h"

namespace kiln::api {
namespace {

KilnStatus set_expander(const KilnExpander* expander) {
  return entry_guard([&]() -> Status {
    TRY(require(!expander || (expander->expand && expander->words && expander->release), "a function is null"));
    set_plugin_expander(expander);
    return {};
  });
}

}  // namespace

KilnPluginEntry plugin_entry() { return {set_expander}; }

}  // namespace kiln::api
