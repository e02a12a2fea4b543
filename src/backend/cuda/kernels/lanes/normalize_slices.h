/// Large tensors of pixels, channels last, slice by slice: kernels/lanes/normalize_slices.cuh.
#pragma once

#include <span>
#include <string>

#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

/// The text that instantiates kernels, all or those of them that are wanted.
std::string slices_instances(const NormalizationKernels& kernels, std::span<const std::string> wanted);
/// Makes of a launch, in which is what does not depend on how groups are shared, one of such a kernel. Whether it can:
/// groups have no whole vectors, x is larger than what stays in cache, and a slice of pixels that has whole groups and
/// lines of memory, or halves of lines, fits the registers of a cluster. All is aligned to 16 bytes.
bool cut_slices(NormalizationLaunch& launch, const NormalizationShape& shape, int element_bytes, const GroupRoom& room);

}  // namespace kiln::cuda
