#include "tensor/memory_order.h"

#include <cstring>

#include "tensor/view.h"

namespace kiln {
namespace {

/// Whether the axes that have more than one element keep their order.
bool keeps_order(const Format& format, std::span<const int64_t> extents) {
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

}  // namespace

Extents in_memory_order(const Format& format, std::span<const int64_t> extents) {
  Extents result;
  result.reserve(extents.size());
  for (size_t i = 0; i < extents.size(); ++i)
    result.push_back(extents[static_cast<size_t>(format.axis_at(static_cast<int>(i)))]);
  return result;
}

Result<HostTensor> in_memory_order(const Format& format, const HostTensor& value) {
  TRY(require(!format.is_blocked() && (format.rank() == 0 || format.rank() == value.rank()), "a constant ",
              value.dtype(), value.extents(), " has no format ", format));
  Extents extents = in_memory_order(format, value.extents());
  if (keeps_order(format, value.extents()) || value.volume() == 0) return value.reshaped(std::move(extents));
  const Extents strides = in_memory_order(format, row_major_strides(value.extents()));
  HostTensor::Fresh fresh = TRY(HostTensor::make(value.dtype(), extents));
  const std::byte* const source = value.bytes().data();
  std::byte* const target = fresh.data.data();
  switch (bits_of(value.dtype())) {
    case 64: gather_rows<8>(extents, strides, source, target); break;
    case 32: gather_rows<4>(extents, strides, source, target); break;
    case 16: gather_rows<2>(extents, strides, source, target); break;
    case 8: gather_rows<1>(extents, strides, source, target); break;
    default: gather_packed(extents, strides, View(value), MutableView(value.dtype(), extents, target));
  }
  return std::move(fresh.tensor);
}

Result<HostTensor> from_memory_order(const Format& format, DType dtype, const Extents& extents,
                                     std::span<const std::byte> stored) {
  TRY(require(std::ssize(stored) == size_bytes(dtype, format.storage_volume(extents)), std::ssize(stored),
              " bytes for ", dtype, extents, " in format ", format));
  TRY(require(bits_of(dtype) >= 8 || !format.is_blocked(), dtype, " in blocks, format ", format,
              ", cannot be brought into linear order"));
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, extents));
  Extents strides(extents.size());  // of the axes, that which is in blocks counted in blocks
  int64_t stride = format.block();
  for (int position = static_cast<int>(extents.size()); position-- > 0;) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    strides[axis] = stride;
    const bool is_blocked = format.is_blocked() && static_cast<int>(axis) == format.block_axis();
    stride *= is_blocked ? (extents[axis] + format.block() - 1) / format.block() : extents[axis];
  }
  const View source(dtype, Extents{format.storage_volume(extents)}, stored.data());
  const MutableView target(dtype, extents, fresh.data.data());
  Extents at(extents.size(), 0);
  for (int64_t i = 0, count = volume(extents); i < count; ++i) {
    int64_t from = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const bool is_blocked = format.is_blocked() && static_cast<int>(axis) == format.block_axis();
      from +=
          is_blocked ? at[axis] / format.block() * strides[axis] + at[axis] % format.block() : at[axis] * strides[axis];
    }
    target.copy_element(i, source, from);
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == extents[axis];) at[axis] = 0;
  }
  return std::move(fresh.tensor);
}

}  // namespace kiln
