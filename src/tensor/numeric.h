/// Conversions between float and the narrow types, all rounding to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace kiln {

inline constexpr float kLargestHalf = 65504;  ///< the largest finite FP16
/// What FP32's masks become in halves: room is left for a score beside it.
inline constexpr float kLargestHalfMask = 57344;
inline constexpr float kLargestBf16 = 0x1.FEp+127F;  ///< the largest finite BF16

/// The double as a float whose last bit is set where digits are lost: rounding it to a narrower type gives what
/// rounding the double gives, where a float rounded to nearest may be rounded twice.
float round_to_odd(double value);
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);  ///< overflow gives infinity
inline float bfloat16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
uint16_t float_to_bfloat16(float value);
float f8e4m3_to_float(uint8_t bits);   ///< no infinities; 0x7f and 0xff are NaN
uint8_t float_to_f8e4m3(float value);  ///< saturates to 448
float f4e2m1_to_float(uint8_t bits);   ///< low four bits
uint8_t float_to_f4e2m1(float value);  ///< saturates to 6
float e8m0_to_float(uint8_t bits);     ///< 2^(bits - 127); 255 is NaN
uint8_t float_to_e8m0(float value);

}  // namespace kiln
