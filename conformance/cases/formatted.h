/// Row-major tensors in memory as a program has them in any format, blocks included; written plainly, to compare with.
#pragma once

#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// Bytes full of garbage.
HostTensor::Fresh garbage(int64_t size_bytes);
/// Bytes that have the tensor's elements where `format` has them, and garbage between. Of types of whole bytes.
HostTensor to_format(const HostTensor& tensor, const Format& format);
/// The other way.
HostTensor from_format(DType dtype, const Extents& extents, const Format& format, std::span<const std::byte> memory);

}  // namespace kiln
