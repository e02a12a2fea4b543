// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the floats of 4, 6 and 8 bits have in common on the host: explicit conversions. Values are rounded to the
// nearest, ties to even; those beyond the largest number become it.

#ifndef KILN_EIGHT_BITS_H
#define KILN_EIGHT_BITS_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"
#include "kiln_small_float.h"
#include "vector_types.h"

namespace kiln_cudart {

inline Rounding rounding_of(cudaRoundMode mode) {
  switch (mode) {
    case cudaRoundZero: return kTowardZero;
    case cudaRoundPosInf: return kUp;
    case cudaRoundMinInf: return kDown;
    case cudaRoundNearest: break;
  }
  return kNearestEven;
}

//! A number as a half has it, which has all of F's.
template <class F>
__half_raw half_raw(unsigned char bits) {
  return __half(decode<F>(bits));
}

//! A number in the lower bits of a byte.
template <class F>
struct EightBits {
  unsigned char __x;  //!< The bit pattern.

  EightBits() = default;
  explicit EightBits(double value) : __x(static_cast<unsigned char>(encode<F>(value, kNearestEven, kToLargest))) {}
  explicit EightBits(float value) : __x(static_cast<unsigned char>(encode<F>(value, kNearestEven, kToLargest))) {}
  explicit EightBits(const __half value) : EightBits(static_cast<float>(value)) {}
  explicit EightBits(const __nv_bfloat16 value) : EightBits(static_cast<float>(value)) {}
  explicit EightBits(short value) : EightBits(static_cast<float>(value)) {}
  explicit EightBits(unsigned short value) : EightBits(static_cast<float>(value)) {}
  explicit EightBits(int value) : EightBits(static_cast<double>(value)) {}
  explicit EightBits(unsigned value) : EightBits(static_cast<double>(value)) {}
  explicit EightBits(long value) : EightBits(static_cast<double>(value)) {}
  explicit EightBits(unsigned long value) : EightBits(static_cast<double>(value)) {}
  explicit EightBits(long long value) : EightBits(static_cast<double>(value)) {}
  explicit EightBits(unsigned long long value) : EightBits(static_cast<double>(value)) {}

  explicit operator float() const { return decode<F>(__x); }
  explicit operator double() const { return decode<F>(__x); }
  explicit operator __half() const { return __half(decode<F>(__x)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(decode<F>(__x)); }
  explicit operator signed char() const { return to<signed char>(); }
  explicit operator unsigned char() const { return to<unsigned char>(); }
  explicit operator char() const { return to<char>(); }
  explicit operator short() const { return to<short>(); }
  explicit operator unsigned short() const { return to<unsigned short>(); }
  explicit operator int() const { return to<int>(); }
  explicit operator unsigned() const { return to<unsigned>(); }
  explicit operator long() const { return to<long>(); }
  explicit operator unsigned long() const { return to<unsigned long>(); }
  explicit operator long long() const { return to<long long>(); }
  explicit operator unsigned long long() const { return to<unsigned long long>(); }
  explicit operator bool() const { return (__x & (F::kSign - 1)) != 0; }

 private:
  template <class Int>
  Int to() const {
    return to_integer<Int>(decode<F>(__x), kTowardZero);
  }
};

//! Two or four numbers, kLaneBits apart, the first lowest.
template <class One, class Storage, int kLaneBits>
struct PackedBits {
  Storage __x;  //!< The bit patterns.

  PackedBits() = default;
  explicit PackedBits(const float2 v) : __x(lane(One(v.x), 0) | lane(One(v.y), 1)) {}
  explicit PackedBits(const double2 v) : __x(lane(One(v.x), 0) | lane(One(v.y), 1)) {}
  explicit PackedBits(const __half2 v) : __x(lane(One(v.x), 0) | lane(One(v.y), 1)) {}
  explicit PackedBits(const __nv_bfloat162 v) : __x(lane(One(v.x), 0) | lane(One(v.y), 1)) {}
  explicit PackedBits(const float4 v)
      : __x(lane(One(v.x), 0) | lane(One(v.y), 1) | lane(One(v.z), 2) | lane(One(v.w), 3)) {}
  explicit operator float2() const { return float2{at(0), at(1)}; }
  explicit operator __half2() const { return __half2(__half(at(0)), __half(at(1))); }
  explicit operator float4() const { return float4{at(0), at(1), at(2), at(3)}; }

 private:
  static Storage lane(One one, int index) {
    return static_cast<Storage>(static_cast<Storage>(one.__x) << (index * kLaneBits));
  }
  float at(int index) const {
    One one;
    one.__x = static_cast<unsigned char>((__x >> (index * kLaneBits)) & ((1u << kLaneBits) - 1));
    return static_cast<float>(one);
  }
};

}  // namespace kiln_cudart

#endif  // KILN_EIGHT_BITS_H
