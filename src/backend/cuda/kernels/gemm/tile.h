/// Tiles, by which the kernels of contractions are tuned.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/field.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

using kiln::append;  // where argument-dependent lookup finds it for the enums of kernels

/// A block's share of a product: bm x bn sums, bk of k at a time.
struct TileShape {
  int64_t bm = 0, bn = 0, bk = 0;
  int64_t warps_m = 0, warps_n = 0;  ///< how the block's warps share it; 0 where threads do (plain FMA)
  int64_t tm = 0, tn = 0;            ///< sums a thread, plain FMA only
  int64_t stages = 0;                ///< tiles of operands in shared memory

  int64_t threads() const { return warps_m ? warps_m * warps_n * 32 : (bm / tm) * (bn / tn); }
  std::string name() const;  ///< "128x64x32"
  /// Fails unless a block can have it. Kernels without a tile have zeros.
  Status require_whole() const;
  bool operator==(const TileShape&) const = default;
  static void reflect(auto& self, auto f) {
    f("bm", self.bm), f("bn", self.bn), f("bk", self.bk), f("warps_m", self.warps_m), f("warps_n", self.warps_n);
    f("tm", self.tm), f("tn", self.tn), f("stages", self.stages);
  }
};

/// Dynamic shared memory of the tensor-core kernels: stages of both operands, or the epilogue's slabs if those are
/// more.
uint32_t mma_shared_bytes(const TileShape& tile, DType element);

}  // namespace kiln::cuda
