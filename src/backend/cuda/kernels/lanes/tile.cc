#include "backend/cuda/kernels/lanes/tile.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int kWarp = 32, kMostThreads = 1024;
constexpr int64_t kFewRows = 512;  // one block a row spreads them over more multiprocessors

}  // namespace

std::string RowTile::name() const {
  if (team > 0) return str("team_", team, "_of_", loads);
  return str(odd ? "odd_" : block ? "block_" : "warp_", vec, 'x', loads);
}

Status RowTile::check() const {
  const auto is_power_of_two = [](int value) { return std::has_single_bit(static_cast<uint32_t>(value)); };
  const int most_loads = team > 0 ? kMostShortBytes / 2 : 64;
  TRY(require(vec >= 1 && vec <= 8 && is_power_of_two(vec) && loads >= 1 && loads <= most_loads, "a row's tile has ",
              loads, " loads of ", vec, " elements"));
  TRY(require(team >= 0 && team <= kMostTeam && (team == 0 || is_power_of_two(team)), "a row's tile has teams of ",
              team, " threads"));
  return require(threads >= kWarp && threads <= kMostThreads && threads % kWarp == 0, "a row's tile has blocks of ",
                 threads, " threads");
}

bool RowTile::holds(int64_t cols) const {
  if (team > 0) return cols == loads;
  if (odd) return !block && cols % 2 == 1 && ceil_div((cols + 1) / 2, kWarp) == loads;
  return cols % vec == 0 && cols <= int64_t{block ? threads : kWarp} * vec * loads;
}

LaunchShape RowTile::shape(int64_t rows, int64_t cols) const {
  LaunchShape shape;
  shape.pdl = true;
  if (team > 0) {
    shape.block[0] = static_cast<uint32_t>(threads);
    shape.grid[0] = grid_blocks(ceil_div(rows, threads / team));
  } else if (block) {
    const int64_t needed = ceil_div(ceil_div(cols, int64_t{vec} * loads), kWarp) * kWarp;
    shape.block[0] = static_cast<uint32_t>(std::max<int64_t>(needed, kWarp));
    shape.grid[0] = grid_blocks(rows);
  } else {
    const int64_t teams = odd ? (rows + 1) / 2 : rows, warps = teams <= kFewRows ? 1 : threads / kWarp;
    shape.block[0] = static_cast<uint32_t>(warps * kWarp);
    shape.grid[0] = grid_blocks(ceil_div(teams, warps));
  }
  return shape;
}

int vector_width(int64_t cols, int element_bytes) {
  int width = std::min(8, 16 / element_bytes);
  while (width > 1 && cols % width != 0) width /= 2;
  return width;
}

}  // namespace kiln::cuda
