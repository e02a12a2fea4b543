/// Normalisations by the mean and variance of rows or of groups of channels. Types are f32, f16 and bf16, computed in
/// f32 with sums that are more precise; scale and bias are f32, or null for 1 and 0; y may be x.
#pragma once

#include <cstdint>

#include "backend/cpu/device/team.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// The numerator and the denominator of a normalisation.
enum class Centering : uint8_t {
  kMean,  ///< x - mean, variance
  kNone   ///< x, mean of squares: RMS normalisation
};

/// x and y are dense [rows, length].
struct RowNorm {
  int64_t rows = 1, length = 1;
  double epsilon = 1e-5;
  Centering centering = Centering::kMean;
  DType dtype = DType::kF32;
};
/// Layer norm: a row has statistics of its own, scale and bias are [length].
void normalize_rows(Team& team, const RowNorm& shape, const void* x, const float* scale, const float* bias, void* y);

/// x and y are dense [n, channels, plane] or [n, plane, channels]; `groups` divides channels, and is equal to it for
/// instance norm. The epsilon and centering are those of RowNorm.
struct GroupNorm {
  int64_t n = 1, channels = 1, plane = 1, groups = 1;
  double epsilon = 1e-5;
  Centering centering = Centering::kMean;
  DType dtype = DType::kF32;
};
/// Scale and bias are [channels].
void normalize_nchw(Team& team, const GroupNorm& shape, const void* x, const float* scale, const float* bias, void* y);

/// Bytes of workspace, aligned to a cache line, that normalize_nhwc needs.
int64_t normalize_nhwc_workspace(const GroupNorm& shape);
/// Scale and bias are [channels].
void normalize_nhwc(Team& team, const GroupNorm& shape, const void* x, const float* scale, const float* bias, void* y,
                    void* workspace);

}  // namespace kiln::cpu
