#include <gtest/gtest.h>

#include <cmath>

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
          .find("blocks of 2 along axis 1 of x, whose extent is 5 and which has 2 scales: 4 and 5 differ"),
      std::string::npos);
}
/// A scale a block lies along all axes of x.
TEST(ImportQuantize, ScalesOfBlocksHaveTheRankOfX) {
  const auto of = [](const Proto& scale) {
    return import_node(
        node("QuantizeLinear", {"x", "scale"}, {"y"}, "q", {int_attribute("axis", 1), int_attribute("block_size", 2)}),
        {value("x", kFloat, {1, 4})}, {scale}, 21);
  };
  const std::string one = of(floats("scale", {}, {1})), vector = of(floats("scale", {2}, {1, 1}));
  EXPECT_NE(one.find("block_size is 2 and x f32[1, 4], so that the scale has 2 axes; it is f32[]"), std::string::npos)
      << one;
  EXPECT_NE(vector.find("so that the scale has 2 axes; it is f32[2]"), std::string::npos) << vector;
}
/// Also where all are zero, which are left out.
TEST(ImportQuantize, ZeroPointsOfIntegersAreOneOrAsManyAsTheAxisHas) {
  const auto of = [](const char* op, std::initializer_list<uint8_t> of_x, std::initializer_list<uint8_t> of_w) {
    const bool is_product = std::string_view(op) == "MatMulInteger";
    const Proto x = is_product ? value("x", kUint8, {2, 3}) : value("x", kUint8, {1, 3, 4, 4});
    const Proto w = is_product ? value("w", kUint8, {3, 4}) : value("w", kUint8, {4, 3, 1, 1});
    return import_node(node(op, {"x", "w", "xz", "wz"}, {"y"}, "n"), {x, w},
                       {bytes("xz", kUint8, {static_cast<int64_t>(of_x.size())}, of_x),
                        bytes("wz", kUint8, {static_cast<int64_t>(of_w.size())}, of_w)},
                       21);
  };
  EXPECT_EQ(of("MatMulInteger", {1, 2}, {1, 2, 3, 4}).find("zero point"), std::string::npos);
  EXPECT_EQ(of("ConvInteger", {5}, {1, 2, 3, 4}).find("zero point"), std::string::npos);
  for (const uint8_t z : {uint8_t{0}, uint8_t{1}}) {
    const std::string rows = of("MatMulInteger", {z, z, z}, {z});
    EXPECT_NE(
        rows.find("the zero point of u8[2, 3] is u8[3]; one number, or one for each of the 2 of axis 0, is needed"),
        std::string::npos)
        << rows;
    const std::string columns = of("MatMulInteger", {z}, {z, z, z});
    EXPECT_NE(columns.find("the zero point of u8[3, 4] is u8[3]; one number, or one for each of the 4 of axis 1"),
              std::string::npos)
        << columns;
    const std::string image = of("ConvInteger", {z, z}, {z});
    EXPECT_NE(image.find("the zero point of u8[1, 3, 4, 4] is u8[2]; one number is needed"), std::string::npos)
        << image;
    const std::string weights = of("ConvInteger", {z}, {z, z, z});
    EXPECT_NE(weights.find("the zero point of u8[4, 3, 1, 1] is u8[3]; one number, or one for each of the 4 of axis 0"),
              std::string::npos)
        << weights;
  }
}
TEST(ImportQuantize, ScalesArePositive) {
  EXPECT_EQ(
      import_node(quantize(), {value("x", kFloat, {2})}, {floats("scale", {}, {0}), bytes("zero", kInt8, {}, {0})}),
      "node 'q' (QuantizeLinear) of x f32[2], scale f32[], zero i8[]: 'scale': scale 0 of 1 is 0; scales are "
      "finite and positive\n");
}
TEST(ImportQuantize, ScalesThatAreNone) {
  for (const float scale : {0.f, -0.f, -0.5f, INFINITY, -INFINITY, NAN}) {
    const std::string quantized = import_node(quantize(), {value("x", kFloat, {2, 2})},
                                              {floats("scale", {}, {scale}), bytes("zero", kInt8, {}, {0})});
    EXPECT_TRUE(quantized.ends_with(str("'scale': scale 0 of 1 is ", scale, "; scales are finite and positive\n")))
        << quantized;
    const std::string dequantized =
        import_node(node("DequantizeLinear", {"q", "scale"}, {"y"}, "d", {int_attribute("axis", 1)}), {},
                    {bytes("q", kInt8, {1, 2}, {1, 2}), floats("scale", {2}, {1, scale})}, 21);
    EXPECT_TRUE(dequantized.ends_with(str("'scale': scale 1 of 2 is ", scale, "; scales are finite and positive\n")))
        << dequantized;
  }
}
/// One for each scale or one for all, also where they are zeros, which are left out.
TEST(ImportQuantize, ZeroPointsAreAsManyAsScales) {
  const auto of = [](std::initializer_list<uint8_t> zeros, bool has_axis = true) {
    const Proto zero = bytes("zero", kInt8, {static_cast<int64_t>(zeros.size())}, zeros);
    return import_node(quantize({int_attribute("axis", 1)}), {value("x", kFloat, {2, 4})},
                       {has_axis ? floats("scale", {4}, {1, 1, 1, 1}) : floats("scale", {}, {1}), zero});
  };
  EXPECT_NE(of({0, 0, 0, 0}).find("Quantize{to=i8"), std::string::npos) << of({0, 0, 0, 0});
  EXPECT_NE(of({0}).find("Quantize{to=i8"), std::string::npos) << of({0});
  EXPECT_NE(of({0, 0, 0}).find("zero point i8[3] and scale f32[4] differ in shape"), std::string::npos)
      << of({0, 0, 0});
  EXPECT_NE(of({0, 0, 0, 0}, false).find("zero point i8[4] and scale f32[] differ in shape"), std::string::npos);
  const Proto multiply =
      node("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az", "bz"}, {"y"}, "m", {}, "com.microsoft");
  Proto whole = model(graph({{multiply},
                             {value("a", kUint8, {2, 1})},
                             {value("y")},
                             {bytes("b", kUint8, {1, 2}, {1, 2}), floats("as", {}, {1}), floats("bs", {2}, {1, 1}),
                              bytes("az", kUint8, {}, {0}), bytes("bz", kUint8, {3}, {0, 0, 0})}}));
  const std::string product =
      text_of(import_proto(whole.message(field::model::kOpsetImport, opset("com.microsoft", 1))));
  EXPECT_NE(product.find("zero point u8[3] and scale f32[2] differ in shape"), std::string::npos) << product;
}
TEST(ImportQuantize, ZeroPointsThatDoNotFitTheirType) {
  const auto of = [](int64_t type, std::initializer_list<int64_t> numbers) {
    return import_node(quantize(), {value("x", kFloat, {2})},
                       {floats("scale", {}, {1}), tensor("zero", type, {}).packed(field::tensor::kInt32Data, numbers)},
                       21);
  };
  EXPECT_NE(of(kInt8, {256}).find("the number 256 does not fit INT8"), std::string::npos) << of(kInt8, {256});
  EXPECT_NE(of(kUint8, {-129}).find("the number -129 does not fit UINT8"), std::string::npos) << of(kUint8, {-129});
  EXPECT_NE(of(kInt4, {0x119}).find("the number 281 does not fit INT4"), std::string::npos) << of(kInt4, {0x119});
  EXPECT_NE(of(kInt8, {-128}).find("Quantize{to=i8"), std::string::npos) << of(kInt8, {-128});
}
TEST(ImportQuantize, TypesThatAreNone) {
  const std::string by_zero =
      import_node(quantize(), {value("x", kFloat, {2})}, {floats("scale", {}, {1}), floats("zero", {}, {1})});
  EXPECT_NE(by_zero.find("the zero point's type is f32; QuantizeLinear makes i8, u8, i4, f8e4m3 or f4e2m1"),
            std::string::npos)
      << by_zero;
  const auto by_attribute = [](int64_t type) {
    return import_node(node("QuantizeLinear", {"x", "scale"}, {"y"}, "q", {int_attribute("output_dtype", type)}),
                       {value("x", kFloat, {2})}, {floats("scale", {}, {1})}, 21);
  };
  EXPECT_NE(by_attribute(99).find("attribute 'output_dtype': type 99 is none of ONNX's"), std::string::npos)
      << by_attribute(99);
  EXPECT_NE(by_attribute(7).find("output_dtype is i64; QuantizeLinear makes i8, u8"), std::string::npos)
      << by_attribute(7);
}
/// Seven numbers of four bits take four bytes.
TEST(ImportDequantize, Int4OfOddLength) {
  const auto of = [](std::initializer_list<uint8_t> packed) {
    return import_node(node("DequantizeLinear", {"w", "scale"}, {"y"}), {},
                       {bytes("w", kInt4, {1, 7}, packed), floats("scale", {}, {1})}, 21);
  };
  EXPECT_NE(of({1, 2, 3, 4}).find("# f32[1, 7]"), std::string::npos) << of({1, 2, 3, 4});
  EXPECT_NE(of({1, 2, 3}).find("raw_data holds 3 bytes; dims [1, 7] of INT4 need 4"), std::string::npos);
  EXPECT_NE(of({1, 2, 3, 4, 5}).find("raw_data holds 5 bytes; dims [1, 7] of INT4 need 4"), std::string::npos);
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
