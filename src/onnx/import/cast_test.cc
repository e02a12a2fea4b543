#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int64_t kInt4 = 22, kFloat4 = 23, kE8M0 = 24;

/// A cast of f32[2].
std::string cast_to(int64_t type, const Proto& other = int_attribute("saturate", 1)) {
  return import_node(node("Cast", {"x"}, {"y"}, "c", {int_attribute("to", type), other}), {value("x", kFloat, {2})}, {},
                     24);
}

TEST(ImportCast, FourBitsWrap) {
  EXPECT_EQ(cast_to(kInt4),
            "x: f32[2]\n"
            "%1 = Cast{to=i32}(x)  # i32[2]\n"
            "y = Cast{to=i4}(%1)  # i4[2]\n"
            "return y\n");
}
TEST(ImportCast, NaNIsZeroInFourBits) {
  const std::string text = cast_to(kFloat4);
  for (const char* part : {"isnan", "Select", "Cast{to=f4e2m1}"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}
TEST(ImportCast, PowersOfTwoRoundAsTold) {
  const auto with = [](std::string_view mode) { return cast_to(kE8M0, text_attribute("round_mode", mode)); };
  EXPECT_EQ(cast_to(kE8M0), with("up"));
  EXPECT_NE(with("up"), with("down"));
  EXPECT_NE(with("up"), with("nearest"));
  EXPECT_NE(cast_to(kE8M0), cast_to(kE8M0, int_attribute("saturate", 0)));
  EXPECT_EQ(with("away"), "node 'c' (Cast) of x f32[2]: round_mode is 'away'; up, down or nearest is needed\n");
}

}  // namespace
}  // namespace kiln::onnx
