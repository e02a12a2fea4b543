// What generated nests call: elements between memory and registers. Values are held as float (f32, f16, bf16), int64_t
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
__device__ __forceinline__ Vec<T, N> load_row(const Operand<Offset>& from, Offset at, int live) {
  const T* data = static_cast<const T*>(from.data) + at;
  if (live == N) return load_vec<T, N>(data);
  Vec<T, N> result = {};
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) result.at[i] = data[i];
  return result;
}
/// One element for the whole vector.
template <class T, int N, class Offset>
__device__ __forceinline__ Vec<T, 1> load_one(const Operand<Offset>& from, Offset at, int live) {
  Vec<T, 1> result = {};
  if (live > 0) result.at[0] = static_cast<const T*>(from.data)[at];
  return result;
}
/// Elements `step` apart.
template <class T, int N, class Offset>
__device__ __forceinline__ Vec<T, N> load_apart(const Operand<Offset>& from, Offset at, int live) {
  Vec<T, N> result = {};
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) result.at[i] = static_cast<const T*>(from.data)[at + i * from.step];
  return result;
}
template <class T, int N, class Offset>
__device__ __forceinline__ void store_row(const Operand<Offset>& to, Offset at, int live, const Vec<T, N>& value) {
  T* data = static_cast<T*>(to.data) + at;
  if (live == N) return store_vec<T, N>(data, value);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) data[i] = value.at[i];
}
template <class T, int N, class Offset>
__device__ __forceinline__ void store_apart(const Operand<Offset>& to, Offset at, int live, const Vec<T, N>& value) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < live) static_cast<T*>(to.data)[at + i * to.step] = value.at[i];
}

}  // namespace kiln
