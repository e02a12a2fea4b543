/// A lock under which code of plugins may run.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// Lets one thread in at a time, as std::mutex, and knows which.
class OneAtATime {
 public:
  void lock() {
    mutex_.lock();
    holder_ = std::this_thread::get_id();
  }
  void unlock() {
    holder_ = std::thread::id();
    mutex_.unlock();
  }
  /// Fails (kState) for the thread that is in, which would wait for itself.
  Status require_outside(const PluginIdentity& plugin, const char* call) const {
    if (holder_ != std::this_thread::get_id()) return {};
    return error(Code::kState, plugin, ": ", call, " came back to itself");
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> holder_;
};

}  // namespace kiln::plugin
