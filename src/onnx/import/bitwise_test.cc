// Operators of bits, against C++'s own.
#include <functional>
#include <random>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Longs = std::vector<int64_t>;

constexpr int64_t kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kUint32 = 12, kUint64 = 13;

struct Kind {
  int64_t type;
  DType dtype;
  int bits;
  bool is_signed;
  /// The low bits of a number as one of the type, in the carrier.
  int64_t of(uint64_t number) const {
    if (bits == 64) return static_cast<int64_t>(number);
    const auto low = static_cast<int64_t>(number & ((uint64_t{1} << bits) - 1));
    return is_signed && low >> (bits - 1) ? low - (int64_t{1} << bits) : low;
  }
};
const Kind kKinds[] = {{kUint8, DType::kU8, 8, false},    {kInt8, DType::kI8, 8, true},
                       {kUint16, DType::kI32, 16, false}, {kInt16, DType::kI32, 16, true},
                       {kInt32, DType::kI32, 32, true},   {kUint32, DType::kI64, 32, false},
                       {kInt64, DType::kI64, 64, true},   {kUint64, DType::kI64, 64, false}};

Longs numbers(const Kind& kind, uint64_t seed) {
  std::mt19937_64 random(seed);
  Longs result{kind.of(0), kind.of(~uint64_t{0}), kind.of(uint64_t{1} << (kind.bits - 1))};
  while (result.size() < 300) result.push_back(kind.of(random()));
  return result;
}
Fed input(const Kind& kind, const Longs& values) {
  return fed_ints(kind.type, kind.dtype, {static_cast<int64_t>(values.size())}, values);
}

TEST(ImportBitwise, AgreesWithTheBits) {
  const std::pair<const char*, std::function<uint64_t(uint64_t, uint64_t)>> kOps[] = {
      {"BitwiseAnd", std::bit_and<uint64_t>()},
      {"BitwiseOr", std::bit_or<uint64_t>()},
      {"BitwiseXor", std::bit_xor<uint64_t>()}};
  for (const Kind& kind : kKinds) {
    const Longs a = numbers(kind, 1), b = numbers(kind, 2);
    for (const auto& [op, apply] : kOps) {
      Longs wanted;
      for (size_t i = 0; i < a.size(); ++i)
        wanted.push_back(kind.of(apply(static_cast<uint64_t>(a[i]), static_cast<uint64_t>(b[i]))));
      EXPECT_EQ(ints_of(run_nodes({node(op, {"a", "b"}, {"y"})}, {input(kind, a), input(kind, b)})), wanted)
          << op << " of type " << kind.type;
    }
    Longs wanted;
    for (const int64_t each : a) wanted.push_back(kind.of(~static_cast<uint64_t>(each)));
    EXPECT_EQ(ints_of(run_nodes({node("BitwiseNot", {"a"}, {"y"})}, {input(kind, a)})), wanted) << kind.type;
  }
}
TEST(ImportBitwise, ShiftsByAnyCount) {
  for (const Kind& kind : kKinds) {
    const Longs a = numbers(kind, 3);
    Longs by, left, right;
    for (size_t i = 0; i < a.size(); ++i) {
      by.push_back(static_cast<int64_t>(i) % (kind.bits + 9) - (kind.is_signed ? 3 : 0));
      const bool all = by[i] < 0 || by[i] >= kind.bits;
      left.push_back(all ? 0 : kind.of(static_cast<uint64_t>(a[i]) << by[i]));
      if (kind.is_signed)
        right.push_back(all ? -int64_t{a[i] < 0} : a[i] >> by[i]);
      else
        right.push_back(all ? 0 : kind.of(static_cast<uint64_t>(a[i]) >> by[i]));
    }
    const auto shifted = [&](std::string_view direction) {
      return ints_of(run_nodes({node("BitShift", {"a", "b"}, {"y"}, "s", {text_attribute("direction", direction)})},
                               {input(kind, a), input(kind, by)}));
    };
    EXPECT_EQ(shifted("LEFT"), left) << kind.type;
    EXPECT_EQ(shifted("RIGHT"), right) << kind.type;
  }
}
TEST(ImportBitwise, SaysWhatIsWrong) {
  const auto of = [](std::string_view op, int64_t type, std::string_view direction = "LEFT") {
    return import_node(node(op, {"x", "w"}, {"y"}, "n", {text_attribute("direction", direction)}),
                       {value("x", type, {2}), value("w", type, {2})}, {}, 24);
  };
  EXPECT_EQ(of("BitwiseAnd", kFloat),
            "node 'n' (BitwiseAnd) of x f32[2], w f32[2]: 'x' is f32[2]; BitwiseAnd takes integers\n");
  EXPECT_EQ(of("BitShift", kFloat),
            "node 'n' (BitShift) of x f32[2], w f32[2]: 'x' is f32[2]; BitShift takes integers\n");
  EXPECT_EQ(of("BitShift", kUint8, "UP"),
            "node 'n' (BitShift) of x u8[2], w u8[2]: direction is 'UP'; LEFT or RIGHT is needed\n");
}

}  // namespace
}  // namespace kiln::onnx
