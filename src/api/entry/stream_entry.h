/// Streams, events and graphs for the CUDA runtime's functions.
#pragma once

#include "api/base/private_entry.h"
#include "api/entry/status.h"
#include "api/run/event_table.h"
#include "api/run/stream_table.h"

namespace kiln::api {

KilnStreamEntry stream_entry();
KilnEventEntry event_entry();
KilnGraphEntry graph_entry();

/// Calls of a stream's entry that deal with graphs.
KilnStatus begin_capture(void* stream);
KilnStatus end_capture(void* stream, void** graph);
KilnStatus capture_state(void* stream, KilnCaptureState* state);

/// The result of waiting, asking and queueing. An error of work that failed is not one of the call itself.
KilnStatus finished(const Status& done) noexcept;
KilnStatus reached(const Result<bool>& there) noexcept;
KilnStatus queued(const Status& done) noexcept;

/// Calls `use(stream)`, which returns a KilnStatus, with the stream of a handle.
template <class F>
KilnStatus with_stream(void* handle, F use) noexcept {
  return entry_guard([&]() -> KilnStatus {
    const auto found = StreamTable::instance().find(handle);
    if (!found) return failed(kKilnBadHandle, found.error().message);
    return use(found->get());
  });
}

/// The same for queueing work, which may be refused because of a capture.
template <class F>
KilnStatus with_stream_for_work(void* handle, F use) noexcept {
  return entry_guard([&]() -> KilnStatus {
    const auto found = StreamTable::instance().find_for_work(handle);
    if (!found)
      return failed(found.error().code == Code::kState ? kKilnNotPermitted : kKilnBadHandle, found.error().message);
    return use(found->get());
  });
}

}  // namespace kiln::api
