#include "device/device.h"

#include <chrono>
#include <cstring>

#include "device/async.h"

namespace kiln {
namespace {

/// A measurement of work that is done when its call returns.
class WallClock final : public Measurement {
 public:
  WallClock(TimedWork work, void* argument) : work_(work), argument_(argument) {}
  Result<double> turn_us() override {
    const auto start = std::chrono::steady_clock::now();
    TRY(work_(argument_, nullptr));
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  TimedWork work_;
  void* argument_;
};

}  // namespace

Result<std::unique_ptr<Measurement>> Device::measure(TimedWork work, void* argument, double) {
  return std::make_unique<WallClock>(work, argument);
}

Result<Buffer> Device::allocate_pinned(int64_t size_bytes) {
  Buffer memory = TRY(allocate(size_bytes));
  std::memset(memory.data(), 0, static_cast<size_t>(size_bytes));
  return memory;
}

Status Device::copy(void*, const void*, int64_t, Stream&) {
  return error(Code::kUnsupported, "device '", identity(), "' copies nothing: its memory is the host's");
}
Result<std::unique_ptr<Event>> Device::create_event(EventTiming) {
  return error(Code::kUnsupported, "device '", identity(), "' has no events");
}
Result<std::unique_ptr<Recording>> Device::record(TimedWork, void*) {
  return error(Code::kUnsupported, "device '", identity(), "' records no work");
}
Status Device::record_loop(Stream&, const RecordedLoop&) {
  return error(Code::kUnsupported, "device '", identity(), "' records no loops");
}
Status Device::record_branch(Stream&, const RecordedBranch&) {
  return error(Code::kUnsupported, "device '", identity(), "' records no branches");
}

Status Recording::replace(size_t part, Status (*)(void*, Stream*), void*) {
  return error(Code::kUnsupported, "part ", part, " of a recording cannot be replaced");
}

}  // namespace kiln
