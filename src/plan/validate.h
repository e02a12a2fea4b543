/// Validates a plan: afterwards runtime/ may rely on it.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "plan/plan.h"

namespace kiln::plan {

inline constexpr int64_t kMaxMemoryBytes = int64_t{1} << 50;  ///< of an arena or a workspace
inline constexpr int64_t kMaxElements = int64_t{1} << 46;     ///< of one tensor
inline constexpr size_t kMaxShapeElements = 64;               ///< of a shape tensor among the inputs

/// Succeeds if every index of `plan` is one of something, every list has the length that its use takes for granted,
/// weights have the bytes of their type and extents, places lie within the arena, views form no cycle, and nothing
/// writes where nothing may be written. What extents will be is known only when shapes are: `validate_extents`.
Status validate(const Plan& plan);

/// Checks that weights which share elements share those of an earlier one with elements of its own, of their type.
Status validate_shared(std::span<const Weight> weights);

/// What the steps of a block read and write from outside, and the extents of what they read.
struct BlockSurface {
  std::span<const IoTensor> inputs, outputs;
  std::span<const Extents> input_extents;
};

/// Checks at bind whether every tensor, with `extents` evaluated for `symbols`, fits into the memory that its place
/// gives it: the arena's part, the weight, the tensor it views, the caller's input or output.
///   extents   one of each of block.tensors
///   only      by tensor: the others are not looked at, nor are outputs that none of these is; null: all are
Status validate_extents(const Plan& plan, const Block& block, const BlockSurface& surface,
                        std::span<const int64_t> symbols, std::span<const Extents> extents,
                        const std::vector<bool>* only = nullptr);
/// Bytes of memory that a tensor takes, padding of blocked formats included.
Result<int64_t> checked_bytes(const Tensor& tensor, std::span<const int64_t> symbols);

}  // namespace kiln::plan
