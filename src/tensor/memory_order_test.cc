#include "tensor/memory_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tensor/testing/counting.h"
#include "tensor/view.h"

namespace kiln {
namespace {

TEST(MemoryOrder, ChannelsLastByHand) {
  const auto y = in_memory_order(Format::channels_last(4), counting(DType::kI32, {1, 2, 1, 3}));
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(*y, HostTensor::of_ints(DType::kI32, {1, 1, 3, 2}, std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(MemoryOrder, EveryElementLiesAtItsStrides) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI64, DType::kU8, DType::kI4})
    for (int round = 0; round < 20; ++round) {
      const int rank = 1 + static_cast<int>(random() % 5);
      Extents extents;
      std::vector<int> order(static_cast<size_t>(rank));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, random);
      for (int i = 0; i < rank; ++i) extents.push_back(static_cast<int64_t>(random() % 5));
      const HostTensor x = counting(dtype, extents);
      const Format format = Format::permuted(order);
      const auto y = in_memory_order(format, x);
      ASSERT_TRUE(y) << y.error().message;
      ASSERT_EQ(y->bytes().size(), x.bytes().size());
      EXPECT_EQ(y->extents(), in_memory_order(format, extents));
      const Extents strides = format.strides(extents);
      Extents at(extents.size(), 0);
      for (int64_t i = 0; i < x.volume(); ++i) {
        int64_t place = 0;
        for (size_t axis = 0; axis < at.size(); ++axis) place += at[axis] * strides[axis];
        ASSERT_EQ(View(*y)[place], View(x)[i]) << str(dtype, extents, " in ", format);
        for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == extents[axis];) at[axis] = 0;
      }
    }
}

TEST(MemoryOrder, SharesBytesWhereTheOrderStays) {
  const HostTensor x = counting(DType::kF32, {2, 1, 3, 1});
  const auto y = in_memory_order(Format::channels_last(4), x);
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(y->bytes().data(), x.bytes().data());
  EXPECT_EQ(y->extents(), (Extents{2, 3, 1, 1}));
}

TEST(MemoryOrder, RefusesWhatIsNoFormatOfTheTensor) {
  const HostTensor x = counting(DType::kF32, {2, 3});
  EXPECT_FALSE(in_memory_order(Format::channels_last(4), x));
  const auto blocked = in_memory_order(Format().blocked(1, 4), x);
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().message, "a constant f32[2, 3] has no format []:1/4");
}

TEST(MemoryOrder, ComesBackInLinearOrder) {
  const Extents extents{2, 3, 2, 2};
  HostTensor::Fresh fresh = *HostTensor::make(DType::kF16, extents);
  for (int64_t i = 0; i < volume(extents); ++i) store_number(DType::kF16, fresh.data.data(), i, static_cast<double>(i));
  for (const Format& format : {Format(), Format::channels_last(4), Format::permuted(std::vector<int>{3, 1, 0, 2})}) {
    const HostTensor stored = *in_memory_order(format, fresh.tensor);
    const auto back = from_memory_order(format, DType::kF16, extents, stored.bytes());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(*back == fresh.tensor) << format.text();
  }
}

TEST(MemoryOrder, BlocksComeBackWithoutTheirPadding) {
  const Format format = Format().blocked(1, 2);  // of three channels, in two blocks
  const std::vector<int8_t> stored{1, 3, 2, 4, 5, 0, 6, 0};
  const auto back = from_memory_order(format, DType::kI8, {1, 3, 2}, std::as_bytes(std::span(stored)));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(View(*back).integers(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(from_memory_order(format, DType::kI8, {1, 3, 2}, std::as_bytes(std::span(stored).first(6))));
}

}  // namespace
}  // namespace kiln
