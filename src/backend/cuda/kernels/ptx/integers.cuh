// A function for each instruction of integers that C++ has no words for.
#pragma once

#include <cstdint>

namespace kiln {

/// sum + the four products of bytes of `x` and signed ones of `w`. The last argument says whether x has a sign.
__device__ __forceinline__ int multiply_bytes(unsigned x, unsigned w, int sum, int8_t) {
  asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(w));
  return sum;
}
__device__ __forceinline__ int multiply_bytes(unsigned x, unsigned w, int sum, uint8_t) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(w));
  return sum;
}

}  // namespace kiln
