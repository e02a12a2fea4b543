#include "api/run/stream_table.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "api/run/devices.h"

namespace kiln::api {
namespace {

// A handle: 1 in bit 62, the use of its slot in bits 20 to 61, the slot in bits 4 to 19. Never 0, 1 or 2, never a
// pointer of user space.
constexpr int kMaxStreams = 1 << 13;
constexpr uintptr_t kMark = uintptr_t{1} << 62;
constexpr uintptr_t handle_of(size_t slot, uint64_t use) { return kMark | (use << 20) | (slot << 4); }
constexpr size_t index_in(uintptr_t handle) { return (handle >> 4) & 0xffff; }

std::unexpected<Error> bad_handle(void* handle) {
  return error(Code::kInvalidArgument, "there is no stream ", reinterpret_cast<uintptr_t>(handle),
               ": it is not of this CUDA runtime, or was destroyed");
}

}  // namespace

struct StreamTable::Slot {
  std::atomic<uintptr_t> handle{0};  // 0: free
  uint64_t use = 0;
  uint32_t flags = 0;
  int32_t priority = 0;
  std::unique_ptr<Stream> stream;
};

struct StreamTable::Slots {
  std::mutex mutex;  // of what follows, not of the slots that are there
  std::vector<size_t> free;
  size_t used = 0;
  std::array<std::atomic<Slot*>, kMaxStreams> slots{};
  std::atomic<Stream*> legacy{nullptr};
};

StreamTable::StreamTable() : slots_(*new Slots) {}

StreamTable& StreamTable::instance() {
  static StreamTable& table = *new StreamTable;
  return table;
}

StreamTable::Slot* StreamTable::slot_of(void* handle) const {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (!(number & kMark) || index_in(number) >= kMaxStreams) return nullptr;
  Slot* slot = slots_.slots[index_in(number)].load(std::memory_order_acquire);
  return slot && slot->handle.load(std::memory_order_acquire) == number ? slot : nullptr;
}

Result<void*> StreamTable::create(uint32_t flags, int32_t priority) {
  Device& device = TRY(default_device());
  const std::lock_guard lock(slots_.mutex);
  size_t index = slots_.used;
  Slot* slot = nullptr;
  if (!slots_.free.empty()) {
    index = slots_.free.back();
    slots_.free.pop_back();
    slot = slots_.slots[index].load(std::memory_order_relaxed);
  } else {
    TRY(require(index < kMaxStreams, "there are ", kMaxStreams, " streams already"));
    auto made = std::make_unique<Slot>();
    made->stream = TRY(device.create_stream());
    slots_.free.reserve(slots_.used + 1);  // so that destroy does not fail
    slots_.slots[index].store(slot = made.release(), std::memory_order_release);
    ++slots_.used;
  }
  slot->flags = flags;
  slot->priority = priority;
  const uintptr_t handle = handle_of(index, ++slot->use);
  slot->handle.store(handle, std::memory_order_release);
  return reinterpret_cast<void*>(handle);
}

Status StreamTable::destroy(void* handle) {
  Slot* slot = slot_of(handle);
  if (!slot) return bad_handle(handle);
  Status done = slot->stream->synchronize();
  auto number = reinterpret_cast<uintptr_t>(handle);
  if (!slot->handle.compare_exchange_strong(number, 0)) return bad_handle(handle);
  const std::lock_guard lock(slots_.mutex);
  slots_.free.push_back(index_in(number));
  return done;
}

Result<Ref<Stream>> StreamTable::find(void* handle) {
  if (const Slot* slot = slot_of(handle)) [[likely]]
    return Ref<Stream>(*slot->stream);
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number == kKilnPerThreadStream) {
    thread_local std::unique_ptr<Stream> own;
    if (!own) {
      Device& device = TRY(default_device());
      own = TRY(device.create_stream());
    }
    return Ref<Stream>(*own);
  }
  if (number != kKilnDefaultStream && number != kKilnLegacyStream) return bad_handle(handle);
  if (Stream* made = slots_.legacy.load(std::memory_order_acquire)) return Ref<Stream>(*made);
  Device& device = TRY(default_device());
  const std::lock_guard lock(slots_.mutex);
  if (!slots_.legacy.load(std::memory_order_relaxed))
    slots_.legacy.store(TRY(device.create_stream()).release(), std::memory_order_release);
  return Ref<Stream>(*slots_.legacy.load(std::memory_order_relaxed));
}

Result<uint32_t> StreamTable::flags(void* handle) const {
  if (const Slot* slot = slot_of(handle)) return slot->flags;
  if (reinterpret_cast<uintptr_t>(handle) > kKilnPerThreadStream) return bad_handle(handle);
  return 0u;
}

Result<int32_t> StreamTable::priority(void* handle) const {
  if (const Slot* slot = slot_of(handle)) return slot->priority;
  if (reinterpret_cast<uintptr_t>(handle) > kKilnPerThreadStream) return bad_handle(handle);
  return 0;
}

Status StreamTable::synchronize_all() {
  Status first;
  const auto wait = [&](Stream* stream) {
    Status done = stream ? stream->synchronize() : Status{};
    if (first && !done) first = std::move(done);
  };
  size_t used;
  {
    const std::lock_guard lock(slots_.mutex);
    used = slots_.used;
  }
  wait(slots_.legacy.load(std::memory_order_acquire));
  for (size_t i = 0; i < used; ++i) {
    const Slot* slot = slots_.slots[i].load(std::memory_order_acquire);
    if (slot->handle.load(std::memory_order_acquire)) wait(slot->stream.get());
  }
  return first;
}

}  // namespace kiln::api
