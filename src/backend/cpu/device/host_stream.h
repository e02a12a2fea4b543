/// A stream of host work: a queue that whoever synchronises runs on its own thread.
#pragma once

#include <memory>

#include "backend/cpu/device/host_event.h"
#include "backend/cpu/device/host_graph.h"
#include "backend/cpu/device/host_queue.h"
#include "backend/cpu/device/standby.h"
#include "device/device.h"

namespace kiln::cpu {

/// Work runs on the thread that waits for it (synchronize, an event's, another stream's that waits for this one), or on
/// a thread of the standby where nobody waits. Destroying a stream runs what is queued. In a process that was forked
/// off the one that made it, a stream runs nothing, and what it holds is not freed.
class HostStream final : public Stream {
 public:
  explicit HostStream(std::shared_ptr<Standby> standby);
  ~HostStream() override;
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  /// Runs the oldest work itself when 1024 pieces are queued.
  Status launch_host(void (*work)(void*), void* argument) override;
  /// Fails with kState in the stream's own work, and while it is being captured.
  Status synchronize() override;
  void fault(Error error) override { queue_->fault(std::move(error)); }
  bool faulted() const override { return queue_->faulted(); }
  bool capturing() const override { return queue_->capturing(); }

  /// Queues `work(argument, faulted)` and lets go of the argument after the run, or with the last graph that holds it.
  Status launch_kept(void (*work)(void* argument, bool faulted), std::shared_ptr<void> argument);
  /// Whether all work is done; if not, it soon will be without anybody waiting. Fails as `synchronize` does.
  Result<bool> query();

  /// Marks the end of the work queued so far.
  Status record(const std::shared_ptr<HostEvent>& event);
  /// Later work waits for the event's latest mark, and fails if the work before that mark did. Fails with kState if one
  /// of the two is being captured and the other is not, or is in another capture; else joins the event's capture.
  Status wait(const HostEvent& event);
  /// Later work waits for all that `other` has now. Nothing if one of them is being captured.
  void follow(const HostStream& other);

  /// Makes the stream record work from here on, not run it.
  Status begin_capture();
  /// Ends the capture that began here. Fails with kState if none did, or if it was invalidated.
  Result<std::shared_ptr<const HostGraph>> end_capture();
  /// Spoils the capture that the stream is in, and leaves it.
  void abandon_capture();
  std::shared_ptr<const HostCapture> capture() const { return queue_->capture(); }
  /// Queues a graph's work as one piece.
  Status launch(std::shared_ptr<const HostGraph> graph);

 private:
  Status refuse_if_lost() const;
  Status refuse_in_capture(const char* call);

  std::shared_ptr<Standby> standby_;
  std::shared_ptr<HostQueue> queue_;
};

}  // namespace kiln::cpu
