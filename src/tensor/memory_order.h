/// Brings axes as ops count them to axes as memory has them, and back.
#pragma once

#include <span>

#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// Extents (or starts, strides ...) of a tensor's axes in the order that memory has them, outermost first.
Extents in_memory_order(const Format& format, std::span<const int64_t> extents);

/// The same elements as memory in `format` has them: row-major over the axes in memory order. Everything that hands a
/// constant to a step takes its bytes from here. Shares `value`'s bytes where the order stays. Fails for formats in
/// blocks, which only copies read, and for want of memory.
Result<HostTensor> in_memory_order(const Format& format, const HostTensor& value);

/// Bytes of the memory that has a tensor in `format`, what fills up blocks included. Fails where there are too many.
Result<int64_t> stored_bytes(const Format& format, DType dtype, const Extents& extents);

/// Writes elements to their places in memory in `format`; what fills up blocks stays as it is. `stored` are all bytes
/// of that memory.
Status to_memory_order(const Format& format, const HostTensor& value, std::span<std::byte> stored);

/// The elements of a tensor that memory has in `format`, in row-major order. Fails for want of memory.
Result<HostTensor> from_memory_order(const Format& format, DType dtype, const Extents& extents,
                                     std::span<const std::byte> stored);

}  // namespace kiln
