#include <gtest/gtest.h>

#include <cmath>

#include "onnx/test_import.h"
#include "ops/dequantize.h"
#include "ops/gather.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int64_t kUint8 = 2, kInt32 = 6, kUint4 = 21;

/// Bytes that count up from `first`, or are all `first`.
Proto bytes(std::string_view name, std::initializer_list<int64_t> dims, size_t count, uint8_t first, uint8_t step = 0) {
  Proto raw;
  for (size_t i = 0; i < count; ++i) raw.append_raw(static_cast<uint8_t>(first + i * step));
  return tensor(name, kUint8, dims).text(field::tensor::kRawData, raw.bytes);
}
Proto i32s(std::string_view name, int64_t count, int64_t (*element)(int64_t)) {
  Proto raw;
  for (int64_t i = 0; i < count; ++i) raw.append_raw(static_cast<int32_t>(element(i)));
  return tensor(name, kInt32, {count}).text(field::tensor::kRawData, raw.bytes);
}

/// MatMulNBits of x [3, k] by one column in blocks of 16.
Imported import_product(int64_t k, int64_t bits, std::vector<Proto> constants, Texts inputs,
                        Proto more = int_attribute("accuracy_level", 4)) {
  const Proto of = node("MatMulNBits", inputs, {"y"}, "q",
                        {int_attribute("N", 1), int_attribute("K", k), int_attribute("block_size", 16),
                         int_attribute("bits", bits), std::move(more)},
                        "com.microsoft");
  Proto whole = model(graph({{of}, {value("x", kFloat, {3, k})}, {value("y")}, std::move(constants)}), {}, 20);
  return import_proto(whole.message(field::model::kOpsetImport, opset("com.microsoft", 1)));
}
std::string product(int64_t k, int64_t bits, std::vector<Proto> constants, Texts inputs) {
  return text_of(import_product(k, bits, std::move(constants), inputs));
}
/// The first elements of an operand of the Dequantize: 0, its numbers; 1, scales; 2, zero points. Or of what a Gather
/// reads, its indices.
template <class OpType>
std::vector<double> operand(const Imported& imported, size_t input, size_t count) {
  const ir::Graph& graph = imported.graph;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const ir::Node& node = graph.node(static_cast<ir::NodeId>(i));
    if (!node.op.as<OpType>() || input >= node.inputs.size()) continue;
    std::vector<double> numbers = View(*graph.constant(node.inputs[input])).numbers();
    numbers.resize(std::min(count, numbers.size()));
    return numbers;
  }
  return {};
}
using Numbers = std::vector<double>;
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ImportMatMulNBits, KeepsFourBits) {
  const Imported y = import_product(16, 4, {bytes("b", {1, 1, 8}, 8, 0xf0), floats("s", {1}, {0.5})}, {"x", "b", "s"});
  EXPECT_EQ(y.report.warnings, std::vector<std::string>{});  // accuracy_level is a permission
  EXPECT_EQ(operand<ops::Dequantize>(y, 0, 4), (Numbers{-8, 7, -8, 7}));
  EXPECT_EQ(operand<ops::Dequantize>(y, 2, 1), Numbers());
  EXPECT_TRUE(has(text_of(y), "# i4[1, 16]")) << text_of(y);
  EXPECT_TRUE(has(text_of(y), "MatrixMultiply{a=none, b=transpose}")) << text_of(y);
}
TEST(ImportMatMulNBits, KeepsEightBitsAndZeroPoints) {
  const std::vector<Proto> constants{bytes("b", {1, 1, 16}, 16, 126, 1), floats("s", {1}, {0.5}),
                                     bytes("z", {1}, 1, 3)};
  const Imported y = import_product(16, 8, constants, {"x", "b", "s", "z"});
  EXPECT_EQ(operand<ops::Dequantize>(y, 0, 4), (Numbers{-2, -1, 0, 1}));
  EXPECT_EQ(operand<ops::Dequantize>(y, 2, 1), Numbers{-125});
}
/// -0.5 * (q - 8) is 0.5 * ((15 - q) - 7); a block of zeros is that by any scale.
TEST(ImportMatMulNBits, ScalesBecomePositive) {
  const Imported y =
      import_product(32, 4, {bytes("b", {1, 2, 8}, 16, 0xf0), floats("s", {2}, {-0.5, 0})}, {"x", "b", "s"});
  EXPECT_EQ(operand<ops::Dequantize>(y, 0, 4), (Numbers{7, -8, 7, -8}));
  EXPECT_EQ(operand<ops::Dequantize>(y, 0, 32).back(), 0);
  EXPECT_EQ(operand<ops::Dequantize>(y, 1, 2), (Numbers{0.5, 1}));
  EXPECT_EQ(operand<ops::Dequantize>(y, 2, 2), (Numbers{-1, 0}));
}
TEST(ImportMatMulNBits, GroupsAreGathered) {
  const std::vector<Proto> weights{bytes("b", {1, 2, 8}, 16, 0x98), floats("s", {2}, {0.5, 2}),
                                   i32s("g", 32, [](int64_t i) { return i % 2; })};
  const Imported y = import_product(32, 4, weights, {"x", "b", "s", "", "g"});
  EXPECT_EQ(operand<ops::Gather>(y, 1, 3), (Numbers{0, 2, 4}));
  EXPECT_EQ(operand<ops::Dequantize>(y, 0, 3), (Numbers{0, 0, 0}));  // even numbers, those of group 0, are 8
  EXPECT_EQ(operand<ops::Dequantize>(y, 0, 32).back(), 1);
  // Without a gather where groups are blocks, and in floats where they have not equally many.
  const auto with = [&](int64_t (*group)(int64_t)) {
    return product(32, 4, {weights[0], weights[1], i32s("g", 32, group)}, {"x", "b", "s", "", "g"});
  };
  EXPECT_FALSE(has(with([](int64_t i) { return i / 16; }), "Gather"));
  EXPECT_FALSE(has(with([](int64_t i) { return i / 31; }), "Dequantize"));
  EXPECT_TRUE(has(with([](int64_t i) { return i / 10; }), "element 20 of g_idx is 2; there are 2 blocks"));
}
TEST(ImportMatMulNBits, OtherNumbersBecomeFloats) {
  const Proto scales = floats("s", {2}, {0.5, 0.5});
  for (const std::string& text :
       {product(24, 4, {bytes("b", {1, 2, 8}, 16, 0x98), scales}, {"x", "b", "s"}),
        product(32, 2, {bytes("b", {1, 2, 4}, 8, 0x98), scales}, {"x", "b", "s"}),
        product(32, 4, {bytes("b", {1, 2, 8}, 16, 0x98), scales, floats("z", {2}, {7.5, 8})}, {"x", "b", "s", "z"})}) {
    EXPECT_FALSE(has(text, "Dequantize")) << text;
    EXPECT_TRUE(has(text, "MatrixMultiply")) << text;
  }
}
TEST(ImportMatMulNBits, SaysWhatIsWrong) {
  const Proto b = bytes("b", {1, 2, 8}, 16, 0x98), scales = floats("s", {2}, {0.5, 0.5});
  EXPECT_TRUE(has(product(32, 4, {bytes("b", {1, 15}, 15, 0), scales}, {"x", "b", "s"}),
                  "B is u8 [1, 15]; 16 bytes are needed"));
  EXPECT_TRUE(has(product(32, 4, {b, floats("s", {3}, {1, 1, 1})}, {"x", "b", "s"}), "scales are f32 [3]; 2 floats"));
  EXPECT_TRUE(has(product(32, 4, {b, floats("s", {2}, {1, NAN})}, {"x", "b", "s"}), "scale 1 of 2 is nan"));
  EXPECT_TRUE(has(product(32, 4, {b, scales, bytes("z", {2}, 2, 0)}, {"x", "b", "s", "z"}),
                  "zero_points are u8 [2]; 1 elements are needed"));
  EXPECT_TRUE(has(text_of(import_product(32, 4, {b, scales}, {"x", "b", "s"}, int_attribute("weight_prepacked", 1))),
                  "weight_prepacked is not in Kiln"));
  EXPECT_TRUE(has(product(32, 3, {b, scales}, {"x", "b", "s"}), "bits is 3; 2, 4 and 8 are possible"));
  EXPECT_TRUE(
      has(product(32, 4, {b, scales, i32s("g", 31, [](int64_t) { return int64_t{0}; })}, {"x", "b", "s", "", "g"}),
          "g_idx has 31 elements; 32 are needed"));
}

TEST(ImportDequantize, MatricesOfUint4AreKeptInFourBits) {
  const auto nibbles = [](std::string_view name, std::initializer_list<int64_t> dims,
                          std::initializer_list<uint8_t> all) {
    Proto raw;
    for (const uint8_t two : all) raw.append_raw(two);
    return tensor(name, kUint4, dims).text(field::tensor::kRawData, raw.bytes);
  };
  const auto of = [&](std::vector<Proto> zero) {
    std::vector<Proto> constants{nibbles("w", {2, 2}, {0xf1, 0x05}), floats("scale", {2, 1}, {0.5, 1})};
    constants.insert(constants.end(), zero.begin(), zero.end());
    const std::initializer_list<Proto> blocks{int_attribute("axis", 1), int_attribute("block_size", 2)};
    return zero.empty()
               ? import_node(node("DequantizeLinear", {"w", "scale"}, {"y"}, "q", blocks), {}, constants, 21)
               : import_node(node("DequantizeLinear", {"w", "scale", "zero"}, {"y"}, "q", blocks), {}, constants, 21);
  };
  const std::string text = of({nibbles("zero", {2, 1}, {0x38})});
  EXPECT_TRUE(has(text, "i4[2, 2](-7, 7, -3, -8)")) << text;
  EXPECT_TRUE(has(text, "i4[2, 1](0, -5)")) << text;
  EXPECT_TRUE(has(of({}), "i4[2, 1](-8, -8)")) << of({});
}

}  // namespace
}  // namespace kiln::onnx
