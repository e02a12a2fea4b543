/// Elements picked by indices: ops::Gather in its three modes, for any type of whole bytes. An index outside its axis
/// reads no memory: its elements become zeros, and the kernel's second argument, a FaultWord's address, has it.
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/gather/arguments.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "ops/gather.h"

namespace kiln::cuda {

struct GatherLaunch {
  int unit_bytes = 1;
  LaunchShape shape;
  GatherArgument argument;
};
/// A gather in units of at most `most_unit_bytes`. Extents of dense data and indices. kUnsupported where elementwise
/// axes broadcast in part, one way each, and where y has 2^31 units.
Result<GatherLaunch> gather_launch(const ops::Gather& gather, int element_bytes, int most_unit_bytes,
                                   std::span<const int64_t> data, std::span<const int64_t> indices);

std::string gather_entry(int unit_bytes);  ///< of the kernel for units of that size

}  // namespace kiln::cuda
