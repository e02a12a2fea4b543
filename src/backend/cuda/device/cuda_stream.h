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

class CudaStream final : public Stream {
 public:
  /// A new one, which does not wait for the legacy default stream.
  static Result<std::unique_ptr<CudaStream>> create(CudaDevice& device);
  /// Somebody else's, for as long as this object lives; a default stream's handle (0, 1, 2) too. Allocates nothing.
  CudaStream(CudaDevice& device, StreamHandle handle) : device_(device), handle_(handle), owned_(false) {}
  /// Ours is destroyed; what is queued is still done.
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  CudaDevice& device() const { return device_; }
  StreamHandle handle() const { return handle_; }
  /// Whether the next launch stands behind another stream's work, which it must not overlap: asked once.
  void note_wait() const { waits_ = true; }
  bool take_wait() const { return std::exchange(waits_, false); }
  /// What errors name; lives as long as its module.
  void note_kernel(const std::string& name) const { last_kernel_ = &name; }

  /// `work` runs on a thread of the driver and may not call CUDA.
  Status launch_host(void (*work)(void*), void* argument) override;
  Status synchronize() override;
  Status synchronize_within(double limit_us) override;
  void fault(Error error) override;
  bool faulted() const override { return faulted_.load(std::memory_order_acquire); }
  bool capturing() const override;

 private:
  struct Owned {};
  CudaStream(CudaDevice& device, StreamHandle handle, Owned) : device_(device), handle_(handle), owned_(true) {}

  /// What `synchronize` returns where the driver said `done`.
  Status outcome(Status done);

  CudaDevice& device_;
  const StreamHandle handle_;
  const bool owned_;
  std::atomic<bool> faulted_{false};
  mutable bool waits_ = false;  // of the thread that queues
  mutable const std::string* last_kernel_ = nullptr;
  std::mutex mutex_;
  std::optional<Error> fault_;
};

}  // namespace kiln::cuda
