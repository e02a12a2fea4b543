#include "backend/cuda/kernels/lanes/tile.h"

#include <algorithm>
#include <bit>

namespace kiln::cuda {
namespace {

constexpr int kWarp = 32, kWarpsOfBlock = 4, kMostThreads = 1024;
constexpr int64_t kFewRows = 512;  // a block each: they spread over more multiprocessors
constexpr int kMostElements = 32;  // of a thread: registers

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t most_loads(int vec) { return vec == 1 ? 16 : kMostElements / vec; }
/// A power of two, so that few kernels differ.
int loads_for(int64_t vectors, int64_t threads) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, ceil_div(vectors, threads)))));
}

}  // namespace

std::string RowTile::name() const { return str(block ? "block_" : "warp_", vec, 'x', loads); }

Record RowTile::record() const {
  Record record;
  record.set("block", block).set("vec", vec).set("loads", loads);
  return record;
}
Result<RowTile> RowTile::parse(const Record& record) {
  const int64_t vec = TRY(record.get_int("vec")), loads = TRY(record.get_int("loads"));
  TRY(require(vec >= 1 && vec <= 8 && std::has_single_bit(static_cast<uint64_t>(vec)) && loads >= 1 && loads <= 32,
              "a row's tile has ", loads, " loads of ", vec, " elements"));
  return RowTile{TRY(record.get_bool("block")), static_cast<int>(vec), static_cast<int>(loads)};
}

bool RowTile::holds(int64_t cols) const {
  return cols % vec == 0 && cols <= int64_t{block ? kMostThreads : kWarp} * vec * loads;
}

LaunchShape RowTile::shape(int64_t rows, int64_t cols) const {
  LaunchShape shape;
  shape.pdl = true;
  if (block) {
    const int64_t threads = ceil_div(ceil_div(cols, int64_t{vec} * loads), kWarp) * kWarp;
    shape.block[0] = static_cast<uint32_t>(std::max<int64_t>(threads, kWarp));
    shape.grid[0] = grid_blocks(rows);
  } else {
    const int64_t warps = rows <= kFewRows ? 1 : kWarpsOfBlock;
    shape.block[0] = static_cast<uint32_t>(warps * kWarp);
    shape.grid[0] = grid_blocks(ceil_div(rows, warps));
  }
  return shape;
}

int vector_width(int64_t cols, int element_bytes) {
  int width = std::min(8, 16 / element_bytes);
  while (width > 1 && cols % width != 0) width /= 2;
  return width;
}

std::optional<RowTile> row_tile(int64_t rows, int64_t cols, int64_t most_cols, int element_bytes, int num_sms) {
  RowTile tile{false, vector_width(cols, element_bytes), 1};
  if (most_cols % tile.vec != 0) tile.vec = vector_width(most_cols, element_bytes);
  const int64_t vectors = ceil_div(most_cols, tile.vec);
  // Where rows are few, a block each keeps more loads in flight than a warp each, unless a row is a few loads anyway:
  // a block's threads must wait for each other.
  const bool many = rows >= int64_t{num_sms} * 8 || vectors <= kWarp * 4;
  if (vectors <= kWarp * most_loads(tile.vec) && many) {
    tile.loads = loads_for(vectors, kWarp);
    return tile;
  }
  tile.block = true;
  tile.loads = std::max(loads_for(vectors, kMostThreads), std::min(loads_for(vectors, 256), 2));
  if (tile.loads > most_loads(tile.vec)) return std::nullopt;
  return tile;
}

}  // namespace kiln::cuda
