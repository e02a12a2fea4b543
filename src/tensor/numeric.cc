#include "tensor/numeric.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {

float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  const bool is_beyond = std::abs(static_cast<double>(nearest)) > std::abs(value);
  const float below = is_beyond ? std::nextafter(nearest, 0.0F) : nearest;  // towards zero
  return std::bit_cast<float>(std::bit_cast<uint32_t>(below) | 1);
}

float half_to_float(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
uint16_t float_to_half(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

namespace {
/// A small float's magnitude from its exponent and mantissa fields; a zero exponent is subnormal.
float decode(int exponent, int mantissa, int mantissa_bits, int bias) {
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1 << mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}
/// The code of the value nearest to |value| among codes [0, last]; codes are ordered as their values are.
template <class Decode>
uint8_t nearest_code(float magnitude, int last, Decode decode_code) {
  int low = 0, high = last;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (decode_code(middle) <= magnitude ? low : high) = middle;
  }
  const float below = magnitude - decode_code(low), above = decode_code(high) - magnitude;
  if (below == above) return static_cast<uint8_t>(low % 2 == 0 ? low : high);
  return static_cast<uint8_t>(below < above ? low : high);
}
}  // namespace

float f8e4m3_to_float(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = decode((bits >> 3) & 15, bits & 7, 3, 7);
  return bits & 0x80 ? -magnitude : magnitude;
}
uint8_t float_to_f8e4m3(float value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7f;
  const float magnitude = std::min(std::fabs(value), 448.f);
  return sign | nearest_code(magnitude, 0x7e, [](int code) { return f8e4m3_to_float(static_cast<uint8_t>(code)); });
}
float f4e2m1_to_float(uint8_t bits) {
  const float magnitude = decode((bits >> 1) & 3, bits & 1, 1, 1);
  return bits & 8 ? -magnitude : magnitude;
}
uint8_t float_to_f4e2m1(float value) {
  const uint8_t sign = std::signbit(value) ? 8 : 0;
  const float magnitude = std::isnan(value) ? 6.f : std::min(std::fabs(value), 6.f);
  return sign | nearest_code(magnitude, 7, [](int code) { return f4e2m1_to_float(static_cast<uint8_t>(code)); });
}
float e8m0_to_float(uint8_t bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.f, bits - 127);
}
uint8_t float_to_e8m0(float value) {
  if (!std::isfinite(value)) return 255;
  if (value <= 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
  return static_cast<uint8_t>(std::clamp(exponent - 1 + (fraction > 0.75f) + 127, 0, 254));
}

}  // namespace kiln
