/// Elements written over others at computed indices: ops::Scatter in both modes, without a reduction, for any type of
/// whole bytes. Of several updates of an element the last one stays. An index outside its axis writes nothing, and the
/// second argument of the last two kernels, a FaultWord's address, has it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "backend/cuda/kernels/scatter/arguments.h"
#include "ops/scatter.h"

namespace kiln::cuda {

struct ScatterLaunch {
  int copy_bytes = 1, row_bytes = 1;  ///< units of the first and the last kernel
  std::array<LaunchShape, 3> shapes;  ///< copying, claiming, writing
  ScatterArgument argument;
  int64_t workspace_bytes() const { return int64_t{4} * argument.slices; }
};
/// A scatter in units of at most `most_unit_bytes`. Extents of dense data and indices. kUnsupported where data or
/// updates have 2^31 units.
Result<ScatterLaunch> scatter_launch(const ops::Scatter& scatter, int element_bytes, int most_unit_bytes,
                                     std::span<const int64_t> data, std::span<const int64_t> indices);

/// Kernels that copy and that write units of that size.
std::string scatter_copy_entry(int unit_bytes);
std::string scatter_write_entry(int unit_bytes);
inline constexpr const char* kScatterClaimEntry = "scatter_claim";

}  // namespace kiln::cuda
