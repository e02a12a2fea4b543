/// The code of steps that only move elements: kernels/move.
#pragma once

#include "backend/cuda/kernels/move/move.h"
#include "backend/cuda/tactics/compile.h"
#include "base/function_ref.h"

namespace kiln::cuda {

/// A getter of a type's extents, at the profile's optimum or its maximum.
using ExtentsOf = Extents (TensorType::*)() const;

/// The kernels for copies of elements of `dtype`, as they are at the optimum and at the maximum.
Result<std::shared_ptr<const Bytes>> compile_moves(CudaDevice& device, DType dtype,
                                                   FunctionRef<std::vector<StridedCopy>(ExtentsOf)> copies);

/// The kernels that copy a tensor from one format to another.
Result<std::shared_ptr<const Bytes>> compile_copy(CudaDevice& device, const TensorType& type, const Format& from,
                                                  const Format& to);

}  // namespace kiln::cuda
