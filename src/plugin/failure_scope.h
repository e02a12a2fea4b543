/// What a standard plugin says of a call that fails, for the error of who made the call: interfaces of plugins return
/// no words, and a line in the log of the plugin's own would be apart from that error, or there several times.
#pragma once

#include <string>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// While this lives, the thread calls a plugin.
class FailureScope {
 public:
  FailureScope();
  ~FailureScope();
  FailureScope(const FailureScope&) = delete;
  FailureScope& operator=(const FailureScope&) = delete;

  /// Takes the words of a plugin, which fails in this thread: "Split version 1", "getOutputShapes: there are no
  /// inputs". The first ones count. Returns whether there is a scope to take them.
  static bool tell(const char* plugin, const char* words);
  /// Returns `result`, which calls of `plugin` gave; a failure has the words that the plugin told.
  template <class T>
  Result<T> explained(Result<T> result, const PluginIdentity& plugin) const {
    if (!result) result = std::unexpected(explained(result.error(), plugin));
    return result;
  }

 private:
  Error explained(const Error& failure, const PluginIdentity& plugin) const;

  FailureScope* const before_;
  std::string plugin_, words_;
};

}  // namespace kiln::plugin
