#include "api/run/program_allocator.h"

#include <optional>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"

namespace kiln::api {
namespace {

constexpr uint64_t kAlignment = 256;

/// Surrounds a call of a program's allocator: the device is current, as in a call of its own, and captures of other
/// streams are not disturbed.
class Call {
 public:
  explicit Call(Device& device) {
    if (device.kind() != DeviceKind::kCuda) return;
    const auto& gpu = static_cast<cuda::CudaDevice&>(device);
    current_.emplace(gpu);
    outside_.emplace(gpu.driver());
  }

 private:
  std::optional<cuda::CurrentContext> current_;
  std::optional<cuda::OutsideCaptures> outside_;
};

cudaStream_t handle_of(const std::unique_ptr<Stream>& stream) {
  return stream ? reinterpret_cast<cudaStream_t>(static_cast<cuda::CudaStream&>(*stream).handle()) : nullptr;
}

}  // namespace

ProgramAllocator::ProgramAllocator(nvinfer1::IGpuAllocator& allocator, Device& device, std::unique_ptr<Stream> stream)
    : allocator_(allocator), device_(device), stream_(std::move(stream)) {}

Result<std::shared_ptr<Allocator>> ProgramAllocator::create(nvinfer1::IGpuAllocator* allocator, Device& device) {
  if (!allocator) return nullptr;
  std::unique_ptr<Stream> stream;
  if (!device.is_host()) stream = TRY(device.create_stream());
  return std::shared_ptr<Allocator>(new ProgramAllocator(*allocator, device, std::move(stream)));
}

Result<Buffer> ProgramAllocator::allocate(int64_t size_bytes) {
  if (size_bytes == 0) return Buffer();
  const Call call(device_);
  void* data = allocator_.allocateAsync(static_cast<uint64_t>(size_bytes), kAlignment, 0, handle_of(stream_));
  if (!data) return error(Code::kOutOfMemory, "the program's GPU allocator did not give ", size_bytes, " bytes");
  auto owner = std::make_unique<std::shared_ptr<ProgramAllocator>>(shared_from_this());
  Buffer memory(data, size_bytes, owner.release(), &release);  // given back, whatever comes
  TRY(require(reinterpret_cast<uintptr_t>(data) % kAlignment == 0, "the program's GPU allocator gave ", size_bytes,
              " bytes that are not aligned to ", kAlignment));
  if (stream_) TRY(stream_->synchronize());  // from here on any stream may use it
  return memory;
}

void ProgramAllocator::release(void* owner, void* data, int64_t) {
  const std::unique_ptr<std::shared_ptr<ProgramAllocator>> self(static_cast<std::shared_ptr<ProgramAllocator>*>(owner));
  Device& device = (*self)->device_;
  if (device.kind() == DeviceKind::kCuda && static_cast<cuda::CudaDevice&>(device).given_up()) return;  // would wait
  const Call call(device);
  (*self)->allocator_.deallocateAsync(data, handle_of((*self)->stream_));  // false: the program's own business
}

}  // namespace kiln::api
