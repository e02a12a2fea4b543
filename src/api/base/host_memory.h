/// Bytes that the library hands to the program: a plan, a timing cache.
#pragma once

#include <NvInferRuntime.h>

#include <cstddef>
#include <vector>

namespace kiln::api {

class HostMemory final : public nvinfer1::IHostMemory, public nvinfer1::apiv::VHostMemory {
 public:
  explicit HostMemory(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) { mImpl = this; }

  void* data() const noexcept override { return bytes_.empty() ? nullptr : const_cast<std::byte*>(bytes_.data()); }
  std::size_t size() const noexcept override { return bytes_.size(); }
  nvinfer1::DataType type() const noexcept override { return nvinfer1::DataType::kINT8; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace kiln::api
