/// How rows are spread over threads: what decides a row kernel's code, and its launch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/cuda/device/module.h"
#include "base/field.h"

namespace kiln::cuda {

/// A row in registers: of a warp, of a block, or of a few threads. Elements are computed in float.
struct RowTile {
  bool block = false;
  int vec = 1;        ///< elements of a load
  int loads = 1;      ///< of a thread
  int threads = 128;  ///< of a block at most
  bool odd = false;   ///< two rows a warp, of an odd number of halves each; loads are of words
  int team = 0;       ///< threads that share a row, if few do; of exactly `loads` elements, aligned to `vec`

  bool operator==(const RowTile&) const = default;
  std::string name() const;  ///< "block_8x2": part of a kernel's name
  static void reflect(auto& self, auto f) {
    f("block", self.block), f("vec", self.vec), f("loads", self.loads), f("threads", self.threads);
    f("odd", self.odd), f("team", self.team);
  }
  Status check() const;
  /// Whether a row of `cols` elements fits and splits into vectors.
  bool holds(int64_t cols) const;
  LaunchShape shape(int64_t rows, int64_t cols) const;
};

/// The tile for rows that are as here at their optimum and `most_cols` long at most; none where they exceed registers.
std::optional<RowTile> row_tile(int64_t rows, int64_t cols, int64_t most_cols, int element_bytes, int num_sms);
/// The tile for many rows of exactly `cols` halves, an odd number; none where that is not what they are.
std::optional<RowTile> odd_row_tile(int64_t rows, int64_t cols, int num_sms);

/// The tile for very many rows of exactly `cols` elements, which are few; none where that is not what they are.
std::optional<RowTile> short_row_tile(int64_t rows, int64_t cols, int element_bytes, int num_sms);
/// The same with `team` threads a row, however many rows there are; none where their registers hold none, or some have
/// nothing of a row.
std::optional<RowTile> team_row_tile(int64_t cols, int element_bytes, int team);

/// Elements of a 16-byte vector, or fewer, that divide `cols`.
int vector_width(int64_t cols, int element_bytes);
/// Whether an address is aligned for vectors of `bytes`.
inline bool is_aligned(const void* address, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(bytes) == 0;
}

}  // namespace kiln::cuda
