/// Page-locked memory of the host, called pinned in names: kernels read and write it where it is.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {

/// The driver takes a tenth of a millisecond to lock a page, so small pieces take one that another has given back.
class PinnedMemory {
 public:
  static Result<std::shared_ptr<PinnedMemory>> create(CudaDevice& device);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;

  /// Returns memory that is all zeros.
  Result<Buffer> allocate(int64_t size_bytes);

 private:
  static constexpr int64_t kPageBytes = 4096;
  static constexpr size_t kMostSpare = 64;

  explicit PinnedMemory(CudaDevice& device) : device_(device) {}
  static void release(void* self, void* data, int64_t size_bytes);
  void free(void* data);

  CudaDevice& device_;
  std::mutex mutex_;
  std::vector<void*> spare_;  ///< pages
};

}  // namespace kiln::cuda
