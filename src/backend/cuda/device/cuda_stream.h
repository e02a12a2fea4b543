/// A stream of a CUDA device: one of our own, or one of the application's in our clothes.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/cuda/device/driver.h"
#include "device/device.h"

namespace kiln::cuda {

class CudaDevice;
class LaunchRecorder;

class CudaStream final : public Stream {
 public:
  /// A new one, which does not wait for the legacy default stream.
  static Result<std::unique_ptr<CudaStream>> create(CudaDevice& device);
  /// Somebody else's, for as long as this object lives; a default stream's handle (0, 1, 2) too. Allocates nothing.
  CudaStream(CudaDevice& device, StreamHandle handle) : device_(device), handle_(handle), owned_(false) {}
  /// No queue of the driver's: `launch` gives everything to `recorder`.
  CudaStream(CudaDevice& device, LaunchRecorder& recorder)
      : device_(device), handle_(nullptr), owned_(false), has_queue_(false), recorder_(&recorder) {}
  /// Ours is destroyed; what is queued is still done.
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  CudaDevice& device() const { return device_; }
  StreamHandle handle() const {
    CHECK(has_queue_);
    return handle_;
  }
  /// No other stream's, also of later ones, as a handle would be; 0: unknown, for the per-thread default stream is
  /// another one in every thread.
  unsigned long long id() const;
  bool has_queue() const { return has_queue_; }
  /// Told of every launch while this stream is captured for a recording of ours; null: nobody.
  LaunchRecorder* recorder() const { return recorder_; }
  void set_recorder(LaunchRecorder* recorder) { recorder_ = recorder; }
  /// Whether what is launched is captured by Kiln, to be launched any number of times.
  bool is_recorded() const { return is_recorded_; }
  void set_recorded(bool is_recorded) { is_recorded_ = is_recorded; }
  /// Whether the next launch stands behind another stream's work, which it must not overlap: asked once.
  void note_wait() const { waits_ = true; }
  bool take_wait() const { return std::exchange(waits_, false); }
  /// Notes the kernel that errors name; `name` lives as long as its module.
  void note_kernel(const std::string& name) const { last_kernel_ = &name; }

  /// `work` runs on a thread of the driver and may not call CUDA.
  Status launch_host(void (*work)(void*), void* argument) override;
  Status synchronize() override;
  Status synchronize_within(double limit_us) override;
  void fault(Error error) override;
  bool faulted() const override { return faulted_.load(std::memory_order_acquire); }
  bool capturing() const override;
  void begin_part() override;

 private:
  struct Owned {};
  CudaStream(CudaDevice& device, StreamHandle handle, Owned) : device_(device), handle_(handle), owned_(true) {}

  /// The result of `synchronize` where the driver said `done`.
  Status outcome(Status done);

  CudaDevice& device_;
  const StreamHandle handle_;
  const bool owned_;
  const bool has_queue_ = true;
  mutable std::optional<unsigned long long> id_;  // once asked for
  mutable std::optional<bool> captured_;          // when that was last asked, before the id is known
  LaunchRecorder* recorder_ = nullptr;
  bool is_recorded_ = false;
  std::atomic<bool> faulted_{false};
  mutable bool waits_ = false;  // of the thread that queues
  mutable const std::string* last_kernel_ = nullptr;
  std::mutex mutex_;
  std::optional<Error> fault_;
};

}  // namespace kiln::cuda
