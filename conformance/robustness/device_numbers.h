/// Numbers in memory of the device that engines run on.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace robustness {

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
