/// The memory that a program gives instead of the device: its IGpuAllocator or IGpuAsyncAllocator.
#pragma once

#include <NvInferRuntime.h>

#include <memory>

#include "device/allocator.h"

namespace kiln::api {

class ProgramAllocator final : public Allocator, public std::enable_shared_from_this<ProgramAllocator> {
 public:
  /// `allocator` must outlive all memory that it gives. Null where it is.
  static Result<std::shared_ptr<Allocator>> create(nvinfer1::IGpuAllocator* allocator, Device& device);

  /// kOutOfMemory where the program answers null.
  Result<Buffer> allocate(int64_t size_bytes) override;
  const void* source() const override { return &allocator_; }

 private:
  ProgramAllocator(nvinfer1::IGpuAllocator& allocator, Device& device, std::unique_ptr<Stream> stream);
  static void release(void* owner, void* data, int64_t size_bytes);

  nvinfer1::IGpuAllocator& allocator_;
  Device& device_;
  /// The stream in whose order memory is given and taken on a GPU: never the default stream, which would join other
  /// streams and break their captures. Null on a host device.
  std::unique_ptr<Stream> stream_;
};

}  // namespace kiln::api
