/// Bytes of Dims that a plan keeps.
#pragma once

#include <NvInferRuntimeBase.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace kiln::api {

/// Copies `count` Dims, from any address. Their padding and the extents behind the rank, which programs leave as they
/// were, become zero: equal Dims have equal bytes.
inline void copy_dims(std::byte* to, const void* from, size_t count) {
  using nvinfer1::Dims;
  std::memset(to, 0, count * sizeof(Dims));
  for (size_t i = 0; i < count; ++i, to += sizeof(Dims)) {
    Dims dims;
    std::memcpy(&dims, static_cast<const std::byte*>(from) + i * sizeof(Dims), sizeof(Dims));
    const auto rank = static_cast<size_t>(std::clamp<int32_t>(dims.nbDims, 0, Dims::MAX_DIMS));
    std::memcpy(to + offsetof(Dims, nbDims), &dims.nbDims, sizeof dims.nbDims);
    std::memcpy(to + offsetof(Dims, d), dims.d, rank * sizeof dims.d[0]);
  }
}

}  // namespace kiln::api
