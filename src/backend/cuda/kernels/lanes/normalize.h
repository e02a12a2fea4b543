/// Normalisation by the mean and variance of rows or of groups of channels: kernels/lanes/normalize.cuh and
/// normalize_groups.cuh.
#pragma once

#include <span>
#include <vector>

#include "backend/cuda/kernels/gemm/hopper.h"
#include "backend/cuda/kernels/lanes/arguments.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// x is [rows, length] with coefficients of [length]; or [n, channels, plane], channels last or not, normalised in
/// groups of channels with coefficients of [channels]. Dense.
struct NormalizationShape {
  bool rows = true;
  bool channels_last = false;
  int64_t n = 1;  ///< rows, or images
  int64_t length = 1;
  int64_t channels = 1, plane = 1, groups = 1;
  float epsilon = 1e-5F;
  bool centered = true;  ///< else the mean is taken to be 0; of rows only

  /// Elements of a 16-byte vector, or fewer, that lie together and have one coefficient or neighbouring ones.
  int vector(int element_bytes) const;
  /// Each channel is a group, and channels are neighbours: vectors have those of several groups.
  bool is_apart() const { return !rows && channels_last && groups == channels; }
};

/// A step's choice of kernels.
struct NormalizationTuning {
  std::optional<RowTile> tile;  ///< of the kernel that has rows in registers; none: `vec`, `held` and `slices` count
  int vec = 1;
  bool held = false, slices = false;

  static void reflect(auto& self, auto f) {
    f("tile", self.tile), f("vec", self.vec), f("held", self.held), f("slices", self.slices);
  }
  Status check() const {
    return require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a normalisation loads ", vec, " elements at once");
  }
};
struct NormalizationFamily;  ///< normalize_family.h
struct NormalizationLaunch {
  const NormalizationFamily* family = nullptr;  ///< of groups
  std::string entry;
  LaunchShape shape;
  NormalizationArgument argument;
  /// Map of x, before the argument: clusters go from slice to slice, and no more are launched than run at once.
  std::optional<MapPlan> map;
};
/// The resources of a device that groups may take.
struct GroupRoom {
  int num_sms = 1;
  int most_blocks = 1;  ///< of a cluster
  int64_t shared_bytes = 0, l2_bytes = 0;
  bool holds = true;   ///< there are kernels of normalize_held.h,
  int most_held = 16;  ///< whose clusters have so many blocks at most
  bool slices = true;  ///< there are kernels of normalize_slices.h
};
GroupRoom group_room(const struct Properties& device);
/// A launch of rows in registers.
Result<NormalizationLaunch> normalization_rows_launch(const NormalizationShape& shape, const RowTile& tile);
/// One launch; or two, of which the first writes statistics to a workspace. Vectors of `vec`, which divides
/// NormalizationShape::vector(). May groups be split among blocks, those that registers, or the shared memory of a
/// cluster, hold are read once. Fails for groups of 2^30 elements.
Result<std::vector<NormalizationLaunch>> normalization_launches(const NormalizationShape& shape, int vec,
                                                                int element_bytes, bool may_split,
                                                                const GroupRoom& room);
/// Enough for every shape.
int64_t normalization_workspace_bytes(int num_sms, bool channels_last);

}  // namespace kiln::cuda
