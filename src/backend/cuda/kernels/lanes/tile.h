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

  static constexpr int kMostTeam = 16, kMostShortBytes = 512;  ///< the latter of a row that a team has
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

/// Elements of a 16-byte vector, or fewer, that divide `cols`.
int vector_width(int64_t cols, int element_bytes);
/// Whether an address is aligned for vectors of `bytes`.
inline bool is_aligned(const void* address, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(bytes) == 0;
}

}  // namespace kiln::cuda
