/// Normalisation of each channel by itself, channels last: kernels/lanes/normalize_apart.cuh.
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

inline constexpr int kApartHeld[] = {8, 16};  ///< vectors of a thread, all in registers
/// Launches from what does not depend on how work is shared: one, where slices of channels fit clusters, or two; none
/// where there are too many channels. Vectors have 16 bytes.
std::vector<NormalizationLaunch> apart_launches(const NormalizationLaunch& launch, const NormalizationShape& shape,
                                                int vec, int element_bytes, const GroupRoom& room);

}  // namespace kiln::cuda
