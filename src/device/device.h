/// A device: memory, streams of ordered work, and the executors that load and run steps on it. Interfaces only; a
/// backend implements them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"

namespace kiln {

class Event;
class Executor;
class Recording;
struct RecordedBranch;
struct RecordedLoop;

/// Memory of a device, freed with it. Aligned to 256 bytes.
class Buffer {
 public:
  using Release = void (*)(void* owner, void* data, int64_t size_bytes);
  Buffer() = default;
  Buffer(void* data, int64_t size_bytes, void* owner, Release release)
      : data_(data), size_bytes_(size_bytes), owner_(owner), release_(release) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (data_ && release_) release_(owner_, data_, size_bytes_);
  }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(owner_, other.owner_);
    std::swap(release_, other.release_);
  }
  void* data_ = nullptr;
  int64_t size_bytes_ = 0;
  void* owner_ = nullptr;
  Release release_ = nullptr;
};

/// Work in order. Several threads may queue; order among them is theirs to keep.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Queues `work(argument)` behind all earlier work. Allocates nothing once the queue has grown to its depth.
  /// On a host device it may run on the thread that synchronises, on a thread of the stream, or at once.
  virtual Status launch_host(void (*work)(void*), void* argument) = 0;
  /// Returns when all queued work is done; the error of work that failed since the last call.
  virtual Status synchronize() = 0;
  /// The same, but not for ever: where work takes longer, the device is given up (`Device::usable`). A host device
  /// waits for its work, which ends.
  virtual Status synchronize_within([[maybe_unused]] double limit_us) { return synchronize(); }
  /// Called by queued work that fails. Work behind it is still called, so that it can let go of what it holds, and
  /// does nothing else while `faulted()`, until the next `synchronize` has returned the error.
  virtual void fault(Error error) = 0;
  virtual bool faulted() const = 0;
  /// Whether work launched now is recorded, to be run any number of times later, instead of being queued.
  virtual bool capturing() const { return false; }
  /// Begins the next part of a recording, on a stream that Device::record gives: what is launched from here on belongs
  /// to it.
  virtual void begin_part() {}
};

enum class DeviceKind : uint8_t { kCpu, kCuda };
enum class EventTiming : uint8_t { kOff, kOn };

/// Work prepared to be timed in turns with others.
class Measurement {
 public:
  virtual ~Measurement() = default;
  /// One turn: runs the work once or, where a single run is too short for the device's clock, several times. The time
  /// of one run in microseconds.
  virtual Result<double> turn_us() = 0;
};
/// Queues or does one run; `stream` as in RunArguments.
using TimedWork = Status (*)(void* argument, Stream* stream);

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  /// The identity that timings and plans depend on: model, instruction set or compute capability, size of the team.
  virtual std::string identity() const = 0;
  virtual int64_t total_memory_bytes() const = 0;
  virtual Result<Buffer> allocate(int64_t size_bytes) = 0;
  /// Zeros in memory of the host that the device reads and writes where it is, and copies to without a wait.
  virtual Result<Buffer> allocate_pinned(int64_t size_bytes);
  virtual Result<std::unique_ptr<Stream>> create_stream() = 0;
  virtual Status copy_to_host(void* host, const void* device, int64_t size_bytes, Stream& stream) = 0;
  virtual Status copy_from_host(void* device, const void* host, int64_t size_bytes, Stream& stream) = 0;
  /// Copies within the device's memory, in the stream's order; without a wait. Fails on a host device.
  virtual Status copy(void* to, const void* from, int64_t size_bytes, Stream& stream);
  /// The executor of that name, or an error that lists those there are.
  virtual Result<Ref<Executor>> executor(std::string_view name) = 0;
  /// Whether the host reads and writes this device's memory where it is.
  virtual bool is_host() const { return kind() == DeviceKind::kCpu; }
  /// `work` has run once before. `argument` outlives the measurement. A turn that takes longer than `limit_us` fails,
  /// and the device is given up.
  virtual Result<std::unique_ptr<Measurement>> measure(TimedWork work, void* argument, double limit_us);
  /// Fails where the device can do nothing more for this process: a kernel never ended, or broke its context.
  virtual Status usable() { return {}; }
  /// Fail with kUnsupported on a host device, whose work is done when its call returns; device/async.h has the types.
  virtual Result<std::unique_ptr<Event>> create_event(EventTiming timing);
  /// Calls `work(argument, stream)` once with a stream that records. Fails if it fails, or waits for the device.
  virtual Result<std::unique_ptr<Recording>> record(TimedWork work, void* argument);
  /// Adds a loop or a branch to what `stream` records. Fail with kUnsupported where the device, or its driver, has none
  /// in recordings: the host has to steer then.
  virtual Status record_loop(Stream& stream, const RecordedLoop& loop);
  virtual Status record_branch(Stream& stream, const RecordedBranch& branch);
  /// Held while a tactic is timed, so that nothing else of this process disturbs it.
  std::mutex& exclusive() { return exclusive_; }

 private:
  std::mutex exclusive_;
};

}  // namespace kiln
