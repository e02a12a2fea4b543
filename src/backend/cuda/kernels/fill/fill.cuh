// Tensors that are made of numbers: ramps, random elements, and values that bind knows.
#pragma once

#include "backend/cuda/kernels/fill/arguments.h"
#include "nest/walk.cuh"
#include "ops/random_state.h"

namespace kiln {

using Fill = cuda::FillArgument;

/// The type of a parameter: ramps are computed in float, those of doubles in double, those of integers in int64.
__device__ __forceinline__ float number(float x) { return x; }
__device__ __forceinline__ float number(f16 x) { return to_float(x); }
__device__ __forceinline__ float number(bf16 x) { return to_float(x); }
__device__ __forceinline__ double number(double x) { return x; }
__device__ __forceinline__ int64_t number(int x) { return x; }
__device__ __forceinline__ int64_t number(int64_t x) { return x; }
__device__ __forceinline__ void put(float x, float& y) { y = x; }
__device__ __forceinline__ void put(float x, f16& y) { y = from_float<f16>(x); }
__device__ __forceinline__ void put(float x, bf16& y) { y = from_float<bf16>(x); }
__device__ __forceinline__ void put(double x, double& y) { y = x; }
__device__ __forceinline__ void put(int64_t x, int& y) { y = int(x); }
__device__ __forceinline__ void put(int64_t x, int64_t& y) { y = x; }

template <class T>
__device__ __forceinline__ auto parameter(const void* from, int i, double otherwise) {
  using A = decltype(number(T()));
  return from ? number(static_cast<const T*>(from)[i]) : A(otherwise);
}

/// alpha + beta . index
template <class T>
__device__ __forceinline__ void fill_ramp(const Fill& f) {
  uint64_t position = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (position >= f.walk.count) return;
  const uint64_t at = position;
  pdl_launch();
  pdl_wait();
  auto value = parameter<T>(f.alpha, 0, f.alpha_number);
  for (int axis = f.walk.rank - 1; axis >= 0; --axis) {
    const auto i = decltype(value)(f.walk.split(axis, position));
    value += parameter<T>(f.beta, f.beta_by_axis ? axis : 0, f.beta_number) * i;
  }
  put(value, static_cast<T*>(f.y)[at]);
}

/// random_bits of ops/fill.h.
__device__ __forceinline__ uint64_t random_bits(uint64_t seed, uint64_t counter) {
  uint64_t z = ((seed + 0x632be59bd9b4e019) * 0x9e3779b97f4a7c15) ^ (counter * 0xd1342543de82ef95);
  for (int round = 0; round < 2; ++round) {
    z ^= z >> 32;
    z *= 0xd6e8feb86659fd93;
  }
  return z ^ (z >> 32);
}

/// Reads the generator's state for this run. The last block that reads it moves the state behind the run's elements,
/// since no other block needs the old one any more. All threads of a block call this.
__device__ __forceinline__ RandomState take_numbers(RandomState* state, uint64_t count) {
  const volatile RandomState* now = state;  // no load of an earlier launch's
  RandomState taken;
  taken.key = now->key;
  taken.position = now->position;
  __syncthreads();
  if (threadIdx.x != 0) return taken;
  __threadfence();
  if (atomicAdd(&state->num_arrived, 1u) != gridDim.x - 1) return taken;
  state->position = taken.position + count;
  state->num_arrived = 0;
  return taken;
}

/// Box and Muller's transform.
__device__ __forceinline__ float normal_of(float radius, float angle) {
  return sqrtf(-2 * logf(radius)) * cospif(2 * angle);
}
__device__ __forceinline__ double normal_of(double radius, double angle) {
  return ::sqrt(-2 * ::log(radius)) * ::cospi(2 * angle);
}

template <class T, bool kNormal>
__device__ __forceinline__ void fill_random(const Fill& f) {
  const uint64_t at = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  pdl_launch();
  pdl_wait();
  const RandomState from = f.state ? take_numbers(f.state, f.walk.count) : f.first;
  if (at >= f.walk.count) return;
  using A = decltype(number(T()));
  const A alpha = parameter<T>(f.alpha, 0, f.alpha_number), beta = parameter<T>(f.beta, 0, f.beta_number);
  const uint64_t bits = random_bits(from.key, from.position + at);
  constexpr A kUnit = A(1) / 16777216;  // 2^-24
  A value;
  if constexpr (kNormal) {
    const A radius = A((bits >> 40) + 1) * kUnit, angle = A((bits >> 8) & 0xffffff) * kUnit;
    value = alpha + beta * normal_of(radius, angle);
  } else {
    value = alpha + (beta - alpha) * (A(bits >> 40) * kUnit);
  }
  put(value, static_cast<T*>(f.y)[at]);
}

/// Bytes that a launch carries.
using Values = cuda::ValuesArgument;
__device__ __forceinline__ void fill_values(const Values& v) {
  pdl_launch();
  pdl_wait();
  for (unsigned i = threadIdx.x; i < v.count; i += blockDim.x) static_cast<unsigned char*>(v.y)[i] = v.bytes[i];
}

/// A copy of integers, which the host gets as well.
using ReadValues = cuda::ReadValuesArgument;
template <class T>
__device__ __forceinline__ void read_values(const ReadValues& r) {
  pdl_launch();
  pdl_wait();
  for (unsigned i = threadIdx.x; i < r.count; i += blockDim.x) {
    const T x = static_cast<const T*>(r.x)[i];
    static_cast<T*>(r.y)[i] = x;
    if (r.numbers) r.numbers[i] = int64_t(x);
  }
}

}  // namespace kiln
