#include "api/run/stream_table.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "api/run/devices.h"
#include "base/forks.h"

namespace kiln::api {
namespace {

// A handle: 1 in bit 62, the use of its slot in bits 20 to 61, the slot in bits 4 to 19. Never 0, 1 or 2, never a
// pointer of user space. Uses begin where those of the process before a fork do not come.
constexpr uint32_t kNonBlocking = 1;  // flag of a stream, as CUDA has it
constexpr size_t kMaxStreams = 1 << 13;
constexpr uintptr_t kMark = uintptr_t{1} << 62;
constexpr int kBitsOfUses = 32;
constexpr uintptr_t handle_of(size_t slot, uint64_t use) { return kMark | (use << 20) | (slot << 4); }
constexpr size_t index_in(uintptr_t handle) { return (handle >> 4) & 0xffff; }

std::unexpected<Error> bad_handle(void* handle) {
  return error(Code::kInvalidArgument, "there is no stream ", reinterpret_cast<uintptr_t>(handle),
               ": it is not of this CUDA runtime, or was destroyed");
}

}  // namespace

struct StreamTable::Slot {
  std::atomic<uintptr_t> handle{0};  // 0: free
  uint64_t use = uint64_t{fork_count()} << kBitsOfUses;
  std::atomic<uint32_t> flags{0};
  std::atomic<int32_t> priority{0};
  std::unique_ptr<cpu::HostStream> stream;
};

struct StreamTable::Slots {
  std::mutex mutex;  // guards the members below; slots that exist are read without it
  std::vector<size_t> free;
  std::atomic<size_t> used{0};
  std::array<std::atomic<Slot*>, kMaxStreams> slots{};
  std::atomic<cpu::HostStream*> legacy{nullptr};
};

StreamTable::StreamTable() : slots_(std::make_unique<Slots>()) {}
StreamTable::~StreamTable() = default;

StreamTable& StreamTable::instance() {
  static constinit PerProcess<StreamTable> tables;
  return tables.get([] { return StreamTable(); });
}

StreamTable::Slot* StreamTable::slot_of(void* handle) const {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (!(number & kMark) || index_in(number) >= kMaxStreams) return nullptr;
  Slot* slot = slots_->slots[index_in(number)].load(std::memory_order_acquire);
  return slot && slot->handle.load(std::memory_order_acquire) == number ? slot : nullptr;
}

Result<void*> StreamTable::create(uint32_t flags, int32_t priority) {
  cpu::CpuDevice& device = TRY(host_device());
  const std::lock_guard lock(slots_->mutex);
  size_t index = slots_->used.load(std::memory_order_relaxed);
  Slot* slot = nullptr;
  if (!slots_->free.empty()) {
    index = slots_->free.back();
    slots_->free.pop_back();
    slot = slots_->slots[index].load(std::memory_order_relaxed);
  } else {
    TRY(require(index < kMaxStreams, "there are ", kMaxStreams, " streams already"));
    auto made = std::make_unique<Slot>();
    made->stream = device.create_host_stream();
    slots_->free.reserve(index + 1);  // so that destroy does not fail
    slots_->slots[index].store(slot = made.release(), std::memory_order_release);
    slots_->used.store(index + 1, std::memory_order_release);
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
  slot->stream->abandon_capture();
  Status done = slot->stream->synchronize();
  auto number = reinterpret_cast<uintptr_t>(handle);
  if (!slot->handle.compare_exchange_strong(number, 0)) return bad_handle(handle);
  const std::lock_guard lock(slots_->mutex);
  slots_->free.push_back(index_in(number));
  return done;
}

namespace {

/// The default stream of a thread: a stream as others are, which ends with its thread.
struct ThreadStream {
  void* handle = nullptr;
  ~ThreadStream() {
    if (handle) static_cast<void>(StreamTable::instance().destroy(handle));  // nobody is left to hear of an error
  }
};
thread_local ThreadStream thread_stream;
thread_local void* stand_in = nullptr;  // for the default streams; null: they stand for themselves

}  // namespace

void* StreamTable::set_stand_in(void* handle) { return std::exchange(stand_in, handle); }

Result<Ref<cpu::HostStream>> StreamTable::legacy() {
  if (cpu::HostStream* made = slots_->legacy.load(std::memory_order_acquire)) return Ref<cpu::HostStream>(*made);
  cpu::CpuDevice& device = TRY(host_device());
  const std::lock_guard lock(slots_->mutex);
  if (!slots_->legacy.load(std::memory_order_relaxed))
    slots_->legacy.store(device.create_host_stream().release(), std::memory_order_release);
  return Ref<cpu::HostStream>(*slots_->legacy.load(std::memory_order_relaxed));
}

Result<Ref<cpu::HostStream>> StreamTable::find(void* handle) {
  if (const Slot* slot = slot_of(handle)) [[likely]]
    return Ref<cpu::HostStream>(*slot->stream);
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (const Slot* slot = number <= kKilnPerThreadStream ? slot_of(stand_in) : nullptr)
    return Ref<cpu::HostStream>(*slot->stream);
  if (number == kKilnDefaultStream || number == kKilnLegacyStream) return legacy();
  if (number != kKilnPerThreadStream) return bad_handle(handle);
  if (!slot_of(thread_stream.handle)) thread_stream.handle = TRY(create(0, 0));  // none, or of before a fork
  return Ref<cpu::HostStream>(*slot_of(thread_stream.handle)->stream);
}

Result<Ref<cpu::HostStream>> StreamTable::find_for_work(void* handle) {
  cpu::HostStream& stream = TRY(find(handle));
  if (stand_in) return Ref<cpu::HostStream>(stream);
  const cpu::HostStream* shared = slots_->legacy.load(std::memory_order_acquire);
  if (&stream != shared) {
    const Slot* slot = slot_of(handle);
    const bool blocking = !slot || !(slot->flags & kNonBlocking);
    if (shared && blocking) stream.follow(*shared);
    return Ref<cpu::HostStream>(stream);
  }
  bool captured = false;
  for_each_live([&](const Slot& slot) {
    if (slot.flags & kNonBlocking) return;
    captured |= slot.stream->capture() != nullptr;
    stream.follow(*slot.stream);
  });
  if (captured) return error(Code::kState, "the legacy default stream would wait for a stream that is being captured");
  return Ref<cpu::HostStream>(stream);
}

/// Calls `use(slot)` for every stream that is not destroyed.
template <class F>
void StreamTable::for_each_live(F use) const {
  const size_t used = slots_->used.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    const Slot* slot = slots_->slots[i].load(std::memory_order_acquire);
    if (slot->handle.load(std::memory_order_acquire)) use(*slot);
  }
}

Result<uint32_t> StreamTable::flags(void* handle) const {
  if (const Slot* slot = slot_of(handle)) return slot->flags.load(std::memory_order_relaxed);
  if (reinterpret_cast<uintptr_t>(handle) > kKilnPerThreadStream) return bad_handle(handle);
  return 0u;
}

Result<int32_t> StreamTable::priority(void* handle) const {
  if (const Slot* slot = slot_of(handle)) return slot->priority.load(std::memory_order_relaxed);
  if (reinterpret_cast<uintptr_t>(handle) > kKilnPerThreadStream) return bad_handle(handle);
  return 0;
}

Status StreamTable::synchronize_all() {
  if (stand_in) return error(Code::kState, "a call that is part of a stream's work cannot wait for all streams");
  Status first;
  const auto wait = [&](cpu::HostStream& stream) {
    if (stream.capture()) return;
    Status done = stream.synchronize();
    if (first && !done) first = std::move(done);
  };
  if (cpu::HostStream* shared = slots_->legacy.load(std::memory_order_acquire)) wait(*shared);
  for_each_live([&](const Slot& slot) { wait(*slot.stream); });
  return first;
}

}  // namespace kiln::api
