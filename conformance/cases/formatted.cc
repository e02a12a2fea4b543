#include "formatted.h"

#include <algorithm>
#include <cstring>

namespace kiln {
namespace {

/// The place in memory of each element, in row-major order.
std::vector<int64_t> places_of(const Extents& extents, const Format& format) {
  Extents strides(extents.size());
  int64_t stride = format.block();
  const auto block_of = [&](size_t axis) {
    return static_cast<int>(axis) == format.block_axis() ? int64_t{format.block()} : 1;
  };
  for (int position = static_cast<int>(extents.size()); position-- > 0;) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    strides[axis] = stride;
    stride *= (extents[axis] + block_of(axis) - 1) / block_of(axis);
  }
  std::vector<int64_t> places;
  Extents at(extents.size(), 0);
  for (int64_t i = 0; i < volume(extents); ++i) {
    int64_t place = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      place += at[axis] / block_of(axis) * strides[axis] + at[axis] % block_of(axis);
    places.push_back(place);
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == extents[axis];) at[axis] = 0;
  }
  return places;
}

}  // namespace

HostTensor::Fresh garbage(int64_t size_bytes) {
  auto fresh = HostTensor::make(DType::kU8, {size_bytes});
  CHECK(fresh.has_value());
  std::ranges::fill(fresh->data, std::byte{0xa5});
  return std::move(*fresh);
}

HostTensor to_format(const HostTensor& tensor, const Format& format) {
  HostTensor::Fresh memory = garbage(size_bytes(tensor.dtype(), format.storage_volume(tensor.extents())));
  if (format.is_linear()) {
    std::ranges::copy(tensor.bytes(), memory.data.begin());
    return std::move(memory.tensor);
  }
  const auto size = static_cast<size_t>(bits_of(tensor.dtype()) / 8);
  CHECK(size > 0);
  const std::byte* from = tensor.bytes().data();
  for (const int64_t place : places_of(tensor.extents(), format)) {
    std::memcpy(memory.data.data() + static_cast<size_t>(place) * size, from, size);
    from += size;
  }
  return std::move(memory.tensor);
}

HostTensor from_format(DType dtype, const Extents& extents, const Format& format, std::span<const std::byte> memory) {
  auto fresh = HostTensor::make(dtype, extents);
  CHECK(fresh.has_value());
  if (format.is_linear()) {
    std::ranges::copy(memory.first(fresh->data.size()), fresh->data.begin());
    return std::move(fresh->tensor);
  }
  const auto size = static_cast<size_t>(bits_of(dtype) / 8);
  std::byte* to = fresh->data.data();
  for (const int64_t place : places_of(extents, format)) {
    std::memcpy(to, memory.data() + static_cast<size_t>(place) * size, size);
    to += size;
  }
  return std::move(fresh->tensor);
}

}  // namespace kiln
