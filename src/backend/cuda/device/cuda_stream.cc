#include "backend/cuda/device/cuda_stream.h"

#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {

Result<std::unique_ptr<CudaStream>> CudaStream::create(CudaDevice& device) {
  const CurrentContext current(device);
  const Driver& driver = device.driver();
  const OutsideCaptures outside(driver);
  StreamHandle handle = nullptr;
  TRY(driver.check(driver.stream_create_with_priority(&handle, kStreamNonBlocking, 0), "creating a stream"));
  return std::unique_ptr<CudaStream>(new CudaStream(device, handle, Owned()));
}

CudaStream::~CudaStream() {
  if (!owned_) return;
  const CurrentContext current(device_);
  device_.driver().stream_destroy(handle_);
}

Status CudaStream::launch_host(void (*work)(void*), void* argument) {
  const CurrentContext current(device_);
  return device_.driver().check(device_.driver().launch_host_func(handle_, work, argument), "queueing a host function");
}

Status CudaStream::synchronize() {
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  Status done = device_.driver().check(device_.driver().stream_synchronize(handle_), "work of a stream");
  if (!faulted()) [[likely]]
    return done;
  const std::lock_guard lock(mutex_);
  if (!fault_) return done;
  Error first = *std::move(fault_);
  fault_.reset();
  faulted_.store(false, std::memory_order_release);
  return std::unexpected(std::move(first));
}

void CudaStream::fault(Error error) {
  const std::lock_guard lock(mutex_);
  if (!fault_) fault_ = std::move(error);  // the first tells why
  faulted_.store(true, std::memory_order_release);
}

bool CudaStream::capturing() const {
  const CurrentContext current(device_);
  int status = kCaptureNone;
  return device_.driver().stream_is_capturing(handle_, &status) == 0 && status != kCaptureNone;
}

}  // namespace kiln::cuda
