#include "backend/cuda/kernels/lanes/normalize_slices.h"

#include <algorithm>
#include <numeric>

#include "backend/cuda/device/driver_types.h"
#include "backend/cuda/kernels/lanes/normalize_family.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kLine = SlicesKernel::kLine, kHeld = SlicesKernel::kHeld, kWarp = SlicesKernel::kLeastThreads;
constexpr int64_t kMostThreads = SlicesKernel::kMostThreads;  // of a multiprocessor, in one block or in several
constexpr int64_t kMostBlocks = 8;                            // of a cluster
constexpr int64_t kWidest = 16, kMostGroups = 64;             // vectors of a pixel that a slice has, and groups
/// The number of vectors of a pixel in a slice that has whole groups: at least so many, or all. 0 if groups are too
/// small or too large.
int64_t slice_width(const NormalizationShape& shape, int64_t vec, int64_t least) {
  const int64_t vectors = shape.channels / vec, in_group = shape.channels / shape.groups;
  const int64_t step = std::lcm(in_group, vec) / vec;
  for (int64_t width = step; width <= std::min(kWidest, kMostGroups * in_group / vec); width += step)
    if (vectors % width == 0 && (width >= least || width == vectors)) return width;
  return 0;
}

/// The map of x whose boxes are a warp's pixels of a slice. Where slices are whole pixels, which lie together, its rows
/// are as long as may be: the copy engine is slow with short ones.
MapPlan slices_map(NormalizationArgument& n, const NormalizationShape& shape, int64_t width, int64_t vec,
                   int64_t pixels) {
  constexpr uint64_t kShortRow = 8;  // vectors
  const auto bytes = static_cast<uint64_t>(kLine / vec), plane = static_cast<uint64_t>(shape.plane);
  MapPlan map;
  map.type = bytes == 2 ? kMapU16 : kMapU32;
  map.swizzle = kSwizzleNone, map.l2 = kL2None;
  map.extents[0] = static_cast<uint64_t>(shape.channels);
  map.extents[1] = plane;
  map.extents[2] = static_cast<uint64_t>(shape.n);
  map.box[0] = static_cast<uint32_t>(width * vec);
  map.box[1] = static_cast<uint32_t>(pixels);
  if (width * vec == shape.channels) {
    const auto of_warp = static_cast<uint64_t>(pixels * width);
    const uint64_t row = std::gcd(std::gcd(plane * static_cast<uint64_t>(width), of_warp), uint64_t{kWidest});
    if (row >= kShortRow) {
      n.row = static_cast<int32_t>(row);
      map.extents[0] = row * static_cast<uint64_t>(vec);
      map.extents[1] = plane * static_cast<uint64_t>(width) / row;
      map.box[0] = static_cast<uint32_t>(map.extents[0]);
      map.box[1] = static_cast<uint32_t>(of_warp / row);
    }
  }
  map.strides_bytes[0] = map.extents[0] * bytes;
  map.strides_bytes[1] = map.strides_bytes[0] * map.extents[1];
  return map;
}

/// Shares slices of `width` vectors of a pixel among so many blocks. Returns whether they fit.
bool cut(NormalizationLaunch& launch, const NormalizationShape& shape, int64_t width, int64_t vec, int64_t blocks,
         int64_t threads) {
  constexpr int64_t kAligned = 8;       // vectors where a copy may begin
  constexpr int64_t kLeastVectors = 4;  // a thread; with fewer, a slice's fixed cost outweighs its bytes
  constexpr int64_t kMostRows = 256;    // of a copy
  const int64_t lanes = kWarp / width, warps = threads / kWarp;
  const int64_t multiple = kAligned / std::gcd(kAligned, width);
  const int64_t pixels = ceil_div(ceil_div(shape.plane, blocks * warps), multiple) * multiple;
  const int64_t vectors = ceil_div(pixels, lanes), slices = shape.n * shape.channels / (width * vec);
  if (vectors > kHeld || vectors < kLeastVectors || slices * blocks >= int64_t{1} << 31) return false;
  NormalizationArgument n = launch.argument;
  const MapPlan map = slices_map(n, shape, width, vec, pixels);
  if (map.box[1] > kMostRows) return false;
  n.rows = slices;
  n.chunks = static_cast<int32_t>(blocks);
  n.chunk = static_cast<int32_t>(warps * pixels * n.channels);
  n.lanes = static_cast<int32_t>(lanes);
  n.inner = divisor_of(width);
  launch.argument = n;
  launch.map = map;
  launch.entry = SlicesKernel::entry(threads, vec);
  launch.shape.grid[0] = grid_blocks(slices * blocks);
  launch.shape.block[0] = static_cast<uint32_t>(threads);
  launch.shape.cluster = static_cast<uint32_t>(blocks);
  launch.shape.shared_bytes = static_cast<uint32_t>(warps * pixels * width * kLine);
  return true;
}

std::vector<NormalizationLaunch> slice_launches(const GroupWork& work) {
  constexpr int64_t kWidths[] = {16, 8, 4};  // two lines of memory, one, half of one
  const NormalizationShape& shape = work.shape;
  const int64_t image_bytes = work.whole.argument.image_stride * work.element_bytes;
  const int64_t vec = kLine / work.element_bytes;
  if (!work.room.slices || work.vec == 1 || !shape.channels_last || shape.channels % vec != 0 ||
      shape.channels / shape.groups % vec == 0 || shape.n * image_bytes <= work.room.l2_bytes / 2 ||
      work.whole.argument.image_stride >= int64_t{1} << 31)
    return {};
  NormalizationLaunch launch = work.whole;
  for (const int64_t least : kWidths) {
    const int64_t width = slice_width(shape, vec, least);
    if (width == 0) continue;
    // Two lines in pieces of larger pixels gain less than larger clusters lose.
    const int64_t most_blocks = width == kWidest && width * vec < shape.channels ? 2 : kMostBlocks;
    for (int64_t threads = kWarp, blocks = 1; blocks <= most_blocks;) {
      if (cut(launch, shape, width, vec, blocks, threads)) return {launch};
      (threads < kMostThreads ? threads : blocks) *= 2;
    }
  }
  return {};
}

}  // namespace

const NormalizationFamily kNormalizeSlices{.takes_apart = true, .launches = slice_launches};

}  // namespace kiln::cuda
