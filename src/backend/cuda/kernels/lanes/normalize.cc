#include "backend/cuda/kernels/lanes/normalize.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/kernels/lanes/normalize_family.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {
constexpr int64_t kThreads = 512, kLeastChunk = 4096, kMostVec = 8, kWarp = 32;
constexpr int64_t kMostParts = 1 << 16;  // chunks of groups, in the workspace
}  // namespace

GroupRoom group_room(const Properties& device) {
  GroupRoom room{device.num_multiprocessors, device.compute_major >= 9 ? 8 : 1, device.shared_bytes_per_block,
                 device.l2_bytes};
  room.slices = device.compute_major >= 9;
  if (device.compute_major > 10) room.most_held = room.most_blocks;  // 16 are not portable
  return room;
}

int NormalizationShape::vector(int element_bytes) const {
  if (is_apart()) return channels * element_bytes % 16 == 0 ? 16 / element_bytes : 1;
  return vector_width(rows ? length : channels_last ? channels / groups : plane, element_bytes);
}

namespace {

/// The part of a launch that does not depend on how a group is shared.
Result<NormalizationLaunch> launch_of(const NormalizationShape& s) {
  NormalizationLaunch launch;
  NormalizationArgument& n = launch.argument;
  const int64_t in_group = s.rows ? 1 : s.channels / s.groups;
  const int64_t length = s.rows ? s.length : in_group * s.plane;
  n.rows = length == 0 ? 0 : s.rows ? s.n : s.n * s.groups;
  TRY(require(length < (int64_t{1} << 30), "a normalisation over ", length, " elements; 2^30 are too many"));
  n.length = n.chunk = static_cast<int32_t>(length);
  n.epsilon = s.epsilon;
  n.centered = s.centered ? 1 : 0;
  n.share = 1.0F / static_cast<float>(length);
  n.groups = static_cast<int32_t>(s.rows ? 1 : s.groups);
  n.channels = static_cast<int32_t>(in_group);
  n.image_stride = s.rows ? length : s.channels * s.plane;
  n.group_stride = s.channels_last ? in_group : length;
  n.run_stride = s.channels;
  n.coefficients = s.rows ? 0 : s.channels_last ? 2 : 1;
  n.inner = divisor_of(std::max<int64_t>(1, s.channels_last ? in_group : length));
  n.plane = divisor_of(std::max<int64_t>(1, s.plane));
  launch.shape.pdl = true;
  return launch;
}

/// Cuts groups into as many chunks as `chunks`, of whole vectors, for blocks of up to so many threads that have four
/// loads each in flight.
void share(NormalizationLaunch& launch, int64_t chunks, int vec, int64_t threads) {
  NormalizationArgument& n = launch.argument;
  n.chunk = static_cast<int32_t>(ceil_div(ceil_div(n.length, chunks), kMostVec) * kMostVec);
  n.chunks = static_cast<int32_t>(chunks);
  launch.shape.grid[0] = grid_blocks(n.rows * chunks);
  launch.shape.block[0] = static_cast<uint32_t>(std::clamp<int64_t>(ceil_div(n.chunk, vec * 128) * 32, 32, threads));
}

/// The launch with the entry of such a name.
NormalizationLaunch named(const NormalizationLaunch& launch, std::string_view name, int vec) {
  NormalizationLaunch result = launch;
  result.entry = str("normalize_", name, '_', vec);
  return result;
}

/// Groups of few vectors: several a block.
std::vector<NormalizationLaunch> team_launches(const GroupWork& work) {
  constexpr int64_t kTeamThreads = 128;
  NormalizationLaunch launch = named(work.whole, "teams", work.vec);
  const int64_t held = work.vec <= 2 ? 8 : 4;  // kBatch of the kernels
  const int64_t vectors = ceil_div(launch.argument.length, work.vec);
  if (vectors > held * kWarp) return {};
  const auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(ceil_div(vectors, held))));
  launch.argument.lanes = static_cast<int32_t>(lanes);
  launch.shape.block[0] = static_cast<uint32_t>(kTeamThreads);
  launch.shape.grid[0] = grid_blocks(ceil_div(launch.argument.rows, kTeamThreads / lanes));
  return {launch};
}

/// Gives each block whole pixels, in large tensors whose groups are pieces of pixels.
std::vector<NormalizationLaunch> pixel_launches(const GroupWork& work) {
  constexpr int64_t kMostThreads = 1024, kMostChunks = 128;  // the latter, each block reads again
  const auto& [whole, shape, vec, element_bytes, room] = work;
  NormalizationLaunch launch = whole;
  NormalizationArgument& n = launch.argument;
  const int64_t vectors = shape.channels / vec, plane = shape.plane;
  const bool is_large = n.rows * n.length * element_bytes > room.l2_bytes / 2;
  if (!shape.channels_last || !is_large || vectors > kMostThreads || n.rows > kMostParts) return {};
  const int64_t most = std::clamp<int64_t>(kMostParts / n.rows, 1, std::min(kMostChunks, plane));
  const int64_t pixels = ceil_div(plane, std::clamp<int64_t>(2 * room.num_sms / shape.n, 1, most));
  const int64_t threads = std::max(kThreads, ceil_div(vectors, kWarp) * kWarp);
  n.chunk = static_cast<int32_t>(pixels * n.channels);
  n.chunks = static_cast<int32_t>(ceil_div(plane, pixels));
  n.lanes = static_cast<int32_t>(threads / vectors);
  launch.shape.grid[0] = grid_blocks(shape.n * n.chunks);
  launch.shape.block[0] = static_cast<uint32_t>(threads);
  launch.shape.shared_bytes = static_cast<uint32_t>(std::max<int64_t>(3 * threads, 2 * n.groups) * 4);
  return {named(launch, "pixel_parts", vec), named(launch, "pixels", vec)};
}

/// Gives each group a cluster, which keeps it in shared memory.
std::vector<NormalizationLaunch> cluster_launches(const GroupWork& work) {
  const auto& [whole, shape, vec, element_bytes, room] = work;
  NormalizationLaunch launch = named(whole, "cluster", vec);
  constexpr int64_t kGoodBytes = 48 << 10, kLeast = 2048;  // several blocks a multiprocessor; elements of a block
  constexpr int64_t kStaticBytes = 4096;
  const NormalizationArgument& n = launch.argument;
  int64_t blocks = 1;
  const auto chunk = [&] { return ceil_div(n.length, blocks) + kMostVec; };
  while (2 * blocks <= room.most_blocks &&
         (chunk() * element_bytes > kGoodBytes || (n.rows * blocks < room.num_sms && chunk() > kLeast)))
    blocks *= 2;
  if (chunk() * element_bytes + kStaticBytes > room.shared_bytes || n.rows * blocks >= int64_t{1} << 31) return {};
  share(launch, blocks, vec, chunk() * element_bytes > kGoodBytes ? kThreads : kThreads / 2);
  launch.shape.cluster = static_cast<uint32_t>(blocks);
  launch.shape.shared_bytes = static_cast<uint32_t>(n.chunk * element_bytes);
  return {launch};
}

/// Gives each group a block; or cuts groups into chunks, at most so many, in two launches.
std::vector<NormalizationLaunch> long_launches(const GroupWork& work, int64_t most) {
  NormalizationLaunch launch = work.whole;
  const NormalizationArgument& n = launch.argument;
  share(launch, std::clamp<int64_t>(3 * work.room.num_sms / n.rows, 1, most), work.vec, kThreads);
  if (n.chunks == 1) return {named(launch, "long", work.vec)};
  return {named(launch, "parts", work.vec), named(launch, "apply", work.vec)};
}
std::vector<NormalizationLaunch> chunk_launches(const GroupWork& work) {
  return long_launches(work, std::max<int64_t>(1, work.whole.argument.length / kLeastChunk));
}

constexpr NormalizationFamily kTeams{.launches = team_launches}, kPixels{.launches = pixel_launches},
    kClusters{.launches = cluster_launches}, kChunks{.launches = chunk_launches};

/// The ways to share groups. The first that takes a shape is the fastest; the last takes all.
constexpr const NormalizationFamily* kFamilies[] = {&kNormalizeSlices, &kNormalizeApart, &kTeams, &kNormalizeHeld,
                                                    &kPixels,          &kClusters,       &kChunks};

}  // namespace

Result<NormalizationLaunch> normalization_rows_launch(const NormalizationShape& shape, const RowTile& tile) {
  NormalizationLaunch launch = TRY(launch_of(shape));
  launch.entry = "normalize_" + tile.name();
  launch.shape = tile.shape(launch.argument.rows, shape.length);
  return launch;
}

Result<std::vector<NormalizationLaunch>> normalization_launches(const NormalizationShape& shape, int vec,
                                                                int element_bytes, bool may_split,
                                                                const GroupRoom& room) {
  const NormalizationLaunch whole = TRY(launch_of(shape));
  if (whole.argument.rows == 0) return std::vector<NormalizationLaunch>();
  const GroupWork work{whole, shape, vec, element_bytes, room};
  if (!may_split) return long_launches(work, 1);
  for (const NormalizationFamily* family : kFamilies) {
    if (shape.is_apart() && vec > 1 && !family->takes_apart) continue;
    std::vector<NormalizationLaunch> launches = family->launches(work);
    for (NormalizationLaunch& launch : launches) launch.family = family;
    if (!launches.empty()) return launches;
  }
  return normalization_launches(shape, 1, element_bytes, may_split, room);
}

int64_t normalization_workspace_bytes(int num_sms, bool channels_last) {
  return std::max(3 * int64_t{num_sms}, channels_last ? kMostParts : 0) * 2 * 4;
}

}  // namespace kiln::cuda
