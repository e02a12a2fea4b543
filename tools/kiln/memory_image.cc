#include "kiln/memory_image.h"

#include <algorithm>

#include "tensor/view.h"

namespace kiln {
namespace {

/// By axis and index along it: how far on an element lies. An element's place is the sum over its axes.
using Offsets = std::vector<std::vector<int64_t>>;

Offsets offsets_of(const Format& format, const Extents& extents) {
  Offsets offsets(extents.size());
  int64_t stride = format.block();
  for (int position = static_cast<int>(extents.size()) - 1; position >= 0; --position) {
    const int axis = format.axis_at(position);
    const int64_t extent = extents[static_cast<size_t>(axis)];
    const int64_t block = format.is_blocked() && format.block_axis() == axis ? format.block() : 1;
    std::vector<int64_t>& of = offsets[static_cast<size_t>(axis)];
    for (int64_t i = 0; i < extent; ++i) of.push_back(i / block * stride + i % block);
    stride *= (extent + block - 1) / block;
  }
  return offsets;
}

/// Calls `visit(element, place)` for each element, row-major.
template <class Visit>
void for_each_place(const Format& format, const Extents& extents, Visit visit) {
  const Offsets offsets = offsets_of(format, extents);
  const int64_t total = volume(extents);
  Extents at(extents.size(), 0);
  for (int64_t element = 0; element < total; ++element) {
    int64_t place = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) place += offsets[axis][static_cast<size_t>(at[axis])];
    visit(element, place);
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < extents[axis]) break;
      at[axis] = 0;
    }
  }
}

}  // namespace

Result<int64_t> image_bytes(DType dtype, const Format& format, const Extents& extents) {
  TRY(checked_volume(extents));
  return size_bytes(dtype, format.storage_volume(extents));
}

Result<HostTensor> from_image(DType dtype, const Format& format, const Extents& extents,
                              std::span<const std::byte> image) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, extents));
  if (format.is_linear()) {
    std::copy_n(image.begin(), fresh.data.size(), fresh.data.begin());
    return std::move(fresh.tensor);
  }
  const Extents stored{format.storage_volume(extents)};
  const View from(dtype, stored, image.data());
  const MutableView to(dtype, extents, fresh.data.data());
  for_each_place(format, extents, [&](int64_t element, int64_t place) { to.copy_element(element, from, place); });
  return std::move(fresh.tensor);
}

void to_image(const HostTensor& tensor, const Format& format, std::span<std::byte> image) {
  if (format.is_linear()) {
    std::ranges::copy(tensor.bytes(), image.begin());
    return;
  }
  const View from(tensor);
  const MutableView to(tensor.dtype(), Extents{format.storage_volume(tensor.extents())}, image.data());
  for_each_place(format, tensor.extents(),
                 [&](int64_t element, int64_t place) { to.copy_element(place, from, element); });
}

}  // namespace kiln
