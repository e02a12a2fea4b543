// Loads and stores that generated nests call. Values are held as float (f32, f16, bf16), int64_t
// (i64) or int (the other integers, and bool as 0 and 1).
#pragma once

#include "nest/walk.cuh"
#include "vocabulary.cuh"

namespace kiln {

struct boolean {
  uint8_t byte;
};

__device__ __forceinline__ float to_register(float x) { return x; }
__device__ __forceinline__ float to_register(f16 x) { return to_float(x); }
__device__ __forceinline__ float to_register(bf16 x) { return to_float(x); }
__device__ __forceinline__ float to_register(e4m3 x) { return to_float(x); }
__device__ __forceinline__ int64_t to_register(int64_t x) { return x; }
__device__ __forceinline__ int to_register(int x) { return x; }
__device__ __forceinline__ int to_register(int8_t x) { return x; }
__device__ __forceinline__ int to_register(uint8_t x) { return x; }
__device__ __forceinline__ int to_register(boolean x) { return x.byte != 0; }

template <class T>
__device__ __forceinline__ void to_element(T x, T& y) {
  y = x;
}
__device__ __forceinline__ void to_element(int x, int8_t& y) { y = int8_t(x); }
__device__ __forceinline__ void to_element(int x, uint8_t& y) { y = uint8_t(x); }
__device__ __forceinline__ void to_element(int x, boolean& y) { y.byte = uint8_t(x); }

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};

/// A vector as it was loaded: words where it is of halves, which each conversion takes its half of.
template <class T, int N, bool kWords = kInWords<T, N>>
struct Loaded {
  Vec<T, N> at;
  __device__ __forceinline__ auto operator[](int i) const { return to_register(at.at[i]); }
  __device__ __forceinline__ void whole(const T* from) { at = load_vec<T, N>(from); }
  __device__ __forceinline__ void none() { at = {}; }
  __device__ __forceinline__ void put(int i, T x) { at.at[i] = x; }
};
template <class T, int N>
struct Loaded<T, N, true> {
  Words<T, N> words;
  __device__ __forceinline__ float operator[](int i) const { return words[i]; }
  __device__ __forceinline__ void whole(const T* from) { words = load_words<T, N>(from); }
  __device__ __forceinline__ void none() { words = {}; }
  __device__ __forceinline__ void put(int i, T x) { words.at[i / 2] |= unsigned(x.bits) << i % 2 * 16; }
};

/// What registers hold, as elements of memory.
template <class T, int N, class R>
__device__ __forceinline__ Vec<T, N> to_memory(const Vec<R, N>& values) {
  if constexpr (Same<R, float>::value) {
    return round_vec<T, N>(values);
  } else {
    Vec<T, N> result;
#pragma unroll
    for (int i = 0; i < N; ++i) to_element(values.at[i], result.at[i]);
    return result;
  }
}

/// Elements that lie one after another, of which `live` exist.
template <class T, int N, class Offset>
__device__ __forceinline__ void load_row(Loaded<T, N>& x, const Operand<Offset>& from, Offset at, int live) {
  const T* data = static_cast<const T*>(from.data) + at;
  if (live == N) return x.whole(data);
  x.none();
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) x.put(i, data[i]);
}
/// One element for the whole vector.
template <class T, int N, class Offset>
__device__ __forceinline__ void load_one(Loaded<T, 1>& x, const Operand<Offset>& from, Offset at, int live) {
  x.none();
  if (live > 0) x.put(0, static_cast<const T*>(from.data)[at]);
}
/// Elements `step` apart.
template <class T, int N, class Offset>
__device__ __forceinline__ void load_apart(Loaded<T, N>& x, const Operand<Offset>& from, Offset at, int live) {
  x.none();
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) x.put(i, static_cast<const T*>(from.data)[at + i * from.step]);
}
/// Stores a vector of what registers hold.
template <class T, int N, class Offset, class R>
__device__ __forceinline__ void store_row(const Operand<Offset>& to, Offset at, int live, const Vec<R, N>& value) {
  T* data = static_cast<T*>(to.data) + at;
  if (live == N) {
    if constexpr (kInWords<T, N>) return store_floats<T, N>(data, value);
    return store_vec<T, N>(data, to_memory<T>(value));
  }
  const Vec<T, N> stored = to_memory<T>(value);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) data[i] = stored.at[i];
}
template <class T, int N, class Offset, class R>
__device__ __forceinline__ void store_apart(const Operand<Offset>& to, Offset at, int live, const Vec<R, N>& value) {
  const Vec<T, N> stored = to_memory<T>(value);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) static_cast<T*>(to.data)[at + i * to.step] = stored.at[i];
}

}  // namespace kiln
