// Accesses to memory that the compiler would choose otherwise, and addresses of shared memory as instructions take
// them.
#pragma once

namespace kiln {

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// Stores two or four words at once. Names the instruction, because the compiler would take whole vectors apart.
__device__ __forceinline__ void store_global_2(unsigned* to, unsigned a, unsigned b) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(a), "r"(b) : "memory");
}
__device__ __forceinline__ void store_global_4(unsigned* to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
__device__ __forceinline__ void store_shared_4(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
/// Reads what no kernel writes and only this thread reads, once.
__device__ __forceinline__ void stream_global_4(unsigned (&x)[4], const void* from) {
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "l"(from));
}
__device__ __forceinline__ unsigned load_shared(unsigned address) {
  unsigned x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
  return x;
}
template <int kWords>
__device__ __forceinline__ void load_shared_words(unsigned* x, unsigned address) {
  if constexpr (kWords == 4)
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
  else
#pragma unroll
    for (int i = 0; i < kWords; ++i) x[i] = load_shared(address + 4 * i);
}
/// Keeps the compiler from computing an address anew from what it was made of.
template <class T>
__device__ __forceinline__ void keep(T*& address) {
  asm volatile("" : "+l"(address));
}
/// All ones but the lowest `bits`; none where they are 64 or more.
__device__ __forceinline__ unsigned long long ones_above(unsigned bits) {
  unsigned long long x;
  asm("shl.b64 %0, %1, %2;" : "=l"(x) : "l"(~0ull), "r"(bits));
  return x;
}

}  // namespace kiln
