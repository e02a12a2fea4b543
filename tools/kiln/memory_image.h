/// Tensors as memory in any format has them, one block of one axis included.
#pragma once

#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// Bytes that memory in `format` takes.
Result<int64_t> image_bytes(DType dtype, const Format& format, const Extents& extents);

/// The tensor whose elements lie so in `image`, row-major. `image` has `image_bytes`.
Result<HostTensor> from_image(DType dtype, const Format& format, const Extents& extents,
                              std::span<const std::byte> image);

/// Writes a tensor's elements to their places in `image`; what fills up blocks stays as it is.
void to_image(const HostTensor& tensor, const Format& format, std::span<std::byte> image);

}  // namespace kiln
