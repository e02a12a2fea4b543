#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "backend/cuda/compile/lanes/normalize.h"
#include "backend/cuda/compile/lanes/reduce.h"
#include "backend/cuda/compile/lanes/softmax.h"
#include "backend/cuda/compile/lanes/tile.h"
#include "backend/cuda/compile/testing.h"
#include "backend/cuda/kernels/lanes/short_layout.cuh"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int kSms = 132;

TEST(RowTile, HoldsWhatItWasMadeFor) {
  for (const int64_t rows : {1, 12, 1536, 100'000})
    for (const int64_t cols : {1, 7, 64, 128, 197, 768, 1000, 1024, 4096, 16384})
      for (const int bytes : {2, 4}) {
        const auto tile = row_tile(rows, cols, cols, bytes, kSms);
        if (!tile) {
          EXPECT_GT(cols, 4096) << rows << ' ' << bytes;
          continue;
        }
        EXPECT_TRUE(tile->holds(cols)) << tile->name() << " for " << cols;
        EXPECT_LE(tile->vec * bytes, 16);
        const LaunchShape shape = tile->shape(rows, cols);
        EXPECT_LE(shape.block[0], 1024u);
        EXPECT_EQ(shape.block[0] % 32, 0u);
        EXPECT_LE(tile->vec * tile->loads, 32) << "registers of a thread";
      }
}
TEST(RowTile, LongRowsHaveNone) { EXPECT_FALSE(row_tile(8, 70'001, 70'001, 4, kSms)); }
TEST(RowTile, OddRowsFitTheirLoadsExactly) {
  for (const int64_t cols : {1, 63, 65, 197, 511, 577, 1023}) {
    const auto tile = odd_row_tile(1 << 20, cols, kSms);
    ASSERT_TRUE(tile) << cols;
    EXPECT_TRUE(tile->holds(cols)) << tile->name() << " for " << cols;
    EXPECT_GE((cols + 1) / 2, (tile->loads - 1) * 32 + 1) << "all loads but the last are whole";
    EXPECT_FALSE(tile->holds(cols + 1));
  }
  EXPECT_FALSE(odd_row_tile(1 << 20, 198, kSms));
  EXPECT_FALSE(odd_row_tile(100, 197, kSms));
}
TEST(RowTile, SurvivesARecord) {
  const RowTile tile{true, 8, 4, 160, true};
  const auto copy = from_record<RowTile>(to_record(tile));
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(*copy, tile);
  EXPECT_FALSE(from_record<RowTile>(to_record(RowTile{true, 3, 4})));
  const RowTile team = *team_row_tile(255, 2, 8);
  EXPECT_EQ(*from_record<RowTile>(to_record(team)), team);
  RowTile three = team;
  three.team = 3;
  EXPECT_FALSE(from_record<RowTile>(to_record(three)));
}
TEST(RowTile, TeamsAreForVeryManyShortRows) {
  EXPECT_FALSE(short_row_tile(1 << 20, 257, 2, kSms));
  EXPECT_FALSE(short_row_tile(1 << 20, 129, 4, kSms));
  EXPECT_FALSE(short_row_tile(1 << 20, 1, 4, kSms));
  for (const int bytes : {2, 4})
    for (int64_t cols = 2; cols * bytes <= 512; ++cols) {
      EXPECT_FALSE(short_row_tile(256 * kSms - 1, cols, bytes, kSms));
      const auto tile = short_row_tile(1 << 20, cols, bytes, kSms);
      ASSERT_TRUE(tile) << cols;
      EXPECT_TRUE(tile->holds(cols) && !tile->holds(cols + 1));
      const LaunchShape shape = tile->shape(1 << 20, cols);
      EXPECT_EQ(int64_t{shape.grid[0]} * static_cast<int64_t>(shape.block[0]) / tile->team, 1 << 20);
    }
}

/// All tiles for rows of few elements, as their kernels see them.
std::vector<ShortLayout> all_layouts() {
  std::vector<ShortLayout> all;
  for (const int bytes : {2, 4})
    for (int cols = 2; cols * bytes <= 512; ++cols)
      for (const int team : {1, 2, 4, 8, 16})
        if (const auto tile = team_row_tile(cols, bytes, team)) all.push_back({cols, bytes, team, tile->threads});
  return all;
}
TEST(ShortLayout, EachRowIsOfOneTeam) {
  for (const ShortLayout& s : all_layouts()) {
    std::map<int, std::set<int>> lanes;
    for (int thread = 0; thread < s.threads; ++thread) lanes[s.row(thread)].insert(thread % s.team);
    EXPECT_EQ(static_cast<int>(lanes.size()), s.rows());
    EXPECT_TRUE(std::ranges::all_of(lanes,
                                    [&](const auto& row) {
                                      return row.first >= 0 && row.first < s.rows() &&
                                             static_cast<int>(row.second.size()) == s.team;
                                    }))
        << s.cols << " elements, teams of " << s.team;
    EXPECT_GE(s.steps() * s.team * s.piece(), s.cols);
    EXPECT_LE(s.is_staged() ? s.rows() * s.pitch() * s.bytes : 0, 48 << 10);
    EXPECT_EQ(s.rows() * s.cols * s.bytes % 16, 0) << "blocks begin at vectors";
    EXPECT_EQ(s.rows() * s.cols % 2, 0) << "the last row ends with a word";
  }
}
/// How often the busiest bank of shared memory is asked when threads read their pieces of a step: threads that an
/// access of so many bytes serves at once ask for words.
int turns_of(const ShortLayout& s, int first_thread, int step) {
  constexpr int kBanks = 32;
  std::map<int, std::set<int>> words;  // by bank
  for (int thread = first_thread; thread < first_thread + 128 / s.piece_bytes(); ++thread) {
    const int piece = step * s.team + thread % s.team, row = s.row(thread);
    if (piece >= s.pieces()) continue;
    const int at = (row * s.pitch() * s.bytes + piece * s.piece_bytes()) / 4;  // of odd rows the word it begins in
    for (int word = at; word < at + s.piece_bytes() / 4; ++word) words[word % kBanks].insert(word);
  }
  size_t most = 0;
  for (const auto& [bank, of] : words) most = std::max(most, of.size());
  return static_cast<int>(most);
}
TEST(ShortLayout, ThreadsReadFromDifferentBanks) {
  for (const ShortLayout& s : all_layouts()) {
    if (!s.is_staged()) continue;
    const int wanted = s.team * (s.is_odd() ? 2 : 1), allowed = std::max(1, wanted / s.apart());  // warps take turns
    for (int thread = 0; thread < s.threads; thread += 128 / s.piece_bytes())
      for (int step = 0; step < s.steps(); ++step)
        ASSERT_LE(turns_of(s, thread, step), s.team == 1 ? 1 : allowed)
            << s.cols << " elements of " << s.bytes << " bytes, teams of " << s.team;
  }
}

TEST(ReduceLaunch, FewLongRowsTakeTwoSteps) {
  const auto launches = reduce_launches({2, 1'000'003, 1}, false, 1, true, kSms);
  ASSERT_EQ(launches.size(), 2u);
  const ReduceArgument &first = launches[0].argument, &last = launches[1].argument;
  EXPECT_GE(first.chunk * first.chunks, first.length);
  EXPECT_LT(first.chunk * (first.chunks - 1),
            first.length);  // no chunk is empty
  EXPECT_EQ(last.length, first.chunks);
  EXPECT_EQ(last.divisor, 1'000'003);  // of what was averaged, not of the chunks
}
TEST(ReduceLaunch, WorkspaceIsEnough) {
  for (const int64_t outer : {1, 3, 100, 131})
    for (const int64_t length : {600, 5000, 100'000})
      for (const int64_t inner : {1, 8, 64, 2048}) {
        const auto launches = reduce_launches({outer, length, inner}, inner > 1, 1, false, kSms);
        if (launches.size() < 2) continue;
        EXPECT_LE(outer * inner * launches[0].argument.chunks * 8, reduce_workspace_bytes(kSms));
      }
}
TEST(ReduceLaunch, AxesThatAreNotNeighbours) {
  const auto launch = reduce_axes_launch(Extents{2, 3, 4, 5}, std::vector{1, 3}, true);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->argument.kept.count, 8u);
  EXPECT_EQ(launch->argument.reduced.count, 15u);
  EXPECT_EQ(launch->argument.divisor, 15);
  EXPECT_EQ(launch->argument.from_kept.strides[1], 5);
  EXPECT_EQ(launch->argument.from_reduced.strides[0], 20);
}
TEST(ReduceLaunch, NothingToDoIsNoLaunch) { EXPECT_TRUE(reduce_launches({0, 5, 1}, false, 1, false, kSms).empty()); }

TEST(NormalizationLaunch, FewGroupsTakeTwoSteps) {
  const NormalizationShape shape{.rows = false, .n = 1, .channels = 320, .plane = 4096, .groups = 32};
  const auto launches = normalization_launches(shape, 2, 2, true, {kSms, 1, 0, 50 << 20});  // without shared memory
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 2u);
  const NormalizationArgument& n = (*launches)[0].argument;
  EXPECT_EQ(n.length, 40960);
  EXPECT_LE(n.rows * n.chunks * 8, normalization_workspace_bytes(kSms, false));
}

TEST(NormalizationLaunch, GroupsThatFitAreReadOnce) {
  const GroupRoom hopper{kSms, 8, 227 << 10, 50 << 20}, ampere{108, 1, 163 << 10, 40 << 20};
  NormalizationShape shape{.rows = false, .channels_last = true, .n = 2, .channels = 1280, .plane = 1024, .groups = 32};
  EXPECT_EQ(shape.vector(2), 8);  // of 40 channels
  const auto launches = normalization_launches(shape, 8, 2, true, hopper);
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 1u);
  const NormalizationLaunch& launch = (*launches)[0];
  const NormalizationArgument& n = launch.argument;
  EXPECT_EQ(launch.entry, "normalize_cluster_8");
  EXPECT_EQ(launch.shape.grid[0], 64 * launch.shape.cluster);
  EXPECT_GE(int64_t{n.chunk} * n.chunks, n.length);
  EXPECT_LT(int64_t{n.chunk} * (n.chunks - 1), n.length);  // no chunk is empty
  EXPECT_GE(launch.shape.shared_bytes, static_cast<uint32_t>(n.chunk) * 2);
  EXPECT_EQ((*normalization_launches(shape, 8, 2, true, ampere))[0].shape.cluster, 1u) << "there are none";
}
TEST(NormalizationLaunch, SmallGroupsShareABlock) {
  const NormalizationShape shape{.rows = false, .n = 5, .channels = 7, .plane = 256, .groups = 7};
  const auto launches = normalization_launches(shape, 8, 2, true, {kSms, 8, 227 << 10, 50 << 20});
  ASSERT_TRUE(launches && launches->size() == 1);
  EXPECT_EQ((*launches)[0].entry, "normalize_teams_8");
  EXPECT_EQ((*launches)[0].argument.lanes, 8);  // four vectors each
  EXPECT_EQ((*launches)[0].shape.grid[0], 3u);  // 16 groups a block
}
TEST(NormalizationLaunch, LargeOnesThatClustersHold) {
  const GroupRoom hopper{kSms, 8, 227 << 10, 50 << 20}, ampere{108, 1, 163 << 10, 40 << 20};
  for (const bool last : {false, true})
    for (const int64_t plane : {64 * 64, 128 * 128 + 8, 200 * 100, 512 * 512})
      for (const int64_t in_group : {8, 24}) {
        NormalizationShape shape{.rows = false, .channels_last = last, .n = 64, .channels = 16 * in_group};
        shape.plane = plane, shape.groups = 16;
        const auto launches = normalization_launches(shape, 8, 2, true, hopper);
        ASSERT_TRUE(launches) << launches.error().message;
        const NormalizationLaunch& launch = (*launches)[0];
        const NormalizationArgument& n = launch.argument;
        const bool held = launch.entry.starts_with(last ? "normalize_held_last" : "normalize_held_first");
        EXPECT_EQ(held, plane < 512 * 512 && (last || plane * in_group * 2 >= 128 << 10))
            << launch.entry << ' ' << plane << ' ' << in_group;
        if (!held) continue;
        EXPECT_EQ(launch.shape.cluster, static_cast<uint32_t>(n.chunks));
        EXPECT_GE(int64_t{n.chunk} * n.chunks, n.length);
        EXPECT_EQ(launch.shape.grid[0] % launch.shape.cluster, 0u);
        EXPECT_LE(launch.shape.grid[0], static_cast<uint32_t>(n.rows * n.chunks));
        const int64_t groups = last ? n.inner.extent * 8 / static_cast<uint32_t>(n.channels) : 1;  // of a slice
        EXPECT_EQ(n.rows * groups, 64 * 16);
        const int64_t vectors = ceil_div(int64_t{n.chunk} * groups, launch.shape.block[0] * 8);
        EXPECT_LE((vectors - 16) * launch.shape.block[0] * 16, launch.shape.shared_bytes);
        EXPECT_FALSE((*normalization_launches(shape, 8, 2, true, ampere))[0].entry.starts_with("normalize_held"));
        EXPECT_FALSE((*normalization_launches(shape, 4, 2, true, hopper))[0].entry.starts_with("normalize_held"));
      }
}
TEST(NormalizationLaunch, LargeOnes) {
  const GroupRoom room{kSms, 8, 227 << 10, 50 << 20};
  NormalizationShape shape{.rows = false, .n = 3, .channels = 64, .plane = 1 << 22, .groups = 64};
  auto launches = normalization_launches(shape, 8, 2, true, room);
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 2u);
  EXPECT_EQ((*launches)[0].entry, "normalize_parts_8");
  EXPECT_EQ((*launches)[1].entry, "normalize_apply_8");
  EXPECT_LE((*launches)[0].shape.grid[0] * 8, normalization_workspace_bytes(kSms, false));
  shape.channels_last = true;
  shape.groups = 8;
  launches = normalization_launches(shape, 8, 2, true, room);
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 2u);
  const NormalizationLaunch& last = (*launches)[1];
  EXPECT_EQ(last.entry, "normalize_pixels_8");
  EXPECT_EQ(last.argument.lanes, 64);
  EXPECT_EQ(last.shape.grid[0], 3 * static_cast<uint32_t>(last.argument.chunks));
  EXPECT_GE(int64_t{last.argument.chunk} * last.argument.chunks, last.argument.length);
  EXPECT_LT(int64_t{last.argument.chunk} * (last.argument.chunks - 1), last.argument.length);
  EXPECT_LE(int64_t{last.argument.chunks} * 3 * 8 * 8, normalization_workspace_bytes(kSms, true));
}

TEST(NormalizationLaunch, ChannelsByThemselves) {
  GroupRoom room{kSms, 8, 227 << 10, 50 << 20};
  room.slices = false;
  for (const int64_t channels : {8, 48, 64, 1280, 8192})
    for (const int64_t plane : {1, 49, 4096, 250'000}) {
      NormalizationShape shape{.rows = false, .channels_last = true, .n = 3, .channels = channels};
      shape.plane = plane, shape.groups = channels;
      ASSERT_EQ(shape.vector(2), 8);
      const auto launches = normalization_launches(shape, 8, 2, true, room);
      ASSERT_TRUE(launches) << launches.error().message;
      const NormalizationLaunch& launch = launches->front();
      const NormalizationArgument& n = launch.argument;
      if (channels == 8192 && plane == 250'000) {
        EXPECT_TRUE(launch.entry.ends_with("_1")) << launch.entry << ": too many channels for a block's pixels";
        continue;
      }
      EXPECT_EQ(launch.entry.starts_with("normalize_apart_parts"), plane == 250'000) << launch.entry << ' ' << channels;
      EXPECT_GE(int64_t{n.chunk} * n.chunks, plane);
      if (launches->size() == 2) {
        EXPECT_LE(n.rows * n.chunks * 8, normalization_workspace_bytes(kSms, true));
        EXPECT_LE(n.lanes * channels / 8, int64_t{launch.shape.block[0]});
      } else {
        EXPECT_EQ(launch.shape.grid[0] * n.inner.extent * 8, static_cast<uint32_t>(3 * channels * n.chunks));
        const int64_t vectors = ceil_div(n.chunk, n.lanes);
        EXPECT_EQ(launch.entry, vectors > 8 ? "normalize_apart_16_8" : "normalize_apart_8_8");
        EXPECT_LE(vectors, 16);
      }
    }
}

TEST(NormalizationLaunch, LargeOnesInSlices) {
  const GroupRoom room{kSms, 8, 227 << 10, 50 << 20};
  for (const int64_t in_group : {1, 2, 4, 10, 30, 61})
    for (const int64_t plane : {17, 49, 64, 1000, 4096, 16'384, 65'536})
      for (const int64_t groups : {8, 12, 64}) {
        NormalizationShape shape{.rows = false, .channels_last = true, .channels = groups * in_group};
        shape.plane = plane, shape.groups = groups, shape.n = 1 + (64 << 20) / (plane * shape.channels * 2);
        const int vec = shape.vector(2);
        const auto launches = normalization_launches(shape, vec, 2, true, room);
        ASSERT_TRUE(launches) << launches.error().message;
        const NormalizationLaunch& launch = launches->front();
        const std::string of = str(in_group, " channels, ", groups, " groups, ", plane, " pixels: ", launch.entry);
        EXPECT_EQ(launch.map.has_value(), launch.entry.starts_with("normalize_slices_")) << of;
        if (!launch.map) {
          EXPECT_TRUE(plane >= 16'384 || plane * shape.channels < 2048 || shape.channels % 8 != 0 || in_group == 61)
              << of;
          continue;
        }
        const NormalizationArgument& n = launch.argument;
        const int64_t width = n.inner.extent, warps = launch.shape.block[0] / 32, pixels = n.chunk / in_group / warps;
        EXPECT_EQ(width * 8 % in_group, 0) << of << ": whole groups";
        EXPECT_EQ(n.rows * width * 8, shape.n * shape.channels) << of;
        EXPECT_GE(pixels * warps * n.chunks, plane) << of;
        EXPECT_LE(ceil_div(pixels, n.lanes), 16) << of;
        EXPECT_LE(n.lanes * width, 32) << of;
        EXPECT_EQ(launch.map->box[0] * launch.map->box[1], static_cast<uint32_t>(pixels * width * 8)) << of;
        EXPECT_LE(std::max(launch.map->box[0], launch.map->box[1]), 256u) << of << ": of the copy engine";
        EXPECT_EQ(launch.shape.shared_bytes, static_cast<uint32_t>(warps * pixels * width * 16)) << of;
        EXPECT_EQ(pixels * width % 8, 0) << of << ": copies begin at 128 bytes";
        EXPECT_EQ(launch.map->extents[0] * launch.map->extents[1], static_cast<uint64_t>(shape.channels * plane)) << of;
        EXPECT_TRUE(launch.shape.cluster == 1 || launch.shape.block[0] == 512) << of << ": small ones tell nobody";
      }
}

TEST(SoftmaxLaunch, ColumnsAreCovered) {
  for (const int64_t length : {1, 7, 21, 64, 500, 512, 3000})
    for (const int64_t inner : {2, 40, 4096})
      for (const int vec : {1, 2, 8}) {
        const int held = held_of_columns(length, length);
        const SoftmaxLaunch launch = softmax_columns_launch({3, length, inner}, {.vec = vec, .held = held});
        const LaunchShape& s = launch.shape;
        EXPECT_GE(int64_t{s.grid[0]} * s.block[0] * vec, 3 * inner);
        EXPECT_LE(s.block[0] * s.block[1], 512u);
        EXPECT_LE(s.shared_bytes, 48u << 10);
        if (held > 0) {
          EXPECT_GE(int64_t{s.block[1]} * held, length);
        }
      }
}

TEST(SoftmaxLaunch, ManyColumnsOfHalvesStayStored) {
  EXPECT_EQ(vector_of_stored_columns({32, 21, 131'072}, 8), 4);
  EXPECT_EQ(vector_of_stored_columns({32, 9, 131'072}, 8), 8);
  EXPECT_EQ(vector_of_stored_columns({32, 8, 131'072}, 8), 1) << "floats fit registers";
  EXPECT_EQ(vector_of_stored_columns({1, 21, 4096}, 8), 1) << "few: latency matters";
  EXPECT_EQ(softmax_columns_launch({32, 21, 131'072}, {.vec = 4, .held = 21, .stored = true}).entry,
            "softmax_stored_4x21");
}
TEST(ReduceLaunch, ManyOddRowsOfHalvesGoInPieces) {
  for (const int64_t length : {9, 49, 197, 1001}) {
    const auto launch = reduce_staged_launch({1 << 20, length, 1}, 2, true, kSms);
    ASSERT_TRUE(launch) << length;
    EXPECT_EQ(launch->entry, "reduce_pieces");
    EXPECT_EQ(launch->argument.chunk * length % 8, 0) << "a block begins at a vector";
    EXPECT_GE(launch->shape.shared_bytes, static_cast<uint32_t>(launch->argument.chunk * length));  // 8 bytes a vector
  }
  for (const int64_t length : {7, 196})
    EXPECT_EQ(reduce_staged_launch({1 << 20, length, 1}, 2, true, kSms)->entry, "reduce_staged");
  EXPECT_EQ(reduce_staged_launch({1 << 20, 49, 1}, 4, true, kSms)->entry, "reduce_staged");
}

constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};

TEST(SoftmaxKernel, AllCompile) {
  for (const DType type : kFloats) {
    for (const RowTile tile : {RowTile{false, type == DType::kF32 ? 4 : 8, 4}, RowTile{true, 1, 16, 1024},
                               RowTile{false, 1, 7}, RowTile{true, type == DType::kF32 ? 4 : 8, 4, 256}})
      ASSERT_NO_FATAL_FAILURE(expect_compiles(softmax_source(type, {.tile = tile})));
    for (const int held : {0, 7})
      ASSERT_NO_FATAL_FAILURE(
          expect_compiles(softmax_source(type, {.columns = SoftmaxColumns{type == DType::kF32 ? 4 : 8, held}})));
    if (type != DType::kF32) {
      ASSERT_NO_FATAL_FAILURE(expect_compiles(softmax_source(type, {.columns = SoftmaxColumns{4, 21, true}})));
      ASSERT_NO_FATAL_FAILURE(expect_compiles(softmax_source(type, {.tile = odd_row_tile(1 << 20, 197, kSms)})));
    }
    for (const int cols : {2, 21, 97, 128})  // a thread's, a team's, odd ones, whole vectors
      ASSERT_NO_FATAL_FAILURE(
          expect_compiles(softmax_source(type, {.tile = short_row_tile(1 << 20, cols, bits_of(type) / 8, kSms)})));
    if (::testing::Test::IsSkipped()) return;
  }
}
TEST(ReduceKernel, AllCompile) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64, DType::kI8, DType::kU8}) {
    ASSERT_TRUE(can_fold(type));
    const int vec = vector_width(64, bits_of(type) / 8);
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_source({{.vec = vec}, type, Fold::kMax})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_source({{.columns = true, .vec = vec}, type, Fold::kSum})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_source({{.staged = true}, type, Fold::kSum})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_axes_source(type, Fold::kMin)));
    if (::testing::Test::IsSkipped()) return;
  }
}
TEST(NormalizationKernel, AllCompile) {
  for (const DType type : kFloats) {
    for (const int cols : {21, 97, 128})
      ASSERT_NO_FATAL_FAILURE(expect_compiles(
          normalization_source({type, DType::kF32, short_row_tile(1 << 20, cols, bits_of(type) / 8, kSms)})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source({type, type, RowTile{false, 4, 8}})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source({type, DType::kF32, RowTile{true, 2, 2, 1024}})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source({type, type, RowTile{true, 2, 4, 256}, true})));
    ASSERT_NO_FATAL_FAILURE(
        expect_compiles(normalization_source({type, type, {}, false, type == DType::kF32 ? 4 : 8, true})));
    NormalizationKernels roots{type, type, RowTile{true, 2, 4, 256}, true};
    roots.centered = false;
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source(roots)));
    roots.tile = short_row_tile(1 << 20, 128, bits_of(type) / 8, kSms);
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source(roots)));
    NormalizationKernels apart{type, type, {}, false, type == DType::kF32 ? 4 : 8};
    apart.apart = apart.slices = true;
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source(apart)));
    if (::testing::Test::IsSkipped()) return;
  }
}
TEST(NormalizationKernel, CompileToBytes) {
  for (const DType type : kFloats)
    for (const DType bytes : {DType::kI8, DType::kU8, DType::kF8E4M3})
      for (const RowTile& tile : {RowTile{false, 4, 8}, RowTile{true, 1, 3, 256}}) {
        NormalizationKernels kernels{type, type, tile};
        kernels.bytes = bytes;
        const bool is_fp8 = bytes == DType::kF8E4M3;
        ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source(kernels),
                                                is_fp8 ? std::span<const char* const>(kArchitecturesOfFp8)
                                                       : std::span<const char* const>(kTestedArchitectures)));
        if (::testing::Test::IsSkipped()) return;
      }
}

}  // namespace
}  // namespace kiln::cuda
