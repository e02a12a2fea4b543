#include "backend/cuda/kernels/lanes/normalize_held.h"

#include <algorithm>

#include "backend/cuda/kernels/lanes/normalize_family.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kLine = kHeldVectorBytes;
constexpr int64_t kMostGroups = 8;  // of a slice

/// The number of vectors of a pixel in a slice, at least so many; 0 if groups are too small.
int64_t slice_width(const NormalizationShape& shape, int64_t vec, int64_t least) {
  const int64_t each = shape.channels / shape.groups / vec;
  for (int64_t groups = 1; groups <= kMostGroups; ++groups)
    if (shape.groups % groups == 0 && groups * each >= least) return groups * each;
  return 0;
}

/// Shares slices, of `width` vectors of a pixel or of whole groups, among so many blocks. Returns whether several of
/// the blocks fit on a multiprocessor.
bool cut_slices(NormalizationLaunch& launch, const NormalizationShape& shape, int64_t width, int64_t vec,
                const HeldTile& tile, int64_t blocks, const GroupRoom& room) {
  constexpr int64_t kStaticBytes = 4352, kReservedBytes = 1024;
  NormalizationArgument& n = launch.argument;
  const bool last = shape.channels_last;
  const int64_t lanes = last ? tile.threads / width : 1, pixels = ceil_div(shape.plane, blocks);
  if (lanes == 0) return false;
  const int64_t vectors = last ? ceil_div(pixels, lanes) : ceil_div(n.length, vec * tile.threads * blocks);
  const int64_t shared = 3 * 4 * tile.threads + std::max<int64_t>(0, vectors - tile.vectors) * tile.threads * kLine;
  if (vectors * tile.threads * kLine > tile.bytes ||
      (shared + kStaticBytes + kReservedBytes) * tile.blocks > room.shared_bytes + kReservedBytes)
    return false;
  const int64_t slices = last ? shape.n * shape.channels / (width * vec) : n.rows;
  launch.entry = tile.entry(last, vec);
  launch.shape.grid[0] = grid_blocks(slices * blocks);
  launch.shape.block[0] = static_cast<uint32_t>(tile.threads);
  launch.shape.cluster = static_cast<uint32_t>(blocks);
  launch.shape.shared_bytes = static_cast<uint32_t>(shared);
  n.rows = slices;
  n.chunks = static_cast<int32_t>(blocks);
  n.chunk = static_cast<int32_t>(last ? pixels * n.channels : vectors * vec * tile.threads);
  n.lanes = static_cast<int32_t>(lanes);
  if (last) n.inner = divisor_of(width);
  return true;
}

std::vector<NormalizationLaunch> held_launches(const GroupWork& work) {
  constexpr int64_t kLeastBytes = 128 << 10;
  constexpr int64_t kWidths[] = {8, 4};  // lines of memory, or halves
  const auto& [whole, shape, vec, element_bytes, room] = work;
  const NormalizationArgument& n = whole.argument;
  if (!room.holds || shape.rows || vec * element_bytes != kLine || room.most_blocks == 1) return {};
  if (n.rows * n.length * element_bytes <= room.l2_bytes / 2 || n.image_stride >= int64_t{1} << 31) return {};
  if (!shape.channels_last && n.length * element_bytes < kLeastBytes) return {};  // others hold several of them
  NormalizationLaunch launch = whole;
  for (const int64_t least : kWidths) {
    const int64_t width = shape.channels_last ? slice_width(shape, vec, least) : 0;
    if (shape.channels_last && width == 0) continue;
    for (const HeldTile& tile : kHeldTiles)
      for (int64_t blocks = 1; blocks <= room.most_held; blocks *= 2)
        if (cut_slices(launch, shape, width, vec, tile, blocks, room)) return {launch};
  }
  return {};
}

}  // namespace

const NormalizationFamily kNormalizeHeld{.launches = held_launches};

}  // namespace kiln::cuda
