#include "tensor/host_tensor.h"

#include <cstdlib>
#include <cstring>

#include "base/mapped_pages.h"
#include "tensor/view.h"

namespace kiln {

Result<HostTensor::Fresh> HostTensor::make(DType dtype, Extents extents) {
  const int64_t count = TRY(checked_volume(extents));
  if (count > INT64_MAX / 8)
    return error(Code::kOutOfMemory, "a tensor of ", count, " elements does not fit in memory");
  const auto size = static_cast<size_t>(size_bytes(dtype, count));
  // calloc: large tensors get zero pages from the system instead of a memset. Aligned by hand for vector loads.
  constexpr size_t kAlign = 64;
  void* raw = std::calloc(size + kAlign, 1);
  if (!raw) return error(Code::kOutOfMemory, "no memory for a tensor of ", size, " bytes");
  std::shared_ptr<void> owner(raw, std::free);
  const auto address = (reinterpret_cast<uintptr_t>(raw) + kAlign - 1) / kAlign * kAlign;
  const std::span<std::byte> data(reinterpret_cast<std::byte*>(address), size);
  return Fresh{HostTensor(dtype, std::move(extents), data, std::move(owner)), data};
}

HostTensor HostTensor::of(DType dtype, Extents extents, std::span<const double> values) {
  auto fresh = make(dtype, std::move(extents));
  CHECK(fresh && fresh->tensor.volume() == static_cast<int64_t>(values.size()));
  MutableView view(fresh->tensor.dtype(), fresh->tensor.extents(), fresh->data.data());
  for (size_t i = 0; i < values.size(); ++i) view.set(static_cast<int64_t>(i), values[i]);
  return fresh->tensor;
}

HostTensor HostTensor::of_ints(DType dtype, Extents extents, std::span<const int64_t> values) {
  auto fresh = make(dtype, std::move(extents));
  CHECK(fresh && fresh->tensor.volume() == static_cast<int64_t>(values.size()));
  MutableView view(fresh->tensor.dtype(), fresh->tensor.extents(), fresh->data.data());
  for (size_t i = 0; i < values.size(); ++i) view.set_integer(static_cast<int64_t>(i), values[i]);
  return fresh->tensor;
}

HostTensor HostTensor::reshaped(Extents extents) const {
  CHECK(kiln::volume(extents) == volume());
  return HostTensor(dtype_, std::move(extents), bytes_, owner_);
}

bool HostTensor::operator==(const HostTensor& other) const {
  return dtype_ == other.dtype_ && extents_ == other.extents_ && bytes_.size() == other.bytes_.size() &&
         (bytes_.data() == other.bytes_.data() || bytes_.empty() ||
          std::memcmp(bytes_.data(), other.bytes_.data(), bytes_.size()) == 0);
}

Hash128 hash128(const HostTensor& tensor) {
  const Hash128 elements = hash128(tensor.bytes());
  release_pages(tensor.bytes());
  return combine(hash128(str(tensor.dtype(), tensor.extents())), elements);
}

}  // namespace kiln
