/// Sources of the kernels of kernels/resize.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/resize/resize.h"

namespace kiln::cuda {

/// Nearest takes any type of whole bytes, the others f32, f16 and bf16.
bool can_resize(ResizeMode mode, DType type);
/// All kernels of `width` elements a load, and of one; or those of them that are wanted.
KernelSource resize_source(ResizeMode mode, DType type, int width, std::span<const std::string> wanted = {});

}  // namespace kiln::cuda
