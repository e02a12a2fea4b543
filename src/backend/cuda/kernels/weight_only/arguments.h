#pragma once

#include <cstdint>

namespace kiln::cuda {

/// How weights lie for the kernels of kernels/weight_only: in pieces of 16 columns and one step along k, a step behind
/// the other, then the next 16 columns. A piece is two halves, for columns g and g + 8 of lanes (g, t) = (lane / 4,
/// lane % 4), of 16 bytes a lane. These are, for each 16 numbers along k, the four from 4 * t on: of four bits in half
/// a word, numbers 0 and 1 in the low bits of its two halves, 2 and 3 behind them; two such halves of a word are 8 bits
/// apart. Of eight bits they are a word, in their order.
struct WeightPieces {
  static constexpr int kColumns = 16, kBytes = 1024, kLaneBytes = 16;
  /// Numbers along k of a step, of so many bits each.
  static constexpr int step(int bits) { return kBytes * 8 / kColumns / bits; }
};

/// C = epilogue(A * numbers), A rows x k with `a_row` elements from row to row, C row-major. Scales and zero points are
/// in groups of 16 columns, [group][block][16]. Weights and zero points have no sign: their types' least is 0.
template <class T, class Result, class Scale, class Epilogue>
struct WeightOnlyArgumentsOf {
  const T* a = nullptr;
  const unsigned char* weights = nullptr;
  const Scale* scales = nullptr;
  const unsigned char* zeros = nullptr;  ///< null: all are in the middle
  Result* c = nullptr;
  Epilogue epilogue;
  int64_t a_row = 0;
  int32_t m = 0, n = 0, k = 0, block = 1, blocks = 1;
  int32_t pitch = 0;  ///< of what expand_weights writes: elements from column to column
};

}  // namespace kiln::cuda
