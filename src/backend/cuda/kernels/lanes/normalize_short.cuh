// Normalisation of very many short rows.
#pragma once

#include "lanes/normalize.cuh"
#include "lanes/short_rows.cuh"

namespace kiln {

/// f(value, coefficient) of all that exists; `from` has an element a column.
template <class S, class Row, class F>
__device__ __forceinline__ void apply_coefficients(Row& row, const S* from, F f) {
#pragma unroll
  for (int i = 0; i < Row::kSteps; ++i) {
    if constexpr (Row::kOdd) {  // columns begin between words, or words between columns
#pragma unroll
      for (int k = i * Row::kPiece; k < (i + 1) * Row::kPiece; ++k)
        if (row.exists(k)) row.values[k] = f(row.values[k], to_float(from[row.column(k)]));
    } else if (row.exists_piece(i)) {
      const Vec<float, Row::kPiece> piece = load_floats<S, Row::kPiece>(from + row.first(i));
#pragma unroll
      for (int e = 0; e < Row::kPiece; ++e)
        row.values[i * Row::kPiece + e] = f(row.values[i * Row::kPiece + e], piece.at[e]);
    }
  }
}

/// x and y of T, scale and bias of S, an element a column, or null for 1 and 0; all aligned to 16 bytes. kTeam threads
/// a row, kThreads a block. Not kCentered: the mean is taken to be 0.
template <class T, class S, int kCols, int kTeam, int kThreads, bool kCentered = true>
__device__ __forceinline__ void normalize_short(const Normalization& n) {
  __shared__ StagedRows<T, kCols, kTeam, kThreads> staged;
  using Row = ShortRow<T, kCols, kTeam, kThreads>;
  pdl_launch();
  pdl_wait();
  const auto* x = static_cast<const T*>(n.x);
  map_short_rows<T, kCols, kTeam, kThreads>(staged, x, static_cast<T*>(n.y), n.rows, 0, [&](Row& row) {
    float(&values)[Row::kCount] = row.values;
    float mean = 0;
    if constexpr (kCentered) mean = row.fold(0, Plus(), [&](int k) { return values[k]; }) * n.share;
    const float squares = row.fold(0, Plus(), [&](int k) {
      values[k] -= mean;
      return row.exists(k) ? values[k] * values[k] : 0;
    });
    const float factor = rsqrtf(squares * n.share + n.epsilon);
#pragma unroll
    for (int k = 0; k < Row::kCount; ++k) values[k] *= factor;
    if (n.scale) apply_coefficients(row, static_cast<const S*>(n.scale), [](float a, float b) { return a * b; });
    if (n.bias) apply_coefficients(row, static_cast<const S*>(n.bias), [](float a, float b) { return a + b; });
  });
}

}  // namespace kiln
