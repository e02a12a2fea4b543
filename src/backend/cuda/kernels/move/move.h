/// Elements moved from one set of strides to another: transposes, slices in bounds, broadcasts, concatenations,
/// reformats. Elements are bytes here: any type of whole bytes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "tensor/format.h"

namespace kiln::cuda {

/// to[i . to_strides] = from[i . from_strides] for every index i of `extents`; offsets and strides in elements.
struct StridedCopy {
  Extents extents;
  AxisStrides from{}, to{};
  int64_t from_offset = 0, to_offset = 0;
  int source = 0;  ///< which of a step's inputs
};

/// The same elements in another format; axes are the tensor's own.
StridedCopy reformat_copy(std::span<const int64_t> extents, const Format& from, const Format& to);
/// Axis i of the dense target is axis perm[i] of the dense source, of `extents`.
StridedCopy transpose_copy(std::span<const int64_t> extents, std::span<const int64_t> perm);
/// A dense source broadcast to a dense target, aligned at the right.
StridedCopy expand_copy(std::span<const int64_t> from, std::span<const int64_t> to);
/// ops::Slice of a dense tensor where no coordinate lies outside.
StridedCopy slice_copy(std::span<const int64_t> from, std::span<const int64_t> to, std::span<const int64_t> starts,
                       std::span<const int64_t> strides);
/// Dense inputs one after the other along `axis` of a dense target.
std::vector<StridedCopy> concatenation_copies(std::span<const Extents> inputs, int axis);
/// Inputs one after the other along `axis` of a dense target, each read at strides of its own: an input says its
/// extents, and where it is read from.
std::vector<StridedCopy> concatenation_copies(std::vector<StridedCopy> inputs, int axis);

/// One kernel of kernels/move/move.cuh.
struct MoveKernel {
  enum class Kind : uint8_t { kMove, kMany, kWide, kTranspose, kTransposeVectors };
  Kind kind = Kind::kMove;
  int unit_bytes = 1;  ///< 1, 2, 4, 8 or 16

  std::string entry() const;  ///< "move_16"
  bool operator==(const MoveKernel&) const = default;
};
/// Extents of a transposing block along the axis that is contiguous in the source, and along the one that is in the
/// target.
struct MoveTile {
  int a, b;
};
MoveTile tile_of(MoveKernel kernel);
inline constexpr int kBoxesOfLaunch = 8;  ///< of MoveKernel::Kind::kMany
/// Kernels for these copies: those that run them best, and those that run them wherever memory lies; likeliest first.
std::vector<MoveKernel> move_kernels_for(int element_bytes, std::span<const StridedCopy> copies);

/// The copying kernels that a module holds.
class MoveFunctions {
 public:
  explicit MoveFunctions(const Module& module);
  const Function* find(MoveKernel kernel) const;

 private:
  std::array<std::array<std::optional<Function>, 5>, 5> functions_;
};

/// A step's copies, planned when shapes are bound.
class Move {
 public:
  /// Fails if the module holds no kernel that runs them.
  static Result<Move> plan(const MoveFunctions& functions, int element_bytes, std::span<const StridedCopy> copies,
                           int num_sms);
  /// `sources[i]` is what a copy of source i reads.
  Status run(const Stream& stream, const void* const* sources, void* to);

  struct Launch;

 private:
  /// Launches whose units are of the same size.
  struct Way {
    int unit_bytes = 1, align = 1;
    std::vector<std::shared_ptr<Launch>> launches;
  };
  std::vector<Way> ways_;  ///< the widest first; the last one runs wherever memory lies
};

}  // namespace kiln::cuda
