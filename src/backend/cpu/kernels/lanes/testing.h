/// For the tests of lanes: tensors of any float type, filled from seeds and read as doubles.
#pragma once

#include <vector>

#include "backend/cpu/kernels/testing.h"
#include "tensor/view.h"

namespace kiln::cpu {

/// Elements in a block of exactly their size.
struct TestTensor {
  DType dtype;
  std::vector<std::byte> bytes;

  TestTensor(DType type, int64_t count) : dtype(type), bytes(static_cast<size_t>(size_bytes(type, count))) {}
  /// Uniform in [-scale, scale) about `center`, rounded to the type.
  static TestTensor random(DType type, int64_t count, uint32_t seed, float scale = 1, float center = 0) {
    TestTensor result(type, count);
    const std::vector<float> values = random_floats(count, seed);
    for (int64_t i = 0; i < count; ++i)
      store_number(type, result.bytes.data(), i, center + scale * values[static_cast<size_t>(i)]);
    return result;
  }
  double operator[](int64_t i) const { return load_number(dtype, bytes.data(), i); }
  void set(int64_t i, double value) { store_number(dtype, bytes.data(), i, value); }
  const void* data() const { return bytes.data(); }
  void* data() { return bytes.data(); }
  /// Half a unit in the last place of values about `value`.
  double rounding(double value) const {
    const int digits = dtype == DType::kF32 ? 24 : dtype == DType::kF16 ? 11 : 8;
    return std::ldexp(std::fabs(value), -digits) + (dtype == DType::kF16 ? std::ldexp(1.0, -25) : 0);
  }
};

inline constexpr DType kFloatTypes[] = {DType::kF32, DType::kF16, DType::kBF16};

}  // namespace kiln::cpu
