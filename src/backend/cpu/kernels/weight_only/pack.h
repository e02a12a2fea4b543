/// Matrices of quantized weights, rearranged once so that kernels read them in a straight line and in their own bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/aligned.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// A k x n matrix of i4, i8 or u8 in any order, element (i, j) being number i * k_stride + j * n_stride of `data`, with
/// a scale, and perhaps a zero point, for each `block` elements along k. A scale's place is i / block * scale_k_stride
/// + j * scale_n_stride; a zero point's is the same.
struct QuantizedMatrix {
  const std::byte* data;
  DType type;
  int64_t k, n;
  ptrdiff_t k_stride, n_stride;
  int64_t block;  ///< divides k; a multiple of kBlockStep, or k
  const std::byte* scales;
  DType scale_type;
  const std::byte* zeros = nullptr;  ///< of `type`; null: all are 0
  ptrdiff_t scale_k_stride, scale_n_stride;

  int64_t offset(int64_t i, int64_t j) const { return i * k_stride + j * n_stride; }
  int64_t scale_offset(int64_t b, int64_t j) const { return b * scale_k_stride + j * scale_n_stride; }
};

/// Blocks are of a multiple of so many elements, if there are several: those of i4 that one word holds.
inline constexpr int64_t kBlockStep = 8;

/// Packed weights that own their memory. They belong to the target they were packed for. Panels of `panel` columns lie
/// behind each other. In a panel, i4 are words of kBlockStep neighbours along k, the first in the low bits, a word a
/// column; bytes are a row of columns for each k. Rows beyond k and columns beyond n are zeros.
struct PackedWeights {
  int64_t k = 0, n = 0, block = 0;
  int64_t panel = 0;
  DType type = DType::kI8;    ///< of what is packed: kI4, or kI8, to which u8 is moved by 128
  int32_t moved = 0;          ///< packed numbers are the plan's less this
  bool biased = false;        ///< i4 are kept as number + 8, without a sign; zero points are moved alike
  AlignedFloats data;         ///< its bytes
  AlignedFloats scales;       ///< [panel][block][columns of a panel]
  std::vector<int8_t> zeros;  ///< of packed numbers, in the same order; empty: all are 0

  int64_t blocks() const { return block > 0 ? k / block : 0; }
  int64_t panels() const { return ceil_div(n, panel); }
  int64_t padded_k() const { return round_up(k, kBlockStep); }
  int64_t panel_bytes() const { return size_bytes(type, padded_k() * panel); }
  const std::byte* panel_data(int64_t index) const {
    return reinterpret_cast<const std::byte*>(data.data()) + index * panel_bytes();
  }
  const float* panel_scales(int64_t index) const { return scales.data() + index * blocks() * panel; }
  const int8_t* panel_zeros(int64_t index) const {
    return zeros.empty() ? nullptr : zeros.data() + index * blocks() * panel;
  }
  int64_t size_bytes_in_all() const { return 4 * (data.size() + scales.size()) + static_cast<int64_t>(zeros.size()); }
};

/// Fails with kOutOfMemory only.
Result<PackedWeights> pack_weights(const QuantizedMatrix& from);
/// Writes the numbers that were packed to where `to` has them; its pointers are not read.
void unpack_weights(const PackedWeights& packed, const QuantizedMatrix& to, std::byte* into);

}  // namespace kiln::cpu
