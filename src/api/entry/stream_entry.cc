#include "api/entry/stream_entry.h"

namespace kiln::api {

// A stream's or event's own refusal has code kState; every other error is that of work that failed.
KilnStatus finished(const Status& done) noexcept {
  if (done) return kKilnOk;
  return failed(done.error().code == Code::kState ? kKilnNotPermitted : kKilnWorkFailed, done.error().message);
}
KilnStatus reached(const Result<bool>& there) noexcept {
  if (!there) return finished(std::unexpected(there.error()));
  return *there ? kKilnOk : kKilnNotReady;
}
KilnStatus queued(const Status& done) noexcept { return done ? kKilnOk : failed(done.error()); }

namespace {

StreamTable& table() { return StreamTable::instance(); }

KilnStatus create(uint32_t flags, int32_t priority, void** stream) {
  return entry_guard([&]() -> Status {
    TRY(require(stream, "the address of the new stream is null"));
    *stream = TRY(table().create(flags, priority));
    return {};
  });
}

KilnStatus destroy(void* stream) {
  return entry_guard([&]() -> KilnStatus {
    if (const auto found = table().flags(stream); !found) return failed(kKilnBadHandle, found.error().message);
    return finished(table().destroy(stream));
  });
}

KilnStatus synchronize(void* stream) {
  return with_stream(stream, [](cpu::HostStream& s) { return finished(s.synchronize()); });
}

KilnStatus query(void* stream) {
  return with_stream(stream, [](cpu::HostStream& s) { return reached(s.query()); });
}

KilnStatus launch_host(void* stream, void (*work)(void*), void* argument) {
  return with_stream_for_work(stream, [&](cpu::HostStream& s) -> KilnStatus {
    if (!work) return failed(kKilnBadValue, "the function is null");
    return queued(s.launch_host(work, argument));
  });
}

/// Work with an argument that is its own to release.
struct Kept {
  void (*work)(void*, int32_t);
  void* argument;
  void (*release)(void*);
  ~Kept() {
    if (release) release(argument);
  }
};

KilnStatus launch_kept(void* stream, void (*work)(void*, int32_t), void* argument, void (*release)(void*)) {
  return with_stream_for_work(stream, [&](cpu::HostStream& s) -> KilnStatus {
    if (!work || !release) return failed(kKilnBadValue, "a function is null");
    auto kept = std::make_shared<Kept>(work, argument, nullptr);
    kept->release = release;
    return queued(s.launch_kept(
        [](void* self, bool faulted) {
          const Kept& kept = *static_cast<Kept*>(self);
          kept.work(kept.argument, faulted ? 1 : 0);
        },
        std::move(kept)));
  });
}

KilnStatus wait_event(void* stream, void* event) {
  return with_stream_for_work(stream, [&](cpu::HostStream& s) -> KilnStatus {
    const auto found = event_handles().find(event);
    if (!found) return failed(kKilnBadHandle, event_handles().unknown(event));
    return queued(s.wait(*found));
  });
}

KilnStatus flags(void* stream, uint32_t* flags) {
  return entry_guard([&]() -> KilnStatus {
    const auto found = table().flags(stream);
    if (!found) return failed(kKilnBadHandle, found.error().message);
    if (!flags) return failed(kKilnBadValue, "the address of the flags is null");
    *flags = *found;
    return kKilnOk;
  });
}

KilnStatus priority(void* stream, int32_t* priority) {
  return entry_guard([&]() -> KilnStatus {
    const auto found = table().priority(stream);
    if (!found) return failed(kKilnBadHandle, found.error().message);
    if (!priority) return failed(kKilnBadValue, "the address of the priority is null");
    *priority = *found;
    return kKilnOk;
  });
}

KilnStatus synchronize_all() {
  return entry_guard([] { return finished(table().synchronize_all()); });
}

}  // namespace

KilnStreamEntry stream_entry() {
  KilnStreamEntry entry{};
  entry.create = create;
  entry.destroy = destroy;
  entry.synchronize = synchronize;
  entry.query = query;
  entry.launch_host = launch_host;
  entry.launch_kept = launch_kept;
  entry.wait_event = wait_event;
  entry.begin_capture = begin_capture;
  entry.end_capture = end_capture;
  entry.capture_state = capture_state;
  entry.flags = flags;
  entry.priority = priority;
  entry.synchronize_all = synchronize_all;
  return entry;
}

}  // namespace kiln::api
