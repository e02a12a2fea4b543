// A function for each instruction of the tensor cores' synchronous path, sm_80 and up.
#pragma once
#include "ptx/floats.cuh"
#include "ptx/memory.cuh"

namespace kiln {

template <class T>
inline constexpr bool kHasIntegerSums = false;
template <>
inline constexpr bool kHasIntegerSums<int8_t> = true;
template <>
inline constexpr bool kHasIntegerSums<uint8_t> = true;

/// Copies kBytes to shared memory in the background, or writes zeros where `valid` is false (nothing is read then).
/// Two bytes and one have no such instruction: they are copied at once.
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from, bool valid) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
  else if constexpr (kBytes == 1)
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(to),
                 "r"(valid ? static_cast<unsigned>(*static_cast<const uint8_t*>(from)) : 0u)
                 : "memory");
  else if constexpr (kBytes == 2)
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(to),
                 "h"(valid ? *static_cast<const unsigned short*>(from) : static_cast<unsigned short>(0))
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(valid ? kBytes : 0)
                 : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Returns when all but the last kPending groups of this thread's copies have arrived.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Four 8x8 matrices of 16-bit elements (or 8x4 of 32-bit ones). Lane l gives the address of line l % 8 of matrix l /
/// 8, and gets of each the 32 bits at (line l / 4, word l % 4); transposed: elements (2 * (l % 4) and the next, l / 4).
__device__ __forceinline__ void load_matrices(unsigned (&x)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_matrices_transposed(unsigned (&x)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address)
               : "memory");
}
/// Stores two 8x8 matrices of 16-bit elements transposed, each lane the 32 bits that load_matrices gives it. Lanes l
/// below 16 give the address of line l % 8 of matrix l / 8. sm_90 and up.
__device__ __forceinline__ void store_matrices_transposed(unsigned address, const unsigned (&x)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(x[0]), "r"(x[1])
               : "memory");
}
/// sum (16 x 8) += a (16 x 32 bytes) * b (32 bytes x 8). Layout: sum[0], sum[1] of lane l are (l / 4, 2 * (l % 4)) and
/// the next column, sum[2], sum[3] eight rows below.
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, f16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, bf16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// TF32: the operands have been rounded by round_operand.
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, float) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// Sums of products of integers are integers: the registers hold their bits. `b` is signed.
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, int8_t) {
  int(&bits)[4] = reinterpret_cast<int(&)[4]>(sum);
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+r"(bits[0]), "+r"(bits[1]), "+r"(bits[2]), "+r"(bits[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, uint8_t) {
  int(&bits)[4] = reinterpret_cast<int(&)[4]>(sum);
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+r"(bits[0]), "+r"(bits[1]), "+r"(bits[2]), "+r"(bits[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, e4m3) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// Sums of products of T as floats; of integers beyond 2^24 the nearest ones. Narrow ones, within 2^22, are added to a
/// float so large that its last digit is 1, which is quicker than a conversion.
template <class T, bool kNarrow, int kBlocks>
__device__ __forceinline__ void make_floats(float (&sums)[kBlocks][4]) {
  if constexpr (kHasIntegerSums<T>)
#pragma unroll
    for (int j = 0; j < kBlocks; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int sum = __float_as_int(sums[j][i]);
        constexpr float kOnes = 12582912.0F;  // 1.5 * 2^23
        sums[j][i] = kNarrow ? __int_as_float(sum + 0x4B400000) - kOnes : static_cast<float>(sum);
      }
}
__device__ __forceinline__ unsigned round_operand(unsigned x, float) {
  unsigned y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x)));
  return y;
}
template <class T>
__device__ __forceinline__ unsigned round_operand(unsigned x, T) {
  return x;
}

}  // namespace kiln
