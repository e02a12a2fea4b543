// Vectors of tensor elements as arrays of floats.
#pragma once
#include "device.cuh"

namespace kiln {

/// x[i] = from[i]; `from` is aligned to V elements, or to 16 bytes where those are more.
template <int V, class T>
__device__ __forceinline__ void load_vector(float (&x)[V], const T* from) {
  const Vec<float, V> loaded = load_floats<T, V>(from);
#pragma unroll
  for (int i = 0; i < V; ++i) x[i] = loaded.at[i];
}
template <int V, class T>
__device__ __forceinline__ void store_vector(T* to, const float (&x)[V]) {
  Vec<float, V> value;
#pragma unroll
  for (int i = 0; i < V; ++i) value.at[i] = x[i];
  store_floats<T, V>(to, value);
}

/// V elements as they were loaded, in words where they fill them: x[i] is a float.
template <class T, int V>
struct Fetched {
  Words<T, V> x;
  __device__ __forceinline__ void fetch(const T* from) { x = load_words<T, V>(from); }
  __device__ __forceinline__ float operator[](int i) const { return x[i]; }
};
template <class T, int V>
requires(sizeof(T) * V % 4 != 0) struct Fetched<T, V> {
  Vec<T, V> x;
  __device__ __forceinline__ void fetch(const T* from) { x = load_vec<T, V>(from); }
  __device__ __forceinline__ float operator[](int i) const { return to_float(x.at[i]); }
};

}  // namespace kiln
