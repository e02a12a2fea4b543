// Numbers from outside that 64 bits do not hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

TEST(Limits, OfExtentsAreTheGreatestOnes) {
  const Dim most = INT64_MAX, least = INT64_MIN;
  EXPECT_EQ((most + 1).number(), INT64_MAX);
  EXPECT_EQ((most * 2).number(), INT64_MAX);
  EXPECT_EQ((least - 1).number(), INT64_MAX);
  EXPECT_EQ((least / -1).number(), INT64_MAX);
  EXPECT_EQ((Dim(7) / 2).number(), 3);
  EXPECT_EQ((Dim(-7) / 2).number(), -4) << "it rounds down";
  EXPECT_EQ((Dim(7) / 0).number(), 0);
}

TEST(Limits, OfSumsOfLengths) {
  constexpr int64_t kAxis = 0, kLengths[] = {INT64_MAX, 1};
  const nv::PluginField given[] = {{"axis", &kAxis, nv::PluginFieldType::kINT64, 1},
                                   {"output_lengths", kLengths, nv::PluginFieldType::kINT64, 2}};
  const nv::PluginFieldCollection collection{2, given};
  const auto split = std::ranges::find(definitions(), std::string_view("Split"), &Definition::name);
  ASSERT_NE(split, definitions().end());
  const auto made = make_plugin(*split, Fields::of(&collection, split->fields).value());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "the sum of output_lengths exceeds 64 bits");
}

}  // namespace
}  // namespace kiln::plugins
