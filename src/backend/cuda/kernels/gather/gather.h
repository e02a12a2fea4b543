/// Elements picked by indices: ops::Gather in its three modes, for any type of whole bytes. An index outside its axis
/// reads no memory: its elements become zeros, and the kernel's second argument, a FaultWord's address, has it.
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "ops/gather.h"

namespace kiln::cuda {

/// The kernels' argument: kernels/gather/gather.cuh declares it, byte for byte.
struct GatherArgument {
  const void *data = nullptr, *indices = nullptr;
  void* y = nullptr;
  uint32_t count = 0, step = 0;
  Divisor row, picks, outer;
  int64_t data_batch = 0, index_batch = 0;
  int64_t extent = 1;
  int32_t rank = 0, axis = 0;
  Divisor extents[kMaxRank];
  int64_t strides[kMaxRank] = {};
};
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
