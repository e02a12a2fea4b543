#include "backend/cpu/kernels/sort/unique.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/kernels/lanes/testing.h"
#include "ops/reference_context.h"
#include "steps/unique.h"

namespace kiln::cpu {
namespace {

/// About `different` different numbers; of floats some are NaN, infinite or a zero of either sign.
HostTensor elements(DType dtype, const Extents& extents, int64_t different) {
  HostTensor::Fresh fresh = HostTensor::make(dtype, extents).value();
  uint64_t state = 12345;
  for (int64_t i = 0; i < volume(extents); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto chance = static_cast<int64_t>(state >> 33);
    const int64_t number = chance % different - different / 2;
    if (dtype == DType::kBool || !is_float(dtype))
      store_integer(dtype, fresh.data.data(), i, dtype == DType::kBool ? number & 1 : number);
    else if (chance % 31 == 0)
      store_number(dtype, fresh.data.data(), i, i % 2 ? NAN : INFINITY);
    else
      store_number(dtype, fresh.data.data(), i, number == 0 && i % 2 ? -0.0 : static_cast<double>(number) / 8);
  }
  return fresh.tensor;
}

void check(const Extents& extents, DType dtype, int64_t different, std::optional<int> axis = {}, bool sorted = true) {
  SCOPED_TRACE(str(extents, ' ', name_of(dtype), " axis ", axis.value_or(-99), " sorted ", sorted));
  const ops::Unique op{.axis = axis, .sorted = sorted};
  const HostTensor x = elements(dtype, extents, different);
  const auto wanted = run_reference(op, {&x, 1});
  ASSERT_TRUE(wanted) << wanted.error().message;
  std::vector<std::vector<std::byte>> found;
  for (const HostTensor& output : *wanted) found.emplace_back(output.bytes().size());
  const auto numbers = [&](size_t i) { return reinterpret_cast<int64_t*>(found[i].data()); };
  const int64_t n = (*wanted)[1].volume();
  const UniqueShape shape{.slices = steps::Unique{op}.slices(extents), .dtype = dtype, .sorted = sorted, .room = n};
  const TestWorkspace workspace(unique_workspace(shape));
  ASSERT_EQ(unique(shape, x.bytes().data(), {found[0].data(), numbers(1), numbers(2), numbers(3)},
                   static_cast<std::byte*>(workspace.data())),
            n);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(found[i], (*wanted)[i].bytes())) << "output " << i;
}

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kI64, DType::kI8,  DType::kU8,   DType::kBool};

TEST(UniqueKernel, EveryType) {
  for_each_target([] {
    for (const DType dtype : kTypes)
      for (const bool sorted : {true, false}) {
        check({700}, dtype, 50, {}, sorted);
        check({50, 61}, dtype, 1000, {}, sorted);
        check({40, 2}, dtype, 4, 0, sorted);
        check({2, 40, 3}, dtype, 2, 1, sorted);
        check({3, 33}, dtype, 2, -1, sorted);
      }
  });
}
TEST(UniqueKernel, EveryLength) {
  for_each_target([] {
    for (const int64_t length : {1, 2, 1023, 1024, 1025, 70'000})
      for (const int64_t different : {1, 300, 1'000'000'000})
        check({length}, DType::kI64, different, {}, length % 2 == 0);
  });
}
TEST(UniqueKernel, Nothing) {
  check({0}, DType::kF32, 3);
  check({}, DType::kF32, 3);
  check({0, 5}, DType::kF32, 3, 0);
  check({0, 5}, DType::kF32, 3, 1);
}
TEST(UniqueKernel, WritesNothingWhereThereIsNoRoom) {
  const std::vector<int32_t> x{1, 2, 1};
  std::vector<int32_t> y{-7};
  std::vector<int64_t> first{-7}, inverse(3), counts{-7};
  const UniqueShape shape{.slices = {.length = 3}, .dtype = DType::kI32, .room = 1};
  const TestWorkspace workspace(unique_workspace(shape));
  EXPECT_EQ(unique(shape, x.data(), {y.data(), first.data(), inverse.data(), counts.data()},
                   static_cast<std::byte*>(workspace.data())),
            2);
  EXPECT_EQ(y[0], -7);
  EXPECT_EQ(first[0], -7);
  EXPECT_EQ(counts[0], -7);
}

}  // namespace
}  // namespace kiln::cpu
