// Element types that Kiln's ops lack, carried in wider ones: what arithmetic, casts and quantization make of them.
#include "onnx/import/carried_types.h"

#include <cmath>

#include "onnx/test_bodies.h"
#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Longs = std::vector<int64_t>;
using Doubles = std::vector<double>;

constexpr int64_t kUint16 = 4, kInt16 = 5, kInt32 = 6, kUint32 = 12, kUint64 = 13, kE4M3Fnuz = 18, kE5M2 = 19,
                  kE5M2Fnuz = 20, kUint4 = 21;
constexpr int64_t kTop = INT64_MIN;  // the bits of 2^63

DType carrier(int64_t type) { return *carrier_of(static_cast<ElementType>(type)); }
Fed line(int64_t type, const Longs& numbers) {
  return fed_ints(type, carrier(type), {static_cast<int64_t>(numbers.size())}, numbers);
}
Longs binary_node(std::string_view op, int64_t type, const Longs& a, const Longs& b,
                  std::initializer_list<Proto> attributes = {}) {
  return ints_of(run_nodes({node(op, {"a", "b"}, {"y"}, "n", attributes)}, {line(type, a), line(type, b)}));
}

TEST(CarriedTypes, ArithmeticWrapsToTheWidth) {
  EXPECT_EQ(binary_node("Add", kInt16, {32767, -32768, 5}, {1, -1, -7}), (Longs{-32768, 32767, -2}));
  EXPECT_EQ(binary_node("Sub", kUint16, {0, 65535}, {1, 65535}), (Longs{65535, 0}));
  EXPECT_EQ(binary_node("Mul", kUint32, {4294967295, 65536}, {4294967295, 65536}), (Longs{1, 0}));
  EXPECT_EQ(binary_node("Mul", kUint64, {kTop, 3}, {2, kTop}), (Longs{0, kTop}));
  EXPECT_EQ(binary_node("Div", kInt16, {-32768, -7}, {-1, 2}), (Longs{-32768, -3}));
  EXPECT_EQ(binary_node("Pow", kUint16, {3, 2}, {11, 16}), (Longs{177147 - 2 * 65536, 0}));
}
TEST(CarriedTypes, Uint64IsUnsigned) {
  const Longs a{-1, kTop, 7, -2, 5}, b{2, -1, kTop, 10, 0};  // 2^64 - 1, 2^63 ...
  EXPECT_EQ(binary_node("Div", kUint64, {-1, kTop, 7, -2, -1}, {2, -1, kTop, 10, -1}),
            (Longs{INT64_MAX, 0, 0, 1844674407370955161, 1}));
  EXPECT_EQ(binary_node("Mod", kUint64, a, b), (Longs{1, kTop, 7, 4, 5}));
  EXPECT_EQ(binary_node("Max", kUint64, a, b), (Longs{-1, -1, kTop, -2, 5}));
  EXPECT_EQ(binary_node("Less", kUint64, a, b), (Longs{0, 1, 1, 0, 0}));
  EXPECT_EQ(binary_node("GreaterOrEqual", kUint64, a, b), (Longs{1, 0, 0, 1, 1}));
  EXPECT_EQ(ints_of(run_nodes({node("TopK", {"a", "k"}, {"y", "i"})}, {line(kUint64, a)}, {i64s("k", {2})})),
            (Longs{-1, -2}));
  EXPECT_EQ(ints_of(run_nodes({node("ReduceMin", {"a"}, {"y"})}, {line(kUint64, {-1, kTop, -3})})), Longs{kTop});
}

Longs cast_node(const Fed& from, int64_t to) {
  return ints_of(run_nodes({node("Cast", {"a"}, {"y"}, "c", {int_attribute("to", to)})}, {from}));
}
Doubles cast_to_floats(const Fed& from, int64_t to) {
  return numbers_of(run_nodes({node("Cast", {"a"}, {"y"}, "c", {int_attribute("to", to)})}, {from}));
}
TEST(CarriedTypes, IntegersAreCastModuloTheWidth) {
  EXPECT_EQ(cast_node(fed_ints(kInt64, DType::kI64, {3}, {65535, -32769, 1LL << 40}), kInt16), (Longs{-1, 32767, 0}));
  EXPECT_EQ(cast_node(fed_ints(kInt32, DType::kI32, {2}, {-1, 70000}), kUint16), (Longs{65535, 4464}));
  EXPECT_EQ(cast_node(line(kUint32, {4294967295}), kInt32), Longs{-1});
  EXPECT_EQ(cast_node(line(kUint64, {-1, 9}), kUint32), (Longs{4294967295, 9}));
  EXPECT_EQ(cast_node(fed(kFloat, DType::kF32, {3}, {15.9, 17, -1}), kUint4), (Longs{15, 1, 15}));
}
TEST(CarriedTypes, Uint64AndFloatsMeetBeyond2To63) {
  // 2^63 + 2^39 is a tie of floats, which the even one wins; a bit more is not.
  const Longs bits{kTop, kTop + (1LL << 39), kTop + (1LL << 39) + 1, -1, 3};
  EXPECT_EQ(cast_to_floats(line(kUint64, bits), kFloat), (Doubles{0x1p63, 0x1p63, 0x1p63 + 0x1p40, 0x1p64, 3}));
  EXPECT_EQ(cast_node(fed(kFloat, DType::kF32, {3}, {0x1p63, 0x1.8p63, 7.9}), kUint64),
            (Longs{kTop, kTop + (1LL << 62), 7}));
  const Fed exponents = line(kUint64, {2, 3});
  EXPECT_EQ(numbers_of(run_nodes({node("Pow", {"a", "b"}, {"y"})}, {fed(kFloat, DType::kF32, {2}, {3, 2}), exponents})),
            (Doubles{9, 8}));
}

/// The bytes of a type as a constant, cast to floats.
Doubles decoded(int64_t type, const std::string& bytes) {
  const Proto all = tensor("w", type, {static_cast<int64_t>(bytes.size())}).text(field::tensor::kRawData, bytes);
  return numbers_of(run_nodes({node("Cast", {"w"}, {"y"}, "c", {int_attribute("to", kFloat)})}, {}, {all}));
}
TEST(CarriedTypes, BytesOfFp8) {
  const std::string bytes{'\x01', '\x7b', '\x7c', '\x7f', '\x80', '\x3c', '\xbd'};
  const Doubles ieee = decoded(kE5M2, bytes), fnuz = decoded(kE5M2Fnuz, bytes), wide = decoded(kE4M3Fnuz, bytes);
  EXPECT_EQ(ieee[0], 0x1p-16);
  EXPECT_EQ(ieee[1], 57344);
  EXPECT_EQ(ieee[2], INFINITY);
  EXPECT_TRUE(std::isnan(ieee[3]));
  EXPECT_EQ(ieee[4], 0);
  EXPECT_EQ(ieee[5], 1);
  EXPECT_EQ(ieee[6], -1.25);
  EXPECT_EQ(fnuz[0], 0x1p-17);
  EXPECT_EQ(fnuz[3], 57344);
  EXPECT_TRUE(std::isnan(fnuz[4]));
  EXPECT_EQ(fnuz[5], 0.5);
  EXPECT_EQ(wide[0], 0x1p-10);
  EXPECT_EQ(wide[3], 240);
  EXPECT_TRUE(std::isnan(wide[4]));
  EXPECT_EQ(wide[5], 0.75);
}

Doubles rounded_to(int64_t type, const Doubles& x, int64_t saturate = 1) {
  const Fed input = fed(kFloat, DType::kF32, {static_cast<int64_t>(x.size())}, x);
  return numbers_of(run_nodes(
      {node("Cast", {"a"}, {"y"}, "c", {int_attribute("to", type), int_attribute("saturate", saturate)})}, {input}));
}
TEST(CarriedTypes, Fp8RoundsToTheNearestAndTiesToEven) {
  for (const int64_t type : {kE5M2, kE5M2Fnuz, kE4M3Fnuz}) {
    const SmallFloat what = *small_float(static_cast<ElementType>(type));
    Doubles numbers;  // those from 0 on, ascending as their bytes are
    for (int byte = 0; byte < 128; ++byte)
      if (const double number = float8_number(static_cast<uint8_t>(byte), what); std::isfinite(number))
        numbers.push_back(number);
    EXPECT_EQ(rounded_to(type, numbers), numbers);
    Doubles between, wanted;
    for (size_t i = 0; i + 1 < numbers.size(); ++i) {
      const double middle = (numbers[i] + numbers[i + 1]) / 2;
      for (const double x : {std::nextafterf(static_cast<float>(middle), 0), static_cast<float>(middle),
                             std::nextafterf(static_cast<float>(middle), INFINITY)}) {
        between.push_back(-x);
        wanted.push_back(-numbers[x < middle || (x == middle && i % 2 == 0) ? i : i + 1]);
      }
    }
    EXPECT_EQ(rounded_to(type, between), wanted) << type;
  }
}
TEST(CarriedTypes, Fp8SaturatesOrNot) {
  EXPECT_EQ(rounded_to(kE5M2, {1e6, -INFINITY, 61439}), (Doubles{57344, -57344, 57344}));
  EXPECT_EQ(rounded_to(kE5M2, {1e6, -INFINITY, 61439, 61440}, 0), (Doubles{INFINITY, -INFINITY, 57344, INFINITY}));
  const Doubles fnuz = rounded_to(kE4M3Fnuz, {247, 248, NAN, -INFINITY}, 0);
  EXPECT_EQ(fnuz[0], 240);
  for (const size_t i : {1, 2, 3}) EXPECT_TRUE(std::isnan(fnuz[i])) << i;
  EXPECT_TRUE(std::isnan(rounded_to(kE4M3Fnuz, {NAN})[0]));
}

TEST(CarriedTypes, QuantizesAndDequantizes) {
  const auto quantized = [](const Fed& zero, const Doubles& x) {
    const Fed numbers = fed(kFloat, DType::kF32, {static_cast<int64_t>(x.size())}, x);
    return ints_of(run_nodes({node("QuantizeLinear", {"a", "b", "c"}, {"y"})},
                             {numbers, fed(kFloat, DType::kF32, {}, {2}), zero}));
  };
  EXPECT_EQ(quantized(fed_ints(kInt16, DType::kI32, {}, {-3}), {5, 7, 1e6, -1e6}), (Longs{-1, 1, 32767, -32768}));
  EXPECT_EQ(quantized(fed_ints(kUint4, DType::kI32, {}, {4}), {3, -9, 40}), (Longs{6, 0, 15}));
  const Fed scales = fed(kFloat, DType::kF32, {2}, {0.5, 4});
  const Fed bytes = fed(kE5M2, DType::kF32, {2, 2}, {1, 3, -2, 0.25});
  EXPECT_EQ(numbers_of(run_nodes({node("DequantizeLinear", {"a", "b"}, {"y"}, "d", {int_attribute("axis", 0)})},
                                 {bytes, scales})),
            (Doubles{0.5, 1.5, -8, 1}));
  const Fed words = line(kUint16, {40000, 3});
  EXPECT_EQ(
      numbers_of(run_nodes({node("DequantizeLinear", {"a", "b", "c"}, {"y"})},
                           {words, fed(kFloat, DType::kF32, {}, {0.5}), fed_ints(kUint16, DType::kI32, {}, {1})})),
      (Doubles{19999.5, 1}));
}

TEST(CarriedTypes, QuantizeInTheDomainOfOnnxRuntimesTools) {
  const std::string_view domain = "com.microsoft";
  const Proto quantize = node("QuantizeLinear", {"x", "s", "z"}, {"q"}, "q", {}, domain);
  const Proto dequantize = node("DequantizeLinear", {"q", "s", "z"}, {"y"}, "d", {}, domain);
  const Imported got = import_proto(model(graph({{quantize, dequantize},
                                                 {value("x", kFloat, {3}), value("s", kFloat), value("z", kUint16)},
                                                 {value("y")},
                                                 {}}))
                                        .message(field::model::kOpsetImport, opset(domain, 1)));
  ASSERT_TRUE(got.status) << text_of(got);
  const auto y = ir::interpret(got.graph, {HostTensor::of(DType::kF32, {3}, Doubles{1.6, -1e9, 1e9}),
                                           HostTensor::scalar(DType::kF32, 0.5), HostTensor::scalar(DType::kI32, 10)});
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(numbers_of((*y)[0]), (Doubles{1.5, -5, 32762.5}));
}

TEST(CarriedTypes, StayWhereElementsMove) {
  const std::vector<Proto> nodes{node("Concat", {"a", "b"}, {"all"}, "", {int_attribute("axis", 0)}),
                                 node("Slice", {"all", "from", "to"}, {"part"}), node("Add", {"part", "part"}, {"y"})};
  EXPECT_EQ(ints_of(run_nodes(nodes, {line(kUint16, {1, 40000}), line(kUint16, {50000, 2})},
                              {i64s("from", {1}), i64s("to", {3})})),
            (Longs{80000 - 65536, 100000 - 65536}));
}
TEST(CarriedTypes, StayInBranchesThatAreTaken) {
  const Proto yes = tensor("yes", kBool, {}).text(field::tensor::kRawData, std::string_view("\1", 1));
  const Proto then = body({node("Add", {"a", "a"}, {"twice"})}, {}, {"twice"});
  const std::vector<Proto> nodes{if_node("yes", {"z"}, then, then), node("Add", {"z", "z"}, {"y"})};
  EXPECT_EQ(ints_of(run_nodes(nodes, {line(kUint16, {20000})}, {yes})), Longs{80000 - 65536});
}
TEST(CarriedTypes, TellProgramsTheirTypes) {
  const Imported got = import_proto(
      model(graph({{node("Neg", {"x"}, {"y"})}, {value("x", kInt16, {2})}, {value("y", kInt16)}, {}}), {}, 24));
  ASSERT_TRUE(got.status) << got.status.error().message;
  EXPECT_EQ(got.report.warnings, (std::vector<std::string>{"input 'x' is INT16 in the model and i32 in the network",
                                                           "output 'y' is INT16 in the model and i32 in the network"}));
}

TEST(CarriedTypes, SayWhatIsWrong) {
  const auto of = [](std::string_view op, int64_t a, int64_t b) {
    return import_node(node(op, {"x", "w"}, {"y"}, "n"), {value("x", a, {2}), value("w", b, {2})}, {}, 24);
  };
  EXPECT_EQ(of("MatMul", kUint16, kUint16),
            "node 'n' (MatMul) of x i32[2], w i32[2]: 'x' is UINT16; MatMul of such "
            "elements is not in Kiln\n");
  EXPECT_EQ(of("Add", kInt16, kInt32),
            "node 'n' (Add) of x i32[2], w i32[2]: 'x' is INT16 and 'w' is not; both need one type\n");
  EXPECT_EQ(of("Div", kInt16, kUint16), "node 'n' (Div) of x i32[2], w i32[2]: 'x' and 'w' have two types\n");
  EXPECT_EQ(of("Add", kE5M2, kE5M2),
            "node 'n' (Add) of x f32[2], w f32[2]: 'x' is FLOAT8E5M2; Add of such elements is not in Kiln\n");
  EXPECT_EQ(of("Mod", kE5M2, kE5M2),
            "node 'n' (Mod) of x f32[2], w f32[2]: 'x' is FLOAT8E5M2; Mod of such elements is not in Kiln\n");
  const Proto then = body({node("Add", {"w", "w"}, {"t"})}, {}, {"t"});
  const Imported got = import_proto(
      model(graph({{if_node("c", {"y"}, then, then)}, {value("c", kBool), value("w", kUint16, {2})}, {value("y")}, {}}),
            {}, 24));
  EXPECT_EQ(text_of(got),
            "node 'if' (If) of c bool[]: then_branch: output 't' of the body is UINT16; bodies with such outputs are "
            "not in Kiln\n");
}

}  // namespace
}  // namespace kiln::onnx
