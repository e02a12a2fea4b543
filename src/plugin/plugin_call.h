/// The calls into plugins that a thread has begun and not ended, so that one that comes back to itself is found.
#pragma once

#include <string_view>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// A call of a plugin by this thread, as long as this lives. No lock is held while the plugin's code runs: several
/// threads may make the same call at once, and one may wait for another.
class PluginCall {
 public:
  /// `call` is the function's name, for errors; it lives as long as the program.
  PluginCall(const PluginObject& object, std::string_view call) : object_(object), call_(call), before_(latest_) {
    latest_ = this;
  }
  ~PluginCall() { latest_ = before_; }
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

  /// Fails (kState) for a thread that is in that call of the object: it would come back to itself without end.
  static Status require_outside(const PluginObject& object, std::string_view call) {
    for (const PluginCall* one = latest_; one; one = one->before_)
      if (&one->object_ == &object && one->call_ == call)
        return error(Code::kState, object.identity(), ": ", call, " came back to itself");
    return {};
  }

 private:
  static inline thread_local const PluginCall* latest_ = nullptr;

  const PluginObject& object_;
  const std::string_view call_;
  const PluginCall* const before_;
};

}  // namespace kiln::plugin
