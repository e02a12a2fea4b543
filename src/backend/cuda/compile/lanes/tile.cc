#include "backend/cuda/compile/lanes/tile.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/kernels/lanes/short_layout.cuh"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int kWarp = 32, kWarpsOfBlock = 4, kMostThreads = 1024;
constexpr int kMostElements = 32;  // of a thread: registers
constexpr int kMostTeam = RowTile::kMostTeam;

int64_t most_loads(int vec) { return vec == 1 ? 16 : kMostElements / vec; }
/// Loads of a thread: exactly as many as needed if they are few, because an idle load still costs its instructions.
int loads_for(int64_t vectors, int64_t threads) {
  const int64_t loads = std::max<int64_t>(1, ceil_div(vectors, threads)), step = loads <= 4 ? 1 : loads <= 8 ? 2 : 4;
  return static_cast<int>(ceil_div(loads, step) * step);
}
bool are_many(int64_t rows, int num_sms) { return rows >= int64_t{num_sms} * 8; }

}  // namespace

std::optional<RowTile> row_tile(int64_t rows, int64_t cols, int64_t most_cols, int element_bytes, int num_sms) {
  constexpr int64_t kBytesOfThread = 64, kLeastThreads = 64;
  RowTile tile{false, vector_width(cols, element_bytes)};
  if (most_cols % tile.vec != 0) tile.vec = vector_width(most_cols, element_bytes);
  const int64_t vectors = ceil_div(most_cols, tile.vec);
  const bool many = are_many(rows, num_sms);
  // With few rows, a block for each row keeps more loads in flight than a warp does. Rows of few loads take a warp all
  // the same, because the threads of a block must wait for each other.
  if (vectors <= kWarp * most_loads(tile.vec) && (many || vectors <= kWarp * 4)) {
    tile.loads = loads_for(vectors, kWarp);
    // A block has several short rows, because a multiprocessor begins only so many blocks at a time.
    constexpr uint64_t kBytesOfBlock = 4096, kMostWarps = 16;
    const auto row_bytes = static_cast<uint64_t>(std::max<int64_t>(1, most_cols * element_bytes));
    if (many)
      tile.threads = kWarp * static_cast<int>(std::clamp<uint64_t>(std::bit_floor(kBytesOfBlock / row_bytes),
                                                                   kWarpsOfBlock, kMostWarps));
    return tile;
  }
  tile.block = true;
  // With many rows, few threads work on each row: many blocks fit on a multiprocessor, and some load while others fold.
  const int64_t words = vectors * std::max(tile.vec * element_bytes, 4);  // as bytes of registers
  const int64_t wanted = many ? std::max(ceil_div(ceil_div(words, kBytesOfThread), kWarp) * kWarp, kLeastThreads)
                              : ceil_div(ceil_div(vectors, 2), kWarp) * kWarp;
  tile.threads = static_cast<int>(std::clamp<int64_t>(wanted, kLeastThreads, many ? kMostThreads : 256));
  if (ceil_div(vectors, tile.threads) > (many ? most_loads(tile.vec) : 2)) tile.threads = kMostThreads;
  tile.loads = loads_for(vectors, tile.threads);
  if (tile.loads > most_loads(tile.vec)) return std::nullopt;
  return tile;
}

std::optional<RowTile> odd_row_tile(int64_t rows, int64_t cols, int num_sms) {
  constexpr int64_t kMostLoads = 16;  // of words
  const int64_t loads = ceil_div((cols + 1) / 2, kWarp);
  if (cols % 2 == 0 || loads > kMostLoads || !are_many(rows, num_sms)) return std::nullopt;
  return RowTile{false, 2, static_cast<int>(loads), kWarp * kWarpsOfBlock, true};
}

std::optional<RowTile> team_row_tile(int64_t cols, int element_bytes, int team) {
  constexpr int kMostValues = 64, kLeastThreads = kWarp * kWarpsOfBlock, kMostTeamThreads = 2 * kLeastThreads;
  if (cols < 2 || cols * element_bytes > RowTile::kMostShortBytes) return std::nullopt;
  ShortLayout layout{static_cast<int>(cols), element_bytes, team, kLeastThreads};
  if (layout.pieces() < team || layout.steps() * layout.piece() > kMostValues) return std::nullopt;
  layout.threads = kMostTeamThreads;  // as many warps as are to take turns
  layout.threads = std::max(layout.apart() * kWarp, kLeastThreads);
  return RowTile{false, 16 / element_bytes, layout.cols, layout.threads, false, team};
}

std::optional<RowTile> short_row_tile(int64_t rows, int64_t cols, int element_bytes, int num_sms) {
  constexpr int64_t kLeastRows = 256;               // of a multiprocessor
  constexpr int kGoodVectors = 3, kGoodBytes = 66;  // of a thread, of rows of whole vectors and of others
  if (rows < kLeastRows * num_sms) return std::nullopt;
  const bool whole = cols * element_bytes % 16 == 0;
  const int64_t good = whole ? kGoodVectors * 16 : kGoodBytes;
  for (int team = 1; team <= kMostTeam; team *= 2)
    if (const auto tile = team_row_tile(cols, element_bytes, team))
      if (ceil_div(cols * element_bytes, team) <= good) return tile;
  return std::nullopt;
}

}  // namespace kiln::cuda
