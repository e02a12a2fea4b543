#include "backend/cuda/device/cuda_stream.h"

#include <chrono>
#include <thread>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/launch_recorder.h"

namespace kiln::cuda {
namespace {

constexpr std::chrono::microseconds kWaitBusily(2000), kNap(50);

}  // namespace

Result<std::unique_ptr<CudaStream>> CudaStream::create(CudaDevice& device) {
  TRY(device.check_given_up());
  const CurrentContext current(device);
  const Driver& driver = device.driver();
  const OutsideCaptures outside(driver);
  StreamHandle handle = nullptr;
  TRY(driver.check(driver.stream_create_with_priority(&handle, kStreamNonBlocking, 0), "creating a stream"));
  std::unique_ptr<CudaStream> made(new CudaStream(device, handle, Owned()));
  made->id();  // now: several threads may use it
  return made;
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
  return outcome(device_.driver().check(device_.driver().stream_synchronize(handle_), "work of a stream"));
}

/// Asks again and again, for the driver's own wait has no end.
Status CudaStream::synchronize_within(double limit_us) {
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  const auto work = [&] {
    return last_kernel_ ? str("kernel '", *last_kernel_, "'") : std::string("work of a stream");
  };
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const int result = device_.driver().stream_query(handle_);
    if (result == kSuccess) [[likely]]
      return outcome({});
    if (result != kNotReady) return outcome(std::unexpected(device_.driver().failure(result, work())));
    const std::chrono::duration<double, std::micro> waited = std::chrono::steady_clock::now() - start;
    if (waited.count() > limit_us) break;
    if (waited > kWaitBusily) std::this_thread::sleep_for(kNap);
  }
  const std::string why = str(work(), " did not end within ", limit_us / 1e6, " s");
  device_.give_up(why);
  return error(Code::kDevice, why);
}

Status CudaStream::outcome(Status done) {
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

unsigned long long CudaStream::id() const {
  if (id_) return *id_;
  if (captured_ ? *captured_ : capturing()) return 0;  // asking would break the capture
  unsigned long long id = 0;
  const bool is_per_thread = reinterpret_cast<uintptr_t>(handle_) == kPerThreadStream;
  if (is_per_thread || device_.driver().stream_get_id(handle_, &id) != 0) id = 0;
  return id_.emplace(id);
}

void CudaStream::begin_part() {
  if (recorder_ && has_queue_) recorder_->begin_part(handle_);
}

bool CudaStream::capturing() const {
  if (!has_queue_) return true;
  const CurrentContext current(device_);
  int status = kCaptureNone;
  const bool is = device_.driver().stream_is_capturing(handle_, &status) == 0 && status != kCaptureNone;
  if (!id_) captured_ = is;  // several threads use only streams whose id is known
  return is;
}

}  // namespace kiln::cuda
