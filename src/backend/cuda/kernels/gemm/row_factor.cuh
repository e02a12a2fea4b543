// RMS normalization in front of a product: rows of A come as they are, and a row's sums are scaled at their end, by
// 1 / sqrt(mean square + epsilon).
#pragma once
#include "gemm/arguments.cuh"

namespace kiln {

/// The sum of squares of 16 bytes of A, in words as they were loaded.
__device__ __forceinline__ float sum_of_squares(const unsigned (&word)[4]) {
  constexpr int kElements = 16 / sizeof(Element);
  Words<Element, kElements> x;
#pragma unroll
  for (int i = 0; i < 4; ++i) x.at[i] = word[i];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) sum = fmaf(x[i], x[i], sum);
  return sum;
}
/// What scales a row, by its sum of squares.
__device__ __forceinline__ float row_factor(const GemmArguments& args, float squares) {
  return rsqrtf(squares / static_cast<float>(args.k) + args.epsilon);
}

}  // namespace kiln
