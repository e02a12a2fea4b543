/// Brings axes as ops count them to axes as memory has them.
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

/// The elements of a tensor that memory has in `format`, blocks included, in row-major order; `stored` are all bytes of
/// that memory. Fails for want of memory, and for elements of less than a byte in blocks.
Result<HostTensor> from_memory_order(const Format& format, DType dtype, const Extents& extents,
                                     std::span<const std::byte> stored);

}  // namespace kiln
