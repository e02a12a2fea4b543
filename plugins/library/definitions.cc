#include "library/standard_plugin.h"

namespace kiln::plugins {

#define STANDARD_PLUGIN(folder) std::vector<Definition> folder();
#include "standard_plugins.def"
#undef STANDARD_PLUGIN

std::span<const Definition> definitions() {
  static const std::vector<Definition>& all = *[] {
    auto* const list = new std::vector<Definition>;
#define STANDARD_PLUGIN(folder) \
  for (Definition & one : folder()) list->push_back(std::move(one));
#include "standard_plugins.def"
#undef STANDARD_PLUGIN
    return list;
  }();
  return all;
}

}  // namespace kiln::plugins
