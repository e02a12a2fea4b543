#include "api/entry/stream_entry.h"

#include "api/entry/status.h"
#include "api/run/stream_table.h"

namespace kiln::api {
namespace {

StreamTable& table() { return StreamTable::instance(); }

/// Calls `use(stream)`, which returns a Status, with the stream of a handle.
template <class F>
KilnStatus with_stream(void* handle, F use) noexcept {
  return entry_guard([&]() -> KilnStatus {
    const Result<Ref<Stream>> found = table().find(handle);
    if (!found) return failed(kKilnBadHandle, found.error().message);
    return use(found->get());
  });
}

KilnStatus finished(const Status& done) { return done ? kKilnOk : failed(kKilnWorkFailed, done.error().message); }

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
  return with_stream(stream, [](Stream& s) { return finished(s.synchronize()); });
}

/// Host work runs on whoever waits for it: asking makes it done.
KilnStatus query(void* stream) { return synchronize(stream); }

KilnStatus launch_host(void* stream, void (*work)(void*), void* argument) {
  return with_stream(stream, [&](Stream& s) -> KilnStatus {
    if (!work) return failed(kKilnBadValue, "the function is null");
    const Status queued = s.launch_host(work, argument);
    return queued ? kKilnOk : failed(queued.error());
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
  entry.flags = flags;
  entry.priority = priority;
  entry.synchronize_all = synchronize_all;
  return entry;
}

KilnEventEntry event_entry() { return {}; }
KilnGraphEntry graph_entry() { return {}; }

}  // namespace kiln::api
