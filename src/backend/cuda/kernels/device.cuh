// The basis of all kernels: vectors, reductions over warps and blocks, and the instructions of ptx/. NVRTC compiles it
// without any other header.
#pragma once

#include <cstdint>

#include "ptx/floats.cuh"
#include "ptx/launch.cuh"
#include "ptx/memory.cuh"

namespace kiln {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

// --- Vectors: N neighbours that one instruction moves (two from 32 bytes on). ---

template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T at[N];
};
template <class T, int N>
__device__ __forceinline__ Vec<T, N> load_vec(const T* from) {
  return *reinterpret_cast<const Vec<T, N>*>(from);
}
template <class T, int N>
__device__ __forceinline__ void store_vec(T* to, const Vec<T, N>& value) {
  *reinterpret_cast<Vec<T, N>*>(to) = value;
}
/// The bits of an element of one byte or two.
template <class T>
__device__ __forceinline__ unsigned bits_of(T x) {
  if constexpr (requires { x.bits; })
    return x.bits;
  else
    return static_cast<uint8_t>(x);
}
/// Whether T is an integer of one byte.
template <class T>
inline constexpr bool kIsByte = sizeof(T) == 1 && !requires(T x) {
  x.bits;
};
/// An element of one byte by its bits, the lowest ones.
template <class T>
__device__ __forceinline__ T byte_of(unsigned bits) {
  if constexpr (requires(T x) { x.bits; })
    return T{static_cast<unsigned char>(bits)};
  else
    return static_cast<T>(bits);
}
/// The number of a word's byte `i`. Integers become the lowest digits of a large float, which is quicker than to
/// convert them.
template <class T>
__device__ __forceinline__ float float_of_byte(unsigned word, int i) {
  if constexpr (requires(T x) { x.bits; }) {
    return to_float(byte_of<T>(word >> i * 8));
  } else {
    constexpr float kLarge = 8388608.0F;  // 2^23
    constexpr bool kSigned = T(-1) < T(0);
    const unsigned digits = __byte_perm(kSigned ? word ^ 0x80808080u : word, 0x4B000000u, 0x7440u + i);
    return __uint_as_float(digits) - (kSigned ? kLarge + 128 : kLarge);
  }
}
/// The same in words. A struct of halves may be taken apart and moved half by half; words are not.
template <class T, int N>
struct Words {
  static constexpr int kBytes = sizeof(T) * N, kWords = kBytes / 4;
  static_assert(kBytes % 4 == 0 && (kBytes <= 16 || kBytes % 16 == 0), "whole words and moves");
  unsigned at[kWords];

  __device__ __forceinline__ float operator[](int i) const {
    if constexpr (sizeof(T) == 4)
      return __uint_as_float(at[i]);
    else if constexpr (sizeof(T) == 2)
      return to_float(T{static_cast<unsigned short>(at[i / 2] >> i % 2 * 16)});
    else
      return float_of_byte<T>(at[i / 4], i % 4);
  }
};
template <class T, int N>
__device__ __forceinline__ Words<T, N> load_words(const T* from) {
  Words<T, N> x;
  constexpr int kWords = Words<T, N>::kWords;
  if constexpr (kWords == 1) x.at[0] = *reinterpret_cast<const unsigned*>(from);
  if constexpr (kWords == 2) {
    const uint2 all = *reinterpret_cast<const uint2*>(from);
    x.at[0] = all.x, x.at[1] = all.y;
  }
  if constexpr (kWords >= 4)
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      const uint4 part = reinterpret_cast<const uint4*>(from)[i / 4];
      x.at[i] = part.x, x.at[i + 1] = part.y, x.at[i + 2] = part.z, x.at[i + 3] = part.w;
    }
  return x;
}
/// Stores a vector to global memory. Names the instruction, because the compiler would take whole vectors apart.
template <class T, int N>
__device__ __forceinline__ void store_words(T* to, const Words<T, N>& x) {
  constexpr int kWords = Words<T, N>::kWords;
  unsigned* words = reinterpret_cast<unsigned*>(to);
  if constexpr (kWords == 1) *words = x.at[0];
  if constexpr (kWords == 2) store_global_2(words, x.at[0], x.at[1]);
  if constexpr (kWords >= 4)
#pragma unroll
    for (int i = 0; i < kWords; i += 4) store_global_4(words + i, x.at[i], x.at[i + 1], x.at[i + 2], x.at[i + 3]);
}
template <class T, int N>
inline constexpr bool kInWords = sizeof(T) == 2 && N % 2 == 0;

/// As floats.
template <class T, int N>
__device__ __forceinline__ Vec<float, N> load_floats(const T* from) {
  Vec<float, N> result;
  if constexpr (kInWords<T, N>) {
    const Words<T, N> stored = load_words<T, N>(from);
#pragma unroll
    for (int i = 0; i < N; ++i) result.at[i] = stored[i];
  } else {
    const Vec<T, N> stored = load_vec<T, N>(from);
#pragma unroll
    for (int i = 0; i < N; ++i) result.at[i] = to_float(stored.at[i]);
  }
  return result;
}
/// Rounded to T, halves by pairs.
template <class T, int N>
__device__ __forceinline__ Vec<T, N> round_vec(const Vec<float, N>& value) {
  Vec<T, N> stored;
  if constexpr (sizeof(T) == 2 && N % 2 == 0) {
    unsigned* words = reinterpret_cast<unsigned*>(&stored);
#pragma unroll
    for (int i = 0; i < N; i += 2) words[i / 2] = pack2<T>(value.at[i], value.at[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) stored.at[i] = from_float<T>(value.at[i]);
  }
  return stored;
}
template <class T, int N>
__device__ __forceinline__ void store_floats(T* to, const Vec<float, N>& value) {
  if constexpr (kInWords<T, N>) {
    Words<T, N> stored;
#pragma unroll
    for (int i = 0; i < N; i += 2) stored.at[i / 2] = pack2<T>(value.at[i], value.at[i + 1]);
    store_words(to, stored);
  } else if constexpr (sizeof(T) == 1 && N % 4 == 0) {
    Words<T, N> stored;
#pragma unroll
    for (int i = 0; i < N; i += 4)
      stored.at[i / 4] = pack4<T>(value.at[i], value.at[i + 1], value.at[i + 2], value.at[i + 3]);
    store_words(to, stored);
  } else {
    store_vec<T, N>(to, round_vec<T, N>(value));
  }
}

// --- Reductions. Every lane gets the result; the order is fixed, so that the bits are. ---

struct Plus {
  template <class A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return a + b;
  }
};
struct Greater {
  __device__ __forceinline__ float operator()(float a, float b) const { return greater(a, b); }
};

/// Over groups of `kLanes` neighbouring lanes, a power of two.
template <int kLanes = kWarp, class A, class F>
__device__ __forceinline__ A warp_fold(A value, F f) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) value = f(value, A(__shfl_xor_sync(kAllLanes, value, step)));
  return value;
}
__device__ __forceinline__ float warp_sum(float value) { return warp_fold(value, Plus()); }
__device__ __forceinline__ float warp_max(float value) { return warp_fold(value, Greater()); }

/// Over a block of whole warps, all of whose threads call it. `scratch` is 32 values of shared memory, free again when
/// it returns.
template <class A, class F>
__device__ __forceinline__ A block_fold(A value, A start, F f, A* scratch) {
  value = warp_fold(value, f);
  const int warps = blockDim.x / kWarp;
  if (warps == 1) return value;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  value = warp_fold(lane < warps ? scratch[lane] : start, f);
  __syncthreads();
  return value;
}

}  // namespace kiln
