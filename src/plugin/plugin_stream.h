/// The stream on which the copy of a plugin in a context queues its work.
#pragma once

#include "ops/plugin_object.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// The stream of each run, or, where the device has no streams, one of the host's that nobody else uses.
class PluginStream {
 public:
  /// `host` is null where runs bring a stream.
  explicit PluginStream(HostStreams* host) : host_(host) {}
  PluginStream(const PluginStream&) = delete;
  PluginStream& operator=(const PluginStream&) = delete;
  ~PluginStream() {
    if (own_) host_->destroy(own_);
  }

  /// Makes the host's stream, where one is needed.
  Status create() {
    if (host_) own_ = TRY(host_->create());
    return {};
  }
  cudaStream_t of(const PluginRun& run) const { return static_cast<cudaStream_t>(own_ ? own_ : run.stream); }
  /// Waits for what the plugin queued on the host's stream; does nothing where runs bring a stream.
  Status wait() { return own_ ? host_->synchronize(own_) : Status(); }

 private:
  HostStreams* const host_;
  void* own_ = nullptr;
};

}  // namespace kiln::plugin
