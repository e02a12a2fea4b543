/// Streams by the handles that programs hold as cudaStream_t. The library owns them: the CUDA runtime's functions come
/// here through the private entry.
#pragma once

#include <cstdint>

#include "api/base/private_entry.h"
#include "base/error.h"
#include "device/device.h"

namespace kiln::api {

/// A stream's handle is no pointer: it counts slots and how often each was used, so that one that was never given out
/// or was destroyed is recognised. Slots and their streams live as long as the process; a destroyed stream is used
/// again.
class StreamTable {
 public:
  /// The process's table.
  static StreamTable& instance();

  Result<void*> create(uint32_t flags, int32_t priority);
  /// Does what is queued first.
  Status destroy(void* handle);
  /// Of a handle of `create`, or one of the three default ones, which are made when first asked for. Takes no lock once
  /// a stream is there.
  Result<Ref<Stream>> find(void* handle);
  Result<uint32_t> flags(void* handle) const;
  Result<int32_t> priority(void* handle) const;
  /// Waits for all streams; the first error.
  Status synchronize_all();

 private:
  StreamTable();
  ~StreamTable() = delete;
  struct Slot;
  struct Slots;
  Slot* slot_of(void* handle) const;
  Slots& slots_;
};

}  // namespace kiln::api
