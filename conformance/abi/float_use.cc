// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The small floats of CUDA's headers on the host, used in the ways in which programs use them.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <type_traits>

static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4, "");
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4, "");
static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && sizeof(__nv_fp8x4_e4m3) == 4, "");
static_assert(sizeof(__nv_fp4_e2m1) == 1 && sizeof(__nv_fp6_e3m2) == 1, "");
static_assert(std::is_standard_layout<__half>::value && std::is_trivially_copyable<__nv_bfloat16>::value, "");

namespace {

template <class T>
T sum(const T* values, int count) {
  T total = T(0.0f);
  for (int i = 0; i < count; ++i) total += values[i];
  return total;
}

__attribute__((unused)) float halves() {
  __half values[] = {__float2half(1.5f), __half(2), 3.0, __int2half_rn(4), __ushort_as_half(0x3c00)};
  const half2 pair = __floats2half2_rn(1, 2) * make_half2(values[0], values[1]);
  values[0] = -values[1] / values[2];
  ++values[1];
  if (values[1] < values[2] && !__hisnan(values[3])) values[2] -= values[3];
  const float2 both = __half22float2(pair);
  return __half2float(sum(values, 5)) + both.y + __low2float(pair) + __high2float(__hmax2(pair, __habs2(-pair)));
}

__attribute__((unused)) float bfloats() {
  const nv_bfloat16 values[] = {__float2bfloat16(1.5f), __nv_bfloat16(2), __float2bfloat16_rz(3.1f)};
  const __nv_bfloat162 pair(values[0], values[1]);
  const bool equal = values[0] == values[1] || __hgt(values[1], values[2]);
  return __bfloat162float(sum(values, 3)) + __bfloat1622float2(pair + pair).x + (equal ? 1.0f : 0.0f) +
         static_cast<float>(__half(values[2]));
}

__attribute__((unused)) float small() {
  const __nv_fp8_e4m3 a(3.0f), b(__half(2.0f));
  const __nv_fp8_e5m2 c(1000.0);
  const __nv_fp4_e2m1 d(1.4f);
  const __nv_fp8_storage_t bits = __nv_cvt_float_to_fp8(0.3f, __NV_SATFINITE, __NV_E4M3);
  return static_cast<float>(a) + static_cast<float>(b) + static_cast<float>(c) + static_cast<float>(d) +
         static_cast<float>(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E4M3)));
}

}  // namespace
