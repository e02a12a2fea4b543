/// Numbers in memory of the device that engines run on, and in memory that the test reaches, too.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace robustness {

/// Memory of cudaMallocManaged, which the host may touch while nothing runs.
template <class T>
struct ManagedAllocator {
  using value_type = T;
  ManagedAllocator() = default;
  template <class U>
  ManagedAllocator(const ManagedAllocator<U>&) {}
  T* allocate(size_t count) {
    void* memory = nullptr;
    if (const cudaError_t failed = cudaMallocManaged(&memory, std::max<size_t>(count, 1) * sizeof(T)))
      throw std::runtime_error(cudaGetErrorString(failed));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) noexcept { cudaFree(memory); }
  bool operator==(const ManagedAllocator&) const { return true; }
};
template <class T>
using Managed = std::vector<T, ManagedAllocator<T>>;

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, std::max<size_t>(count, 1) * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0, count * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T>& numbers) : DeviceArray(numbers.size()) {
    EXPECT_EQ(cudaMemcpy(data_, numbers.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  void* data() { return data_; }
  std::vector<T> read() const {
    std::vector<T> numbers(count_);
    EXPECT_EQ(cudaMemcpy(numbers.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return numbers;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

}  // namespace robustness
