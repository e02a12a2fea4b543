/// Streams by the handles that programs hold as cudaStream_t. The library owns them: the CUDA runtime's functions come
/// here through the private entry.
#pragma once

#include <cstdint>
#include <memory>

#include "api/base/private_entry.h"
#include "backend/cpu/device/host_stream.h"
#include "base/error.h"

namespace kiln::api {

/// A stream's handle is no pointer: it counts slots and how often each was used, so that one that was never given out
/// or was destroyed is recognised. Slots and their streams live as long as the process; a destroyed stream is used
/// again.
class StreamTable {
 public:
  /// The process's table. One that was forked off has its own, which knows no handle of the process before it.
  static StreamTable& instance();
  ~StreamTable();

  Result<void*> create(uint32_t flags, int32_t priority);
  /// Does what is queued first.
  Status destroy(void* handle);
  /// The stream of a handle of `create`, or of one of the three default ones, which are made when first asked for.
  /// Takes no lock once a stream is there.
  Result<Ref<cpu::HostStream>> find(void* handle);
  /// The same for queueing work: on the legacy stream it waits for all that blocking streams have, on those for what
  /// the legacy stream has. Fails with kState for the legacy stream while a blocking one is being captured.
  Result<Ref<cpu::HostStream>> find_for_work(void* handle);
  Result<uint32_t> flags(void* handle) const;
  Result<int32_t> priority(void* handle) const;
  /// Waits for all streams but those that are being captured; the first error. Fails with kState for a thread that has
  /// a stand-in: one of the streams is the one that its call is part of.
  Status synchronize_all();

  /// From here on this thread's default streams are the one of `handle`, and its other streams do not follow them; null
  /// undoes that. Returns what was before. Code that runs as work of a stream, and does not know, may so use the
  /// default streams: they would wait for that work, and two such pieces of work for each other.
  static void* set_stand_in(void* handle);

 private:
  StreamTable();
  struct Slot;
  struct Slots;
  Slot* slot_of(void* handle) const;
  Result<Ref<cpu::HostStream>> legacy();
  template <class F>
  void for_each_live(F use) const;
  std::unique_ptr<Slots> slots_;
};

}  // namespace kiln::api
