#include "backend/cuda/kernels/lanes/normalize_apart.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/kernels/lanes/normalize_family.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = 256, kMostWidth = 8;  // of normalize_apart; vectors of a pixel, in a slice
constexpr int kFewHeld = kApartHeld[0], kMostHeld = kApartHeld[1];

/// Cuts slices of `width` vectors of each pixel, for the registers of clusters. Returns whether they fit. Many small
/// blocks a cluster are slower, because each block sends every channel's statistics to all others.
bool cut_slices(NormalizationLaunch& launch, const NormalizationShape& shape, int64_t width, int64_t vec,
                const GroupRoom& room) {
  constexpr int64_t kLeastVectors = 4;  // of a thread
  const int64_t slices = shape.n * shape.channels / (width * vec), lanes = kThreads / width;
  const auto vectors = [&](int64_t blocks) { return ceil_div(ceil_div(shape.plane, blocks), lanes); };
  int64_t blocks = 1;
  while (2 * blocks <= room.most_blocks &&
         (vectors(blocks) > kMostHeld || (vectors(blocks) > kLeastVectors && slices * blocks < room.num_sms)))
    blocks *= 2;
  if (vectors(blocks) > kMostHeld || slices * blocks >= int64_t{1} << 31) return false;
  NormalizationArgument& n = launch.argument;
  launch.entry = str("normalize_apart_", vectors(blocks) > kFewHeld ? kMostHeld : kFewHeld, '_', vec);
  launch.shape.grid[0] = grid_blocks(slices * blocks);
  launch.shape.block[0] = static_cast<uint32_t>(kThreads);
  launch.shape.cluster = static_cast<uint32_t>(blocks);
  n.chunks = static_cast<int32_t>(blocks);
  n.chunk = static_cast<int32_t>(ceil_div(shape.plane, blocks));
  n.lanes = static_cast<int32_t>(lanes);
  n.inner = divisor_of(width);
  return true;
}

/// Gives each block whole pixels, in two walks over x.
std::vector<NormalizationLaunch> cut_pixels(NormalizationLaunch launch, const NormalizationShape& shape, int64_t vec,
                                            const GroupRoom& room) {
  constexpr int64_t kMostChunks = 128, kPixelThreads = 512;  // the former, each block reads again
  NormalizationArgument& n = launch.argument;
  const int64_t vectors = shape.channels / vec, most_parts = normalization_workspace_bytes(room.num_sms, true) / 8;
  if (vectors > kPixelThreads || n.rows > most_parts) return {};
  const int64_t most = std::clamp<int64_t>(most_parts / n.rows, 1, std::min(kMostChunks, shape.plane));
  n.chunk = static_cast<int32_t>(ceil_div(shape.plane, std::clamp<int64_t>(2 * room.num_sms / shape.n, 1, most)));
  n.chunks = static_cast<int32_t>(ceil_div(shape.plane, n.chunk));
  n.lanes = static_cast<int32_t>(kPixelThreads / vectors);
  launch.shape.grid[0] = grid_blocks(shape.n * n.chunks);
  launch.shape.block[0] = static_cast<uint32_t>(kPixelThreads);
  std::vector<NormalizationLaunch> launches(2, launch);
  launches[0].entry = str("normalize_apart_parts_", vec);
  launches[0].shape.shared_bytes = static_cast<uint32_t>((2 * vec + 1) * kPixelThreads * 4);
  launches[1].entry = str("normalize_apart_pixels_", vec);
  launches[1].shape.shared_bytes = static_cast<uint32_t>(2 * shape.channels * 4);
  return launches;
}

std::vector<NormalizationLaunch> apart_launches(const GroupWork& work) {
  const auto& [whole, shape, vec, element_bytes, room] = work;
  if (!shape.is_apart() || vec * element_bytes != 16 || whole.argument.image_stride >= int64_t{1} << 31) return {};
  NormalizationLaunch held = whole;
  const auto vectors = static_cast<uint64_t>(shape.channels / vec);
  const int64_t widest = std::min<int64_t>(kMostWidth, int64_t{1} << std::countr_zero(vectors));
  if (room.most_blocks > 1)
    for (int64_t width = widest; width >= std::min<int64_t>(widest, kMostWidth / 2); width /= 2)
      if (cut_slices(held, shape, width, vec, room)) return {held};
  return cut_pixels(whole, shape, vec, room);
}

}  // namespace

const NormalizationFamily kNormalizeApart{.takes_apart = true, .launches = apart_launches};

}  // namespace kiln::cuda
