/// Slices whose coordinates may lie outside of the source: ops::Slice in the modes that allow it.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backend/cuda/device/module.h"
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
/// The kernels' argument, of which kernels/move/slice.cuh declares each way byte for byte.
struct SliceArgument {
  struct Axis {
    int64_t extent, start, step, stride;
  };
  WideWalkArgument walk;
  const void* from = nullptr;
  void* to = nullptr;
  const void* fill = nullptr;  ///< one element, read in mode kFill; null: zeros
  int32_t mode = 0;
  Axis axes[kMaxRank] = {};
};
struct BandSliceArgument {
  uint32_t count = 0;
  int32_t rank = 0, mode = 0;
  Divisor axes[kMaxRank];
  const void* from = nullptr;
  void* to = nullptr;
  const void* fill = nullptr;
  int32_t extents[kMaxRank] = {}, starts[kMaxRank] = {}, steps[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  int32_t rows = 1;
};
/// kernels/move/slice_flat.cuh has it.
struct FlatSliceArgument {
  uint32_t count = 0;
  int32_t rank = 0, mode = 0, words = 0;
  const void* from = nullptr;
  void* to = nullptr;
  const void* fill = nullptr;
  Divisor axes[kMaxRank];
  int32_t extents[kMaxRank] = {}, starts[kMaxRank] = {}, steps[kMaxRank] = {}, strides[kMaxRank] = {};
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
