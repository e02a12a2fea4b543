/// The inputs of steps of NVIDIA's libraries: two operands of one type, bias or absent, residual or absent.
#pragma once

#include "backend/cuda/exec/step.h"
#include "steps/epilogue.h"

namespace kiln::cuda {

/// Whether an epilogue clamps below, at 0.
bool is_relu(const steps::Epilogue& epilogue);
/// Fails where the libraries are not asked for such tensors, or have no such epilogue.
Status check_library(const StepTypes& types, const steps::Epilogue& epilogue);
/// Bytes that libraries are told of the alignment of every tensor.
inline constexpr int64_t kLibraryAlignment = 16;
/// Libraries take a bias of the result's type: a constant of another becomes one.
Status put_library_bias(const LoadArguments& arguments, StepInputs& inputs);

}  // namespace kiln::cuda
