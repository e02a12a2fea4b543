/// ONNX's element types as ours.
#pragma once

#include <optional>

#include "base/error.h"
#include "onnx/element_type.h"
#include "onnx/tensor_data.h"
#include "tensor/dtype.h"
#include "tensor/host_tensor.h"

namespace kiln::onnx {

/// Absent where Kiln has no such type.
std::optional<DType> dtype_of(ElementType type);

/// The same, as an error that names the type.
Result<DType> need_dtype(ElementType type);

/// The elements of `data`, in place where an owner keeps them alive and they are aligned, else copied. INT16, UINT16,
/// UINT32 and UINT64, which Kiln lacks, become i64: constants of these types only serve shape arithmetic and casts.
Result<HostTensor> host_tensor(const TensorData& data);

}  // namespace kiln::onnx
