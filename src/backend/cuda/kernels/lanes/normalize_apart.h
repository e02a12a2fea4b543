/// Normalisation of each channel by itself, channels last: kernels/lanes/normalize_apart.cuh.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

/// The text that instantiates kernels of such vectors, all or those of them that are wanted.
std::string apart_instances(const NormalizationKernels& kernels, std::span<const std::string> wanted);
/// Launches from what does not depend on how work is shared: one, where slices of channels fit clusters, or two; none
/// where there are too many channels. Vectors have 16 bytes.
std::vector<NormalizationLaunch> apart_launches(const NormalizationLaunch& launch, const NormalizationShape& shape,
                                                int vec, int element_bytes, const GroupRoom& room);

}  // namespace kiln::cuda
