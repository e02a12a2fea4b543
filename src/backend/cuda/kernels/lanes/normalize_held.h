/// Large groups in the registers and shared memory of clusters: kernels/lanes/normalize_held.cuh.
#pragma once

#include <span>
#include <string>

#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

/// The text that instantiates kernels of such vectors, all or those of them that are wanted; none of less than 16
/// bytes.
std::string held_instances(const NormalizationKernels& kernels, std::span<const std::string> wanted);
/// Makes of a launch, in which is what does not depend on how groups are shared, one of such a kernel. Whether it can:
/// x is larger than what stays in cache, and a group, or a slice of pixels that has whole groups and whole lines of
/// memory, fits a cluster.
bool cut_held(NormalizationLaunch& launch, const NormalizationShape& shape, int vec, int element_bytes,
              const GroupRoom& room);
/// Whether it is one.
inline bool is_held(const NormalizationLaunch& launch) { return launch.entry.starts_with("normalize_held"); }

}  // namespace kiln::cuda
