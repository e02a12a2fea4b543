/// The stream on which the copy of a plugin in a context queues its work.
#pragma once

#include "ops/plugin_object.h"
#include "plugin/api_tensors.h"
#include "plugin/failure_scope.h"
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
  /// While it lives, this thread calls a plugin, in a run or for one. On a host such a run is work of a program's
  /// stream, for which the default streams wait: meanwhile they are the plugin's own.
  class Call {
   public:
    explicit Call(const PluginStream& stream) : host_(stream.own_ ? stream.host_ : nullptr) {
      if (host_) before_ = host_->set_default(stream.own_);
    }
    ~Call() {
      if (host_) host_->set_default(before_);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    HostStreams* const host_;
    void* before_ = nullptr;
  };

  /// Has `enqueue(stream)` queue the work of a run, and waits for that of a host's stream, also where the call fails.
  template <class Enqueue>
  Status run(const PluginIdentity& plugin, const PluginRun& run, Enqueue enqueue) {
    const FailureScope failure;
    const int64_t refused = host_ ? host_->num_refused_launches() : 0;
    const int32_t code = [&] {
      const Call call(*this);
      return enqueue(static_cast<cudaStream_t>(own_ ? own_ : run.stream));
    }();
    Status done = wait();
    if (host_ && host_->num_refused_launches() != refused)  // whatever code the plugin returned
      return error(Code::kUnsupported, plugin,
                   ": enqueue launched a CUDA kernel, which cannot run because the engine runs on the CPU; use a "
                   "machine with an NVIDIA GPU, or compute in host code");
    TRY(failure.explained(returned(plugin, "enqueue", code), plugin));
    return done;
  }
  /// Waits for what the plugin queued on the host's stream; does nothing where runs bring a stream.
  Status wait() { return own_ ? host_->synchronize(own_) : Status(); }

 private:
  HostStreams* const host_;
  void* own_ = nullptr;
};

}  // namespace kiln::plugin
