#include "backend/cpu/kernels/scan/non_zero.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/kernels/lanes/testing.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// Elements of which about one in `rarity` is not zero; of floats some zeros are negative, and some others NaN.
TestTensor elements(DType dtype, int64_t count, int64_t rarity) {
  TestTensor x(dtype, count);
  uint64_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto chance = static_cast<int64_t>(state >> 33);
    const bool is_zero = chance % rarity != 0;
    if (is_float(dtype))
      store_number(dtype, x.bytes.data(), i, is_zero ? (i % 3 ? 0.0 : -0.0) : i % 5 ? -1.5 : NAN);
    else
      store_integer(dtype, x.bytes.data(), i, is_zero ? 0 : 1);
  }
  return x;
}

void check(const Extents& extents, DType dtype, int64_t rarity, bool wide = true, int threads = 3) {
  SCOPED_TRACE(str(extents, ' ', name_of(dtype), " 1 in ", rarity, " wide ", wide));
  const int64_t count = volume(extents);
  const TestTensor x = elements(dtype, count, rarity);
  const View view(dtype, extents, x.bytes.data());
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < count; ++i)
    if (view[i] != 0) wanted.push_back(i);
  const int64_t n = std::ssize(wanted), rank = std::ssize(extents);
  const NonZeroShape shape{.x = extents, .dtype = dtype, .wide_indices = wide, .most = n};
  TestTensor y(wide ? DType::kI64 : DType::kI32, rank * n);  // exactly as many as there are
  Team team(threads);
  const TestWorkspace workspace(non_zero_workspace(shape));
  ASSERT_EQ(non_zero(team, shape, x.data(), y.data(), static_cast<std::byte*>(workspace.data())), n);
  for (int64_t i = 0; i < n; ++i) {
    int64_t index = 0;
    for (int64_t axis = 0; axis < rank; ++axis)
      index = index * extents[static_cast<size_t>(axis)] + load_integer(y.dtype, y.bytes.data(), axis * n + i);
    ASSERT_EQ(index, rank == 0 ? 0 : wanted[static_cast<size_t>(i)]) << "place " << i;
  }
}

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kI64, DType::kI8,  DType::kU8,   DType::kBool};

TEST(NonZeroKernel, EveryType) {
  for_each_target([] {
    for (const DType dtype : kTypes)
      for (const int64_t rarity : {1, 2, 3, 20, 1 << 30})
        for (const bool wide : {false, true}) check({1000}, dtype, rarity, wide);
  });
}
TEST(NonZeroKernel, EveryLength) {
  for_each_target([] {
    for (const int64_t length : {0, 1, 63, 64, 65, 127, 32767, 32768, 32769, 100'003})
      for (const int64_t rarity : {1, 2, 9}) check({length}, DType::kBool, rarity, length % 2 == 0);
  });
}
TEST(NonZeroKernel, Coordinates) {
  for_each_target([] {
    for (const int64_t rarity : {1, 2, 50}) {
      check({300, 700}, DType::kF32, rarity);
      check({70'000, 3}, DType::kBool, rarity, false);
      check({3, 1, 40, 5, 7, 11}, DType::kI32, rarity);
      check({2, 1, 2, 1, 2, 1, 2, 33}, DType::kU8, rarity);
      check({}, DType::kF32, rarity);
    }
  });
}
TEST(NonZeroKernel, WritesNothingWhereThereIsNoRoom) {
  const std::vector<uint8_t> x(100, 1);
  std::vector<int64_t> y(99, -7);
  const NonZeroShape shape{.x = {100}, .dtype = DType::kU8, .most = 99};
  Team team(1);
  const TestWorkspace workspace(non_zero_workspace(shape));
  EXPECT_EQ(non_zero(team, shape, x.data(), y.data(), static_cast<std::byte*>(workspace.data())), 100);
  EXPECT_EQ(y, std::vector<int64_t>(99, -7));
}

}  // namespace
}  // namespace kiln::cpu
