/// For the tests of kernels that move elements: random tensors, and the op's reference as the naive loop.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ops/reference_context.h"
#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln::cpu {

/// A type with elements of that many bytes.
inline DType type_of_bytes(int bytes) {
  return bytes == 1 ? DType::kU8 : bytes == 2 ? DType::kF16 : bytes == 4 ? DType::kF32 : DType::kI64;
}

/// Random bits; floats are finite numbers.
inline HostTensor random_tensor(DType dtype, const Extents& extents, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> values(static_cast<size_t>(volume(extents)));
  for (int64_t& value : values) value = static_cast<int64_t>(random()) % 1000;
  return HostTensor::of_ints(dtype, extents, values);
}
inline HostTensor random_indices(DType dtype, const Extents& extents, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> values(static_cast<size_t>(volume(extents)));
  for (int64_t& value : values) value = static_cast<int64_t>(random() % static_cast<uint32_t>(2 * count)) - count;
  return HostTensor::of_ints(dtype, extents, values);
}

/// The op's reference applied to these tensors.
inline HostTensor expected(const Op& op, const std::vector<HostTensor>& inputs) {
  const auto outputs = run_reference(op, std::span<const HostTensor>(inputs));
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? (*outputs)[0] : HostTensor();
}

/// Memory for a result: other bits than any right answer, of exactly its size.
inline std::vector<std::byte> target_of(const HostTensor& tensor) {
  return std::vector<std::byte>(tensor.bytes().size(), std::byte{0xcd});
}
inline void expect_bytes(const std::vector<std::byte>& got, const HostTensor& want) {
  ASSERT_EQ(got.size(), want.bytes().size());
  EXPECT_TRUE(got.empty() || std::memcmp(got.data(), want.bytes().data(), got.size()) == 0);
}

}  // namespace kiln::cpu
