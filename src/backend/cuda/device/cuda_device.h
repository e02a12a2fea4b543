/// A CUDA device by its primary context: memory, streams, modules, constants.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/device/driver.h"
#include "backend/cuda/device/module.h"
#include "base/hash.h"
#include "base/record.h"
#include "device/allocator.h"

namespace kiln::cuda {

class CudaStream;

/// Properties of the GPU by which tactics choose.
struct Properties {
  std::string name;  ///< "NVIDIA H200"
  std::string arch;  ///< "sm_90a": what kernels are compiled for
  int compute_major = 0, compute_minor = 0;
  int num_multiprocessors = 0;
  int max_threads_per_block = 0, max_threads_per_multiprocessor = 0, max_blocks_per_multiprocessor = 0;
  int64_t shared_bytes_per_block = 0;  ///< the most that a launch may ask for
  int64_t shared_bytes_per_multiprocessor = 0;
  int64_t registers_per_multiprocessor = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  double memory_bytes_per_second = 0;  ///< by its clock and width; 0 where the driver does not say
  double clock_hz = 0;
  int driver_version = 0;  ///< 13000 is CUDA 13.0
};

class CudaDevice final : public Device {
 public:
  /// Holds the primary context of device `ordinal` from here on. Fails with kNotFound where there is no such device.
  static Result<std::unique_ptr<CudaDevice>> create(int ordinal);
  static Result<std::unique_ptr<CudaDevice>> create(int ordinal, const Driver& driver);
  ~CudaDevice() override;

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  /// "cuda NVIDIA H200 sm_90, driver 13.0"
  std::string identity() const override;
  int64_t total_memory_bytes() const override { return properties_.memory_bytes; }
  Result<Buffer> allocate(int64_t size_bytes) override;
  Result<Buffer> allocate_pinned(int64_t size_bytes) override;
  Result<std::unique_ptr<Stream>> create_stream() override;
  /// Return when the copy is done, behind all earlier work of `stream`.
  Status copy_to_host(void* host, const void* device, int64_t size_bytes, Stream& stream) override;
  Status copy(void* to, const void* from, int64_t size_bytes, Stream& stream) override;
  Status copy_from_host(void* device, const void* host, int64_t size_bytes, Stream& stream) override;
  Result<Ref<Executor>> executor(std::string_view name) override;
  Result<std::unique_ptr<Event>> create_event(EventTiming timing) override;
  Result<std::unique_ptr<Recording>> record(TimedWork work, void* argument) override;
  Status record_loop(Stream& stream, const RecordedLoop& loop) override;
  Status record_branch(Stream& stream, const RecordedBranch& branch) override;
  Result<std::unique_ptr<Measurement>> measure(TimedWork work, void* argument, double limit_us) override;
  Status usable() override;
  /// Whether kernels read memory at this address, which the program gave.
  bool reaches(const void* address) const;
  /// Gives the device up: nothing is begun on it from here on, and nothing given back, which would wait for ever. A
  /// kernel has not ended, as `why` tells.
  void give_up(std::string why);
  bool given_up() const { return given_up_.load(std::memory_order_acquire); }
  Status check_given_up();  ///< fails if it was
  /// Called once by whoever composes backends: exec/ lies above device/.
  void set_executor(std::unique_ptr<Executor> executor);

  int ordinal() const { return ordinal_; }
  const Driver& driver() const { return driver_; }
  ContextHandle context() const { return context_; }
  const Properties& properties() const { return properties_; }

  /// A copy of a constant on the device, shared by all who ask for equal bytes from the same memory while one of them
  /// lives. `memory` null: the device's own; else it is asked with nothing locked, and may ask this device in turn.
  Result<std::shared_ptr<const Buffer>> upload(std::span<const std::byte> bytes, Allocator* memory = nullptr);
  /// A cubin, loaded once while somebody holds it. Fails with kVersion for one of another architecture.
  Result<std::shared_ptr<const Module>> load(std::span<const std::byte> cubin);
  Result<std::shared_ptr<const Module>> load(const std::shared_ptr<const Bytes>& cubin) { return load(*cubin); }

  /// The one T of this device: made by `T::create(*this)`, a Result<std::shared_ptr<T>>, when first asked for; gone
  /// before the context is. A failure is remembered, but for a lack of memory.
  template <class T>
  Result<Ref<T>> companion();

 private:
  template <class T>
  static constexpr char kTag = 0;
  using ConstantKey = std::pair<Hash128, const void*>;  // bytes and memory
  CudaDevice(const Driver& driver, int ordinal, ContextHandle context, Properties properties);
  Result<Ref<CudaStream>> copies();
  std::shared_ptr<const Buffer> uploaded(const ConstantKey& key, int64_t size_bytes) const;

  const Driver& driver_;
  const int ordinal_;
  const ContextHandle context_;
  const Properties properties_;
  std::unique_ptr<Executor> executor_;
  std::atomic<bool> given_up_{false};
  std::mutex why_mutex_;  // its own: whoever gives up does not wait for whoever waits for the driver
  std::string why_given_up_;
  std::mutex mutex_;  // of what follows
  std::map<ConstantKey, std::weak_ptr<const Buffer>> constants_;
  std::map<Hash128, std::weak_ptr<const Module>> modules_;
  std::unique_ptr<CudaStream> copies_;  ///< of `upload`
  std::mutex companions_mutex_;
  std::map<const void*, Result<std::shared_ptr<void>>> companions_;
};

/// The device's context is the calling thread's while this lives; afterwards it is the one of before again.
class CurrentContext {
 public:
  explicit CurrentContext(const CudaDevice& device);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
  ContextHandle before_ = nullptr;
  bool changed_ = false;
};

/// While this lives, the thread may do what the driver otherwise refuses while another stream of the process is being
/// captured: allocate, load, wait. None of that belongs to a capture.
class OutsideCaptures {
 public:
  explicit OutsideCaptures(const Driver& driver);
  ~OutsideCaptures();
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;

 private:
  const Driver& driver_;
  int mode_;  // ours, then the one of before
  bool known_;
};

/// While this lives, what a capture of the thread's forbids breaks that capture: a copy that waits would be made once,
/// and in no launch of the recording.
class InsideCapture {
 public:
  explicit InsideCapture(const Driver& driver);
  ~InsideCapture();
  InsideCapture(const InsideCapture&) = delete;
  InsideCapture& operator=(const InsideCapture&) = delete;

 private:
  const Driver& driver_;
  int mode_;  // ours, then the one of before
  bool known_;
};

template <class T>
Result<Ref<T>> CudaDevice::companion() {
  const std::lock_guard lock(companions_mutex_);
  auto at = companions_.find(&kTag<T>);
  if (at == companions_.end()) {
    const CurrentContext current(*this);
    const OutsideCaptures outside(driver_);
    Result<std::shared_ptr<T>> made = T::create(*this);
    if (!made && made.error().code == Code::kOutOfMemory) return std::unexpected(made.error());
    at = companions_.emplace(&kTag<T>, std::move(made)).first;
  }
  const std::shared_ptr<void> held = TRY(Result<std::shared_ptr<void>>(at->second));
  return Ref<T>(*static_cast<T*>(held.get()));
}

}  // namespace kiln::cuda
