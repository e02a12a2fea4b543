#include "kiln/memory_image.h"

#include <gtest/gtest.h>

#include "tensor/view.h"

namespace kiln {
namespace {

HostTensor counted(const Extents& extents) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < volume(extents); ++i) numbers.push_back(static_cast<double>(i));
  return HostTensor::of(DType::kF32, extents, numbers);
}

TEST(MemoryImage, ChannelsLastByHand) {
  const HostTensor tensor = counted({1, 2, 2, 2});
  std::vector<std::byte> image(32);
  to_image(tensor, Format::channels_last(4), image);
  const View places(DType::kF32, Extents{8}, image.data());
  const double wanted[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(places[i], wanted[i]) << i;
}

TEST(MemoryImage, BlocksByHand) {
  const HostTensor tensor =
      counted({3, 2});  // three rows, in blocks of two: rows 0 and 1, then row 2 and what fills up
  const Format format = Format::linear().blocked(0, 2);
  ASSERT_EQ(*image_bytes(DType::kF32, format, tensor.extents()), 32);
  std::vector<std::byte> image(32);
  to_image(tensor, format, image);
  const View places(DType::kF32, Extents{8}, image.data());
  const double wanted[] = {0, 2, 1, 3, 4, 0, 5, 0};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(places[i], wanted[i]) << i;
}

TEST(MemoryImage, ComesBack) {
  const Extents extents{2, 5, 3, 4};
  for (const Format& format : {Format::linear(), Format::channels_last(4), Format::linear().blocked(1, 4),
                               Format::channels_last(4).blocked(1, 8)}) {
    const HostTensor tensor = counted(extents);
    std::vector<std::byte> image(static_cast<size_t>(*image_bytes(DType::kF32, format, extents)));
    to_image(tensor, format, image);
    EXPECT_EQ(*from_image(DType::kF32, format, extents, image), tensor) << format.text();
  }
}

}  // namespace
}  // namespace kiln
