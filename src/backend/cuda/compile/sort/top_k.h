/// Sources of the kernels of kernels/sort.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/sort/top_k.h"

namespace kiln::cuda {

/// The kernels of these ways.
KernelSource top_k_source(DType dtype, std::span<const TopKWay> ways);

/// The type of the text's that has the keys of a type; booleans have those of u8.
std::string_view sort_type(DType dtype);
/// Text of the kernels that sort items.
std::string sort_entries(DType dtype);

}  // namespace kiln::cuda
