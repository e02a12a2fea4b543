/// Page-locked memory of the host, which kernels read and write where it is.
#pragma once

#include <vector>

#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {

/// The driver takes a tenth of a millisecond to lock a page, so small pieces take one that another has given back.
class PinnedMemory {
 public:
  static Result<std::shared_ptr<PinnedMemory>> create(CudaDevice& device);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;

  /// Zeros.
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
