#include "json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln::cli {
namespace {

TEST(Json, EscapesStrings) { EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\""); }

TEST(Json, NumbersReadBackTheSame) {
  EXPECT_EQ(json_number(0.1f), "0.1");
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(std::stof(json_number(1.0f / 3)), 1.0f / 3);
  EXPECT_EQ(json_number(1e-30f), "1e-30");
}

TEST(Json, NotNumbersAreTexts) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(json_number(std::nanf("")), "\"NaN\"");
  EXPECT_EQ(json_number(infinity), "\"Infinity\"");
  EXPECT_EQ(json_number(-static_cast<double>(infinity)), "\"-Infinity\"");
  EXPECT_EQ(number_text(std::nanf("")), "NaN");
  EXPECT_EQ(number_text(infinity), "Infinity");
  EXPECT_EQ(number_text(-static_cast<double>(infinity)), "-Infinity");
}

}  // namespace
}  // namespace kiln::cli
