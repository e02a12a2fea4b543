#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int64_t kUint8 = 2, kInt8 = 3, kUint4 = 21, kInt4 = 22;

Proto bytes(std::string_view name, int64_t type, std::initializer_list<int64_t> dims,
            std::initializer_list<uint8_t> values) {
  Proto raw;
  for (const uint8_t value : values) raw.append_raw(value);
  return tensor(name, type, dims).text(field::tensor::kRawData, raw.bytes);
}
Proto quantize(std::initializer_list<Proto> attributes = {}) {
  return node("QuantizeLinear", {"x", "scale", "zero"}, {"y"}, "q", attributes);
}

TEST(ImportQuantize, TheZeroPointSaysTheType) {
  const std::string text = import_node(quantize(), {value("x", kFloat, {2, 3})},
                                       {floats("scale", {}, {0.5}), bytes("zero", kUint8, {}, {7})});
  EXPECT_NE(text.find("Quantize{to=u8, axis=-1, block=[]}(x, scale, zero)  # u8[2, 3]"), std::string::npos) << text;
  const std::string symmetric = import_node(quantize(), {value("x", kFloat, {2, 3})},
                                            {floats("scale", {}, {0.5}), bytes("zero", kInt8, {}, {0})});
  EXPECT_NE(symmetric.find("Quantize{to=i8, axis=-1, block=[]}(x, scale)  # i8[2, 3]"), std::string::npos) << symmetric;
}
TEST(ImportQuantize, BlocksHaveAnAxisAndASize) {
  const std::string text =
      import_node(quantize({int_attribute("axis", -1), int_attribute("block_size", 2)}), {value("x", kFloat, {1, 4})},
                  {floats("scale", {1, 2}, {1, 2}), bytes("zero", kInt4, {1, 2}, {0x21})}, 21);
  EXPECT_NE(text.find("Quantize{to=i4, axis=-1, block=[1, 2]}(x, scale, zero)  # i4[1, 4]"), std::string::npos) << text;
}
TEST(ImportQuantize, TheLastBlockMayHaveFewer) {
  const std::string text =
      import_node(quantize({int_attribute("axis", 1), int_attribute("block_size", 2)}), {value("x", kFloat, {1, 3})},
                  {floats("scale", {1, 2}, {1, 2}), bytes("zero", kInt8, {1, 2}, {1, 2})}, 21);
  EXPECT_NE(text.find("Gather{mode=default, axis=1, num_elementwise_dims=0}(scale, "), std::string::npos) << text;
  EXPECT_NE(text.find("Gather{mode=default, axis=1, num_elementwise_dims=0}(zero, "), std::string::npos) << text;
  EXPECT_NE(text.find("Quantize{to=i8, axis=-1, block=[]}(x, "), std::string::npos) << text;
  EXPECT_NE(
      import_node(quantize({int_attribute("axis", 1), int_attribute("block_size", 2)}), {value("x", kFloat, {1, 5})},
                  {floats("scale", {1, 2}, {1, 2}), bytes("zero", kInt8, {1, 2}, {1, 2})}, 21)
          .find("blocks of 2 along an axis of 5 that has 2 scales: 4 and 5 differ"),
      std::string::npos);
}
TEST(ImportQuantize, ScalesArePositive) {
  EXPECT_EQ(
      import_node(quantize(), {value("x", kFloat, {2})}, {floats("scale", {}, {0}), bytes("zero", kInt8, {}, {0})}),
      "node 'q' (QuantizeLinear) of x f32[2], scale f32[], zero i8[]: 'scale': scale 0 of 1 is 0; scales are "
      "finite and positive\n");
}
TEST(ImportDequantize, WeightsOfUint4AreWiderIntegers) {
  const auto of = [](const Proto& node) {
    return import_node(
        node, {},
        {bytes("w", kUint4, {3}, {0xf1, 0x05}), floats("scale", {}, {0.5}), bytes("zero", kUint4, {}, {0x08})}, 21);
  };
  const std::string text = of(node("DequantizeLinear", {"w", "scale", "zero"}, {"y"}));
  EXPECT_NE(text.find("i32[3](1, 15, 5)"), std::string::npos) << text;
  EXPECT_NE(text.find("Dequantize{to=f32, axis=-1, block=[]}(w, scale, zero)  # f32[3]"), std::string::npos) << text;
  const std::string quantized = of(node("QuantizeLinear", {"scale", "scale", "zero"}, {"y"}, "q"));
  EXPECT_NE(quantized.find("Activation{kind=clip, alpha=0, beta=15}"), std::string::npos) << quantized;
}

}  // namespace
}  // namespace kiln::onnx
