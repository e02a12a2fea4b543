#include "tensor/memory_order.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tensor/view.h"

namespace kiln {
namespace {

/// Whether memory has the elements in row-major order: axes that have more than one element keep their order.
bool keeps_order(const Format& format, std::span<const int64_t> extents) {
  if (format.is_blocked()) return false;
  int last = -1;
  for (int position = 0; position < static_cast<int>(extents.size()); ++position) {
    const int axis = format.axis_at(position);
    if (extents[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

/// Calls `visit(from, to, count)` for rows of elements that are neighbours in the target: `from` is the element of the
/// source that a row begins with, `to` its place.
template <class Visit>
void for_each_row(const Extents& extents, const Extents& strides, Visit visit) {
  const int64_t length = extents.back(), total = volume(extents);
  Extents at(extents.size(), 0);
  int64_t from = 0;
  for (int64_t to = 0; to < total; to += length) {
    visit(from, to, length);
    for (size_t axis = extents.size() - 1; axis-- > 0;) {
      from += strides[axis];
      if (++at[axis] < extents[axis]) break;
      from -= strides[axis] * extents[axis];
      at[axis] = 0;
    }
  }
}

template <int64_t kBytes>
void gather_rows(const Extents& extents, const Extents& strides, const std::byte* source, std::byte* target) {
  const int64_t step = strides.back() * kBytes;
  for_each_row(extents, strides, [&](int64_t from, int64_t to, int64_t count) {
    const std::byte* const in = source + from * kBytes;
    std::byte* const out = target + to * kBytes;
    for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * kBytes, in + i * step, kBytes);
  });
}

/// Elements of less than a byte, one by one.
void gather_packed(const Extents& extents, const Extents& strides, const View& source, const MutableView& target) {
  for_each_row(extents, strides, [&](int64_t from, int64_t to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) target.copy_element(to + i, source, from + i * strides.back());
  });
}

/// Elements in row-major order of `extents`, which are `strides` apart in the source.
void gather(const Extents& extents, const Extents& strides, const View& source, const MutableView& target) {
  const std::byte* const from = source.data();
  std::byte* const to = target.data();
  switch (bits_of(source.dtype())) {
    case 64: return gather_rows<8>(extents, strides, from, to);
    case 32: return gather_rows<4>(extents, strides, from, to);
    case 16: return gather_rows<2>(extents, strides, from, to);
    case 8: return gather_rows<1>(extents, strides, from, to);
    default: return gather_packed(extents, strides, source, target);
  }
}

/// Calls `visit(element, place)` for each element, row-major, and its place in memory that has blocks.
template <class Visit>
void for_each_place(const Format& format, const Extents& extents, Visit visit) {
  std::vector<std::vector<int64_t>> offsets(extents.size());  // by axis and index along it: their sum is the place
  int64_t stride = format.block();
  for (int position = static_cast<int>(extents.size()); position-- > 0;) {
    const int axis = format.axis_at(position);
    const int64_t extent = extents[static_cast<size_t>(axis)], block = format.block_axis() == axis ? format.block() : 1;
    for (int64_t i = 0; i < extent; ++i) offsets[static_cast<size_t>(axis)].push_back(i / block * stride + i % block);
    stride *= (extent + block - 1) / block;
  }
  Extents at(extents.size(), 0);
  for (int64_t element = 0, total = volume(extents); element < total; ++element) {
    int64_t place = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) place += offsets[axis][static_cast<size_t>(at[axis])];
    visit(element, place);
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == extents[axis];) at[axis] = 0;
  }
}

/// Fails unless `stored` are all bytes of a tensor's memory.
Status check_stored(const Format& format, DType dtype, const Extents& extents, std::span<const std::byte> stored) {
  TRY(require(format.rank() == 0 || format.rank() == static_cast<int>(extents.size()), dtype, extents,
              " has no format ", format));
  return require(std::ssize(stored) == TRY(stored_bytes(format, dtype, extents)), std::ssize(stored), " bytes for ",
                 dtype, extents, " in format ", format);
}

}  // namespace

Extents in_memory_order(const Format& format, std::span<const int64_t> extents) {
  Extents result;
  result.reserve(extents.size());
  for (size_t i = 0; i < extents.size(); ++i)
    result.push_back(extents[static_cast<size_t>(format.axis_at(static_cast<int>(i)))]);
  return result;
}

Result<int64_t> stored_bytes(const Format& format, DType dtype, const Extents& extents) {
  TRY(checked_volume(extents));
  return size_bytes(dtype, format.storage_volume(extents));
}

Result<HostTensor> in_memory_order(const Format& format, const HostTensor& value) {
  TRY(require(!format.is_blocked() && (format.rank() == 0 || format.rank() == value.rank()), "a constant ",
              value.dtype(), value.extents(), " has no format ", format));
  Extents extents = in_memory_order(format, value.extents());
  if (keeps_order(format, value.extents()) || value.volume() == 0) return value.reshaped(std::move(extents));
  HostTensor::Fresh fresh = TRY(HostTensor::make(value.dtype(), std::move(extents)));
  TRY(to_memory_order(format, value, fresh.data));
  return std::move(fresh.tensor);
}

Status to_memory_order(const Format& format, const HostTensor& value, std::span<std::byte> stored) {
  TRY(check_stored(format, value.dtype(), value.extents(), stored));
  if (value.volume() == 0) return {};
  if (keeps_order(format, value.extents())) {
    std::ranges::copy(value.bytes(), stored.begin());
    return {};
  }
  const View source(value);
  if (!format.is_blocked()) {
    const Extents extents = in_memory_order(format, value.extents());
    gather(extents, in_memory_order(format, row_major_strides(value.extents())), source,
           MutableView(value.dtype(), extents, stored.data()));
    return {};
  }
  const MutableView target(value.dtype(), Extents{format.storage_volume(value.extents())}, stored.data());
  for_each_place(format, value.extents(),
                 [&](int64_t element, int64_t place) { target.copy_element(place, source, element); });
  return {};
}

Result<HostTensor> from_memory_order(const Format& format, DType dtype, const Extents& extents,
                                     std::span<const std::byte> stored) {
  TRY(check_stored(format, dtype, extents, stored));
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, extents));
  if (keeps_order(format, extents) || stored.empty()) {
    std::ranges::copy(stored, fresh.data.begin());
    return std::move(fresh.tensor);
  }
  const View source(dtype, Extents{format.storage_volume(extents)}, stored.data());
  const MutableView target(dtype, extents, fresh.data.data());
  if (format.is_blocked())
    for_each_place(format, extents,
                   [&](int64_t element, int64_t place) { target.copy_element(element, source, place); });
  else
    gather(extents, format.strides(extents), source, target);
  return std::move(fresh.tensor);
}

}  // namespace kiln
