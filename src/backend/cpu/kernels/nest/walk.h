/// How a nest walks its elements: axes merged and ordered, and cut into tiles that fit in L1.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/extents.h"

namespace kiln::cpu {

inline constexpr int kMaxNestInputs = 32;
inline constexpr int kMaxNestOutputs = 8;
inline constexpr int kMaxNestOperands = kMaxNestInputs + kMaxNestOutputs;

/// A tensor's elements: strides by axis, in elements; 0 repeats (inputs only).
struct NestStrides {
  int64_t at[kMaxRank] = {};
};

/// Axes outermost first. A tile is `step` indices of axis `split` (fewer at its end) times all of the axes behind it.
struct NestWalk {
  int rank = 0;  ///< at least 1, once made
  int64_t extents[kMaxRank] = {};
  int num_operands = 0;
  NestStrides strides[kMaxNestOperands];  ///< inputs, then outputs

  int split = 0;
  int64_t step = 1;
  int64_t inner = 1;  ///< elements of the axes behind `split`
  int64_t tiles = 0;  ///< in all

  /// Whether an operand's elements of a tile lie one after another, in the walk's order.
  bool is_dense(int operand) const;
  int64_t tiles_of_split() const { return (extents[split] + step - 1) / step; }
};

/// `operands` are inputs, then `num_outputs` outputs; tiles have at most `tile` elements. Axes are ordered by the first
/// output's strides and merged wherever all operands allow it.
NestWalk make_walk(std::span<const int64_t> extents, std::span<const NestStrides> operands, int num_outputs,
                   int64_t tile);

/// Copies elements of `size` bytes (1, 2, 4 or 8) of a tile, `count` indices of axis `split`: from an operand at `data`
/// to dense memory.
void gather_tile(const NestWalk& walk, int operand, int64_t count, int size, const void* data, void* dense);
/// The reverse.
void scatter_tile(const NestWalk& walk, int operand, int64_t count, int size, const void* dense, void* data);

}  // namespace kiln::cpu
