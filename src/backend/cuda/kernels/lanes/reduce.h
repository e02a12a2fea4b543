/// Sums, products, maxima and minima along one axis (or several that are neighbours): kernels/lanes/reduce.cuh.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/cuda/kernels/lanes/arguments.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

enum class Fold : uint8_t { kSum, kProd, kMax, kMin };

/// A step's choice of kernels.
struct ReduceTuning {
  bool columns = false;  ///< the axis is not the innermost
  int vec = 1;           ///< elements of a load, where shape and addresses allow it; else 1
  bool staged = false;   ///< rows by way of shared memory too

  static void reflect(auto& self, auto f) { f("columns", self.columns), f("vec", self.vec), f("staged", self.staged); }
  Status check() const {
    return require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a reduction loads ", vec, " elements at once");
  }
};
/// x is dense [outer, length, inner], y dense [outer, inner].
struct ReduceShape {
  int64_t outer = 1, length = 1, inner = 1;
};

inline constexpr int kReduceShortThreads = 128;
std::string reduce_short_entry(int vec, int64_t loads);
struct ReduceLaunch {
  std::string entry;
  LaunchShape shape;
  ReduceArgument argument;
};
/// One launch; or two, of which the first writes to a workspace that the second reads. `vec` divides the length of
/// rows, or the columns.
std::vector<ReduceLaunch> reduce_launches(const ReduceShape& shape, bool columns, int vec, bool average, int num_sms);
/// Many short rows, whatever their length, by way of shared memory: faster than elements one by one where vectors do
/// not divide rows. Of rows of an odd number of small elements, a vector or more, shared memory has only what vectors
/// add up to. None for rows that are long or few. x is aligned to kStageAlign.
std::optional<ReduceLaunch> reduce_staged_launch(const ReduceShape& shape, int element_bytes, bool average,
                                                 int num_sms);
inline constexpr int64_t kStageAlign = 16;

struct AxesLaunch {
  LaunchShape shape;
  AxesArgument argument;
};
/// x is dense, of `extents`. kUnsupported for offsets of more than 32 bits.
Result<AxesLaunch> reduce_axes_launch(std::span<const int64_t> extents, std::span<const int> axes, bool average);

/// Enough for every shape.
int64_t reduce_workspace_bytes(int num_sms);

}  // namespace kiln::cuda
