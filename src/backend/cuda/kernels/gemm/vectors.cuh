// Vectors of tensor elements as arrays of floats.
#pragma once
#include "device.cuh"
#include "ptx/mma.cuh"

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
  static constexpr int kBytes = sizeof(T) * V, kPiece = kBytes < 16 ? kBytes : 16, kPieces = kBytes / kPiece;
  static constexpr int kHeld = kPieces * 16;  ///< bytes of shared memory on the way
  __device__ __forceinline__ void fetch(const T* from) { x = load_words<T, V>(from); }
  /// The same by way of shared memory, whose pieces of 16 bytes are kStep bytes apart.
  template <int kStep>
  static __device__ __forceinline__ void copy(const T* from, unsigned to) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      copy_async<kPiece>(to + i * kStep, reinterpret_cast<const char*>(from) + i * kPiece, true);
  }
  template <int kStep>
  __device__ __forceinline__ void take(unsigned from) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) load_shared_words<kPiece / 4>(x.at + i * kPiece / 4, from + i * kStep);
  }
  __device__ __forceinline__ float operator[](int i) const { return x[i]; }
};
template <class T, int V>
requires(sizeof(T) * V % 4 != 0) struct Fetched<T, V> {
  Vec<T, V> x;
  static constexpr int kHeld = 0;  ///< it does not come by way of shared memory
  __device__ __forceinline__ void fetch(const T* from) { x = load_vec<T, V>(from); }
  __device__ __forceinline__ float operator[](int i) const { return to_float(x.at[i]); }
};

}  // namespace kiln
