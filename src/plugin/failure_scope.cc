#include "plugin/failure_scope.h"

#include <utility>

namespace kiln::plugin {
namespace {
thread_local FailureScope* current = nullptr;
}

FailureScope::FailureScope() : before_(std::exchange(current, this)) {}
FailureScope::~FailureScope() { current = before_; }

bool FailureScope::tell(const char* plugin, const char* words) {
  if (!current) return false;
  if (current->words_.empty()) current->plugin_ = plugin, current->words_ = words;
  return true;
}

Error FailureScope::explained(const Error& failure, const PluginIdentity& plugin) const {
  if (words_.empty()) return failure;
  const bool is_of_another = plugin_ != str(plugin.name, " version ", plugin.version);  // one inside the plugin
  return {failure.code, str(plugin, ": ", is_of_another ? plugin_ + ": " : "", words_)};
}

}  // namespace kiln::plugin
