/// Softmax along one axis: kernels/lanes/softmax.cuh and softmax_columns.cuh.
#pragma once

#include "backend/cuda/kernels/lanes/tile.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// x and y are dense [outer, length, inner] of f32, f16 or bf16.
struct SoftmaxShape {
  int64_t outer = 1, length = 1, inner = 1;
};

/// The kernels of lanes that are not the innermost axis.
struct SoftmaxColumns {
  int vec = 1;          ///< elements of a load, where shape and addresses allow it; else 1
  int held = 0;         ///< elements that a thread holds in registers; 0: columns of any length
  bool stored = false;  ///< they stay in registers as they are stored: columns of exactly `held` halves

  static constexpr int kMostHeld = 32;
  static constexpr int kShared = 8;  ///< elements that threads which share a column hold each
  static void reflect(auto& self, auto f) { f("vec", self.vec), f("held", self.held), f("stored", self.stored); }
  Status check() const;
  std::string entry() const;
};

/// The kernels of a step: columns, or rows of any length, in registers where there is a tile.
struct SoftmaxTuning {
  std::optional<RowTile> tile = {};
  std::optional<SoftmaxColumns> columns = {};

  static void reflect(auto& self, auto f) { f("tile", self.tile), f("columns", self.columns); }
};
/// A launch, its entry by name.
struct SoftmaxLaunch {
  std::string entry;
  LaunchShape shape;
  int64_t numbers[3];  ///< the arguments behind x and y
};
/// The launch with `tile` of the kernel that has it, which takes shapes that the tile holds, in aligned memory; else
/// another.
SoftmaxLaunch softmax_launch(const SoftmaxShape& shape, const RowTile* tile);
/// Along columns, in vectors of `columns.vec`, which divides them and to which memory is aligned; of at most
/// most_held(columns.held) elements, or of exactly `columns.held` where those stay as they are stored.
SoftmaxLaunch softmax_columns_launch(const SoftmaxShape& shape, const SoftmaxColumns& columns);
/// Elements of columns whose threads hold so many each.
int64_t most_held(int held);

}  // namespace kiln::cuda
