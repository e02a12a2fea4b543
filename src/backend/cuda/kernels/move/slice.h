/// Slices whose coordinates may lie outside of the source: ops::Slice in the modes that allow it.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/move/arguments.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "ops/slice.h"

namespace kiln::cuda {

/// The entries are "slice", kSliceFlatEntry and slice_band_entry of a unit's bytes: an element's or a vector's.
inline constexpr std::string_view kSliceFlatEntry = "slice_flat";
inline constexpr int kSliceVectorBytes = 16;
std::string slice_band_entry(int unit_bytes);

/// A slice from dense memory to dense memory; extents in the order of memory.
struct SliceShape {
  SliceMode mode;
  std::span<const int64_t> from, to, starts, strides;
};
/// A launch of any.
struct SliceLaunch {
  std::string entry;
  LaunchShape shape;
  int64_t align = 1;  ///< that both tensors need
  std::variant<SliceArgument, BandSliceArgument, FlatSliceArgument> argument;

  Status run(const Stream& stream, const Function& function, const void* from, const void* fill, void* to);
};
/// The fastest first; the last takes any address.
std::vector<SliceLaunch> slice_launches(const SliceShape& shape, int element_bytes);

}  // namespace kiln::cuda
