/// TensorRT's Dims and our extents.
#pragma once

#include "NvInferRuntimeBase.h"
#include "cli/shapes.h"

namespace kiln::cli::trtexec {

inline Extents extents(const nvinfer1::Dims& dims) { return {dims.d, dims.d + (dims.nbDims > 0 ? dims.nbDims : 0)}; }

nvinfer1::Dims to_dims(const Extents& extents, std::string_view tensor);  ///< fails above 8 axes

inline bool is_dynamic(const Extents& extents) {
  for (int64_t extent : extents)
    if (extent < 0) return true;
  return false;
}

/// The same with 1 for what is not known.
Extents with_ones(Extents extents);

/// "1x3x224x224", "scalar"
std::string declared_text(const Extents& extents);

int64_t volume(const Extents& extents);  ///< fails at what does not fit 64 bits

}  // namespace kiln::cli::trtexec
