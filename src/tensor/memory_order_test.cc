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
  for (const DType dtype : {DType::kF16, DType::kI4, DType::kI64})
    for (const Extents& extents : {Extents{2, 5, 3, 4}, Extents{1, 3, 1, 1}, Extents{2, 0, 3, 1}})
      for (const Format& format : {Format(), Format::channels_last(4), Format::permuted(std::vector<int>{3, 1, 0, 2}),
                                   Format::linear().blocked(1, 4), Format::channels_last(4).blocked(1, 8)}) {
        const HostTensor tensor = counting(dtype, extents);
        std::vector<std::byte> stored(static_cast<size_t>(*stored_bytes(format, dtype, extents)));
        ASSERT_TRUE(to_memory_order(format, tensor, stored));
        const auto back = from_memory_order(format, dtype, extents, stored);
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_TRUE(*back == tensor) << str(dtype, extents, " in ", format);
        EXPECT_TRUE(format.is_blocked() || std::ranges::equal(stored, in_memory_order(format, tensor)->bytes()));
      }
}

TEST(MemoryOrder, ChannelsLastIsStoredAsByHand) {
  std::vector<std::byte> stored(32);
  ASSERT_TRUE(to_memory_order(Format::channels_last(4), counting(DType::kF32, {1, 2, 2, 2}), stored));
  const View places(DType::kF32, Extents{8}, stored.data());
  const double wanted[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(places[i], wanted[i]) << i;
}

TEST(MemoryOrder, BlocksComeBackWithoutTheirPadding) {
  const Format format = Format().blocked(1, 2);  // of three channels, in two blocks
  const Extents extents{1, 3, 2};
  const std::vector<int8_t> stored{1, 3, 2, 4, 5, 0, 6, 0};
  const auto back = from_memory_order(format, DType::kI8, extents, std::as_bytes(std::span(stored)));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(View(*back).integers(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  std::vector<int8_t> again(8, 9);
  ASSERT_TRUE(to_memory_order(format, *back, std::as_writable_bytes(std::span(again))));
  EXPECT_EQ(again, (std::vector<int8_t>{1, 3, 2, 4, 5, 9, 6, 9})) << "what fills up blocks stays";
}

TEST(MemoryOrder, RefusesMemoryOfAnotherSize) {
  const Format format = Format().blocked(1, 2);
  std::vector<std::byte> stored(6);
  const auto back = from_memory_order(format, DType::kI8, {1, 3, 2}, stored);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().message, "6 bytes for i8[1, 3, 2] in format []:1/2");
  EXPECT_FALSE(to_memory_order(format, counting(DType::kI8, {1, 3, 2}), stored));
  EXPECT_FALSE(from_memory_order(Format::channels_last(4), DType::kI8, {6}, stored)) << "a format of another rank";
}

}  // namespace
}  // namespace kiln
