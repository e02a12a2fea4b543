#pragma once

#include <cstdint>

namespace kiln::cuda {

/// One batch axis: its extent, and how far each tensor moves along it (0 repeats).
struct BatchAxis {
  int32_t extent = 1, unused = 0;
  int64_t a = 0, b = 0, c = 0;
};
struct Batches {
  static constexpr unsigned kMost = 6;
  int32_t axes = 0, unused = 0;
  BatchAxis axis[kMost];  ///< the innermost first
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < axes; ++i) n *= axis[i].extent;
    return n;
  }
};

/// Element (i, l) of A lies at i * a_row + l * a_k, (l, j) of B at j * b_column + l * b_k, (i, j) of C at i * c_row +
/// j.
template <class T, class Result, class Epilogue>
struct GemmArgumentsOf {
  const T* a = nullptr;
  const T* b = nullptr;
  Result* c = nullptr;
  float* partial = nullptr;  ///< [split][batch][m][n]
  Epilogue epilogue;
  int64_t a_row = 0, a_k = 1, b_column = 1, b_k = 0, c_row = 0;
  int32_t m = 0, n = 0, k = 0, splits = 1;
  float epsilon = 0;  ///< of kernels that normalize rows of A
  int32_t unused = 0;
  Batches batches;
};

}  // namespace kiln::cuda
