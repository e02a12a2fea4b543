#include "api/entry/status.h"
#include "api/entry/stream_entry.h"
#include "api/run/stream_table.h"

namespace kiln::api {

namespace {

constexpr uint32_t kNoTiming = 2;  // flag of an event, as CUDA has it

/// Calls `use(event)` with the event of a handle.
template <class F>
KilnStatus with_event(void* handle, F use) noexcept {
  return entry_guard([&]() -> KilnStatus {
    const auto event = event_handles().find(handle);
    if (!event) return failed(kKilnBadHandle, event_handles().unknown(handle));
    return use(event);
  });
}

KilnStatus create(uint32_t flags, void** event) {
  return entry_guard([&]() -> Status {
    TRY(require(event, "the address of the new event is null"));
    const auto timing = flags & kNoTiming ? cpu::HostEvent::Timing::kOff : cpu::HostEvent::Timing::kOn;
    *event = event_handles().add(std::make_shared<cpu::HostEvent>(timing));
    return {};
  });
}

KilnStatus destroy(void* event) {
  return entry_guard([&]() -> KilnStatus {
    return event_handles().take(event) ? kKilnOk : failed(kKilnBadHandle, event_handles().unknown(event));
  });
}

KilnStatus record(void* event, void* stream) {
  return with_event(event, [&](const std::shared_ptr<cpu::HostEvent>& e) {
    return with_stream_for_work(stream, [&](cpu::HostStream& s) { return queued(s.record(e)); });
  });
}

KilnStatus synchronize(void* event) {
  return with_event(event, [](const auto& e) { return finished(e->synchronize()); });
}

KilnStatus query(void* event) {
  return with_event(event, [](const auto& e) { return reached(e->query()); });
}

KilnStatus elapsed_ms(void* start, void* end, float* ms) {
  return with_event(start, [&](const std::shared_ptr<cpu::HostEvent>& from) {
    return with_event(end, [&](const std::shared_ptr<cpu::HostEvent>& to) -> KilnStatus {
      if (!ms) return failed(kKilnBadValue, "the address of the time is null");
      const Result<float> elapsed = cpu::HostEvent::elapsed_ms(*from, *to);
      if (elapsed) {
        *ms = *elapsed;
        return kKilnOk;
      }
      // One of two valid events is not reached yet, stands in a capture, or keeps no time.
      if (elapsed.error().code == Code::kState)
        for (const auto& event : {from, to})
          if (const Result<bool> there = event->query(); there && !*there) return kKilnNotReady;
      return failed(elapsed.error());
    });
  });
}

}  // namespace

KilnEventEntry event_entry() { return {create, destroy, record, synchronize, query, elapsed_ms}; }

}  // namespace kiln::api
