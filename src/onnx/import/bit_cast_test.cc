#include <bit>
#include <cmath>
#include <limits>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;
using Longs = std::vector<int64_t>;

constexpr int64_t kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kUint32 = 12, kUint64 = 13,
                  kBfloat16 = 16, kE4m3 = 17, kE5m2 = 19, kInt4 = 22;

Proto cast_to(int64_t type, std::string_view from = "a", std::string_view to = "y") {
  return node("BitCast", {from}, {to}, "b", {int_attribute("to", type)});
}
Longs bits(const Fed& x, int64_t to) { return ints_of(run_nodes({cast_to(to)}, {x}, {}, 26)); }
Doubles numbers(const Fed& x, int64_t to) { return numbers_of(run_nodes({cast_to(to)}, {x}, {}, 26)); }

TEST(ImportBitCast, OfThirtyTwoBits) {
  const Fed x = fed(kFloat, DType::kF32, {2, 1}, {1, -2});
  EXPECT_EQ(bits(x, kInt32), (Longs{0x3f800000, -0x40000000}));
  EXPECT_EQ(bits(x, kUint32), (Longs{0x3f800000, 0xc0000000}));
  EXPECT_EQ(numbers(fed_ints(kInt32, DType::kI32, {2}, {0x3f800000, 1}), kFloat), (Doubles{1, 0x1p-149}));
  EXPECT_EQ(numbers(fed_ints(kUint32, DType::kI64, {2}, {0xc0000000, 0x3f800000}), kFloat), (Doubles{-2, 1}));
  EXPECT_EQ(bits(fed_ints(kUint32, DType::kI64, {2}, {0xffffffff, 7}), kInt32), (Longs{-1, 7}));
}
TEST(ImportBitCast, OfSixtyFourBits) {
  EXPECT_EQ(bits(fed_ints(kInt64, DType::kI64, {1}, {-1}), kUint64), (Longs{-1}));  // carried with the same bits
  const std::vector<Proto> there_and_back{node("Cast", {"a"}, {"d"}, "c", {int_attribute("to", kDouble)}),
                                          cast_to(kInt64, "d")};
  EXPECT_EQ(ints_of(run_nodes(there_and_back, {fed(kFloat, DType::kF32, {1}, {2})}, {}, 26)),
            (Longs{0x4000000000000000}));
}
TEST(ImportBitCast, OfBytes) {
  EXPECT_EQ(bits(fed_ints(kInt8, DType::kI8, {3}, {-1, 0, 5}), kUint8), (Longs{255, 0, 5}));
  EXPECT_EQ(bits(fed_ints(kBool, DType::kBool, {2}, {1, 0}), kInt8), (Longs{1, 0}));
  EXPECT_EQ(bits(fed_ints(kUint8, DType::kU8, {3}, {1, 0, 2}), kBool), (Longs{1, 0, 1}));
  EXPECT_EQ(bits(fed(kE4m3, DType::kF8E4M3, {2}, {1, -2}), kUint8), (Longs{0x38, 0xc0}));
}
TEST(ImportBitCast, OfHalves) {
  const Doubles x{0, 1, -2, 65504, 0x1p-14, 0x1p-24, -1023 * 0x1p-24, INFINITY, -INFINITY, 1.0009765625};
  const Longs as_unsigned{0, 0x3c00, 0xc000, 0x7bff, 0x400, 1, 0x83ff, 0x7c00, 0xfc00, 0x3c01};
  const Fed halves = fed(kFloat16, DType::kF16, {10}, x);
  EXPECT_EQ(bits(halves, kUint16), as_unsigned);
  EXPECT_EQ(bits(halves, kInt16)[2], -0x4000);
  EXPECT_EQ(numbers(fed_ints(kUint16, DType::kI32, {10}, as_unsigned), kFloat16), x);
  EXPECT_TRUE(std::isnan(numbers(fed_ints(kInt16, DType::kI32, {1}, {0x7e01}), kFloat16)[0]));
  EXPECT_EQ(bits(fed(kFloat16, DType::kF16, {1}, {NAN}), kInt16)[0] & 0x7e00, 0x7e00);
}
TEST(ImportBitCast, HalvesHaveAllTheirBits) {
  Longs all;
  for (int64_t i = 0; i < 1 << 16; ++i)
    if ((i & 0x7c00) != 0x7c00 || (i & 0x3ff) == 0) all.push_back(i);  // but for NaNs, which are converted
  const Fed x = fed_ints(kUint16, DType::kI32, {static_cast<int64_t>(all.size())}, all);
  EXPECT_EQ(ints_of(run_nodes({cast_to(kFloat16, "a", "h"), cast_to(kUint16, "h")}, {x}, {}, 26)), all);
  EXPECT_EQ(ints_of(run_nodes({cast_to(kBfloat16, "a", "h"), cast_to(kUint16, "h")}, {x}, {}, 26)), all);
}
TEST(ImportBitCast, OfUpperHalvesOfFloats) {
  const Fed x = fed(kBfloat16, DType::kBF16, {3}, {1, -2, 0x1p-126});
  EXPECT_EQ(bits(x, kUint16), (Longs{0x3f80, 0xc000, 0x80}));
  EXPECT_EQ(bits(x, kInt16), (Longs{0x3f80, -0x4000, 0x80}));
  EXPECT_EQ(numbers(fed_ints(kInt16, DType::kI32, {2}, {0x3f80, -0x4000}), kBfloat16), (Doubles{1, -2}));
  EXPECT_EQ(numbers(fed(kFloat16, DType::kF16, {1}, {1}), kBfloat16), (Doubles{0x1p-7}));
  EXPECT_EQ(bits(fed_ints(kUint16, DType::kI32, {1}, {0xffff}), kInt16), (Longs{-1}));
}
TEST(ImportBitCast, IsOneOpOrNone) {
  EXPECT_EQ(import_node(cast_to(kInt32, "x"), {value("x", kFloat, {2, 3})}, {}, 26),
            "x: f32[2, 3]\ny = BitCast{to=i32}(x)  # i32[2, 3]\nreturn y\n");
  EXPECT_EQ(import_node(cast_to(kFloat, "x"), {value("x", kFloat, {2})}, {}, 26),
            "x: f32[2]\ny = Identity(x)  # f32[2]\nreturn y\n");
}
TEST(ImportBitCast, SaysWhatIsWrong) {
  const auto message = [](int64_t from, int64_t to) {
    std::string text = import_node(cast_to(to, "x"), {value("x", from, {2})}, {}, 26);
    return text.substr(text.find(": ") + 2);
  };
  EXPECT_EQ(message(kFloat, kInt64), "to is INT64, which has 64 bits; x has 32\n");
  EXPECT_EQ(message(kUint16, kInt32), "to is INT32, which has 32 bits; x has 16\n");
  EXPECT_EQ(message(kE5m2, kUint8),
            "BitCast of FLOAT8E5M2, whose numbers are floats of 32 bits here, is not in Kiln\n");
  EXPECT_EQ(message(kInt8, kE5m2), "BitCast of FLOAT8E5M2, whose numbers are floats of 32 bits here, is not in Kiln\n");
  EXPECT_EQ(message(kInt4, 21), "BitCast of 4-bit elements is not in Kiln\n");
  EXPECT_NE(message(kFloat, 8).find("STRING"), std::string::npos);
}

}  // namespace
}  // namespace kiln::onnx
