#include "values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;

template <class T>
std::string text(std::vector<T> bits, DataType type, int64_t count) {
  std::string out;
  append_values(out, bits.data(), type, 0, count, " ");
  return out;
}

TEST(Values, KnownAnswersOfEveryType) {
  EXPECT_EQ(text<float>({0.1f, -2}, DataType::kFLOAT, 2), "0.1 -2");
  EXPECT_EQ(text<uint16_t>({0x3c00, 0x7e00, 0xfc00}, DataType::kHALF, 3), "1 NaN -Infinity");
  EXPECT_EQ(text<uint16_t>({0x3f80, 0xc040}, DataType::kBF16, 2), "1 -3");
  EXPECT_EQ(text<uint8_t>({0xff, 0x7f}, DataType::kINT8, 2), "-1 127");
  EXPECT_EQ(text<uint8_t>({0xff}, DataType::kUINT8, 1), "255");
  EXPECT_EQ(text<uint8_t>({0, 1}, DataType::kBOOL, 2), "0 1");
  EXPECT_EQ(text<int32_t>({-5}, DataType::kINT32, 1), "-5");
  EXPECT_EQ(text<int64_t>({INT64_MIN}, DataType::kINT64, 1), "-9223372036854775808");
  EXPECT_EQ(text<uint8_t>({0x38, 0xb8, 0x7e, 0x7f, 0x01}, DataType::kFP8, 5), "1 -1 448 NaN 0.001953125");
  EXPECT_EQ(text<uint8_t>({0x8f, 0x07}, DataType::kINT4, 3), "-1 -8 7");
  EXPECT_EQ(text<uint8_t>({0xf2}, DataType::kFP4, 2), "1 -6");
  EXPECT_EQ(text<uint8_t>({127, 130, 255}, DataType::kE8M0, 3), "1 8 NaN");
}

TEST(Values, WhatIsNoNumberIsATextInJson) {
  const float values[] = {1, NAN, -INFINITY};
  std::string out;
  append_values(out, values, DataType::kFLOAT, 0, 3, ", ", Notation::kJson);
  EXPECT_EQ(out, R"(1, "NaN", "-Infinity")");
}

TEST(Values, HalfBytesRoundUp) {
  EXPECT_EQ(size_bytes(DataType::kINT4, 3), 2);
  EXPECT_EQ(size_bytes(DataType::kINT64, 3), 24);
  EXPECT_EQ(size_bytes(DataType::kFLOAT, 0), 0);
}

TEST(Values, RandomOnesRepeatAndStayInRange) {
  std::vector<float> a(1000), b(1000);
  fill_random(a.data(), DataType::kFLOAT, 1000, 7);
  fill_random(b.data(), DataType::kFLOAT, 1000, 7);
  EXPECT_EQ(a, b);
  EXPECT_NE(a[0], a[1]);
  for (float value : a) EXPECT_TRUE(value >= -1 && value < 1) << value;
  std::vector<int64_t> integers(1000);
  fill_random(integers.data(), DataType::kINT64, 1000, 7);
  for (int64_t value : integers) EXPECT_TRUE(value == 0 || value == 1) << value;
}

}  // namespace
}  // namespace kiln::cli::trtexec
