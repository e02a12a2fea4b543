/// What is done with sums of bytes: they become floats, or narrow numbers again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kiln::cpu {

/// value = min(max((sum - correction) * scale + bias + residual, lo), hi), by column. It goes to `floats`, or rounded,
/// moved by `zero` and saturated to `bytes`: one of the two is given.
struct Finish {
  const int32_t* correction;  ///< this, `scale` and `bias` may be read up to a panel's end
  const float* scale;
  const float* bias;
  const float* residual = nullptr;  ///< of row 0, rows `ldr` apart
  ptrdiff_t ldr = 0;
  float lo = -std::numeric_limits<float>::infinity(), hi = std::numeric_limits<float>::infinity();
  float* floats = nullptr;
  uint8_t* bytes = nullptr;
  ptrdiff_t ld = 0;  ///< elements between rows of the result
  int32_t zero = 0;
  bool bytes_are_signed = false;
};
/// The limits of values that leave nothing to saturate: those of `how`, and of bytes those of the type, too, before
/// `zero` is added.
struct Limits {
  float lo, hi;
};
inline Limits limits_of(const Finish& how) {
  if (how.floats) return {how.lo, how.hi};
  const auto least = static_cast<float>((how.bytes_are_signed ? -128 : 0) - how.zero);
  return {std::clamp(how.lo, least, least + 255), std::clamp(how.hi, least, least + 255)};
}

/// `cols`, at most kDotPanel, of `rows` rows of sums, which are kDotPanel apart.
void finish(const int32_t* sums, int64_t rows, int64_t cols, const Finish& how);

/// bytes = saturate(round(values * inverse_scale) + zero) of a block of floats.
struct Requantize {
  const float* from;
  ptrdiff_t from_ld;
  uint8_t* to;
  ptrdiff_t to_ld;
  float inverse_scale;
  int32_t zero;
  bool is_signed;
};
void requantize(int64_t rows, int64_t cols, const Requantize& how);

}  // namespace kiln::cpu
