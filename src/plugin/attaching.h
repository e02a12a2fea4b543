/// Which plugins a thread is attaching to contexts.
#pragma once

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// A call of `attachToContext` by this thread, as long as this lives. No lock is held while the plugin's code runs:
/// contexts of several threads may be attached at once, and one may wait for another.
class Attaching {
 public:
  explicit Attaching(const PluginObject& object) : object_(object), before_(latest_) { latest_ = this; }
  ~Attaching() { latest_ = before_; }
  Attaching(const Attaching&) = delete;
  Attaching& operator=(const Attaching&) = delete;

  /// Fails (kState) for a thread that is attaching the object: it would make contexts within contexts without end.
  static Status require_outside(const PluginObject& object) {
    for (const Attaching* call = latest_; call; call = call->before_)
      if (&call->object_ == &object)
        return error(Code::kState, object.identity(), ": attachToContext came back to itself");
    return {};
  }

 private:
  static inline thread_local const Attaching* latest_ = nullptr;

  const PluginObject& object_;
  const Attaching* const before_;
};

}  // namespace kiln::plugin
