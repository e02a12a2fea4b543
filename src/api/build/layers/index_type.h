/// The type of indices that a layer makes.
#pragma once

#include <NvInfer.h>

#include "api/base/convert.h"

namespace kiln::api {

/// INT32 or INT64; fails for any other.
inline Result<DType> index_type_from_api(nvinfer1::DataType type) {
  const DType dtype = TRY(from_api(type));
  TRY(require(is_index(dtype), "indices of ", dtype, "; kINT32 or kINT64 needed"));
  return dtype;
}

}  // namespace kiln::api
