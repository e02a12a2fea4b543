// What every kernel of ours stands on: element types and their conversions, vectors, reductions over warps and blocks,
// and programmatic dependent launch. NVRTC compiles it against nothing else.
#pragma once

#include <cstdint>

namespace kiln {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Lets the next kernel's blocks start, as far as there is room for them.
__device__ __forceinline__ void pdl_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Returns when what earlier kernels of the stream have written is there to be read. Every kernel calls it before its
/// first access to memory that another kernel writes; without programmatic dependent launch it costs nothing.
/// A grid of few blocks leaves room for the next one's at once: they begin, and wait in turn.
__device__ __forceinline__ void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned kFewBlocks = 264;
  if (gridDim.x <= kFewBlocks) pdl_launch();
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// --- Element types as they lie in memory. ---

struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ __forceinline__ float to_float(bf16 x) { return __uint_as_float(unsigned(x.bits) << 16); }

template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ f16 from_float<f16>(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <>
__device__ __forceinline__ bf16 from_float<bf16>(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}

/// Two neighbours in one word, the first in its low half.
template <class T>
__device__ __forceinline__ unsigned pack2(float low, float high);
template <>
__device__ __forceinline__ unsigned pack2<f16>(float low, float high) {
  unsigned y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
template <>
__device__ __forceinline__ unsigned pack2<bf16>(float low, float high) {
  unsigned y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

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
/// The same in words. A struct of halves may be taken apart and moved half by half; words are not.
template <class T, int N>
struct Words {
  static constexpr int kBytes = sizeof(T) * N, kWords = kBytes / 4;
  static_assert(kBytes % 4 == 0 && (kBytes <= 16 || kBytes % 16 == 0), "whole words and moves");
  unsigned at[kWords];

  __device__ __forceinline__ float operator[](int i) const {
    if constexpr (sizeof(T) == 4)
      return __uint_as_float(at[i]);
    else
      return to_float(T{static_cast<unsigned short>(at[i / 2] >> i % 2 * 16)});
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
/// `to` is global memory. By name: the compiler takes stores of whole vectors apart where it can.
template <class T, int N>
__device__ __forceinline__ void store_words(T* to, const Words<T, N>& x) {
  constexpr int kWords = Words<T, N>::kWords;
  unsigned* words = reinterpret_cast<unsigned*>(to);
  if constexpr (kWords == 1) *words = x.at[0];
  if constexpr (kWords == 2)
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(words), "r"(x.at[0]), "r"(x.at[1]) : "memory");
  if constexpr (kWords >= 4)
#pragma unroll
    for (int i = 0; i < kWords; i += 4)
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(words + i), "r"(x.at[i]), "r"(x.at[i + 1]),
                   "r"(x.at[i + 2]), "r"(x.at[i + 3])
                   : "memory");
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
/// NaN if either is.
__device__ __forceinline__ float greater(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
__device__ __forceinline__ float lesser(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
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
