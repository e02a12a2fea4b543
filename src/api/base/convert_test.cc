#include "api/base/convert.h"

#include <gtest/gtest.h>

namespace kiln::api {
namespace {

using nvinfer1::DataType;
using nvinfer1::Dims;
using nvinfer1::TensorFormat;

TEST(Convert, DataTypesBothWays) {
  for (int i = 0; i < nvinfer1::EnumMax<DataType>(); ++i) {
    const auto type = static_cast<DataType>(i);
    const Result<DType> ours = from_api(type);
    ASSERT_TRUE(ours);
    EXPECT_EQ(to_api(*ours), type);
  }
  EXPECT_EQ(*from_api(DataType::kHALF), DType::kF16);
  EXPECT_EQ(*from_api(DataType::kBF16), DType::kBF16);
  EXPECT_EQ(*from_api(DataType::kFP8), DType::kF8E4M3);
  EXPECT_EQ(from_api(static_cast<DataType>(77)).error().message, "DataType(77) is not a data type");
  EXPECT_FALSE(from_api(static_cast<DataType>(-1)));
}

TEST(Convert, DimsBothWays) {
  const Result<Extents> extents = from_api(Dims{3, {2, -1, 5}});
  ASSERT_TRUE(extents);
  EXPECT_EQ(*extents, (Extents{2, -1, 5}));
  EXPECT_EQ(text(to_api(*extents)), "[2, -1, 5]");
  EXPECT_EQ(from_api(Dims{0, {}})->size(), 0u);
  EXPECT_EQ(from_api(Dims{9, {}}).error().message, "nbDims is 9, outside [0, 8]");
  EXPECT_FALSE(from_api(Dims{-1, {}}));
}

TEST(Convert, NamesOfAMask) {
  EXPECT_EQ(names_of_formats(1U << static_cast<uint32_t>(TensorFormat::kHWC)), "kHWC");
  EXPECT_EQ(names_of_formats(0b100001), "kLINEAR, kCHW32");
  EXPECT_EQ(names_of_formats(1U << 31 | 1), "kLINEAR, TensorFormat(31)");
  EXPECT_EQ(names_of_formats(0), "none");
}

TEST(Convert, FormatsBothWays) {
  for (int i = 0; i < nvinfer1::EnumMax<TensorFormat>(); ++i) {
    const auto format = static_cast<TensorFormat>(i);
    for (const int rank : {4, 5})
      if (const Result<Format> ours = from_api(format, rank)) {
        EXPECT_EQ(to_api(*ours, rank), format) << name_of(format) << " of rank " << rank;
      }
  }
  EXPECT_EQ(from_api(TensorFormat::kCHW32, 4)->text(), Format::linear().blocked(1, 32).text());
  EXPECT_EQ(from_api(TensorFormat::kHWC, 4)->strides(Extents{2, 3, 4, 5}), (Extents{60, 1, 15, 3}));
  EXPECT_EQ(from_api(TensorFormat::kHWC, 3).error().message,
            "format kHWC is of tensors of rank 4, this one has rank 3");
  EXPECT_FALSE(from_api(TensorFormat::kDLA_LINEAR, 4));
  EXPECT_FALSE(from_api(static_cast<TensorFormat>(99), 4));
}

}  // namespace
}  // namespace kiln::api
