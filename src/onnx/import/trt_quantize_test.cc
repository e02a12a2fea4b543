// Domain trt: quantization as NVIDIA's tools write it.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int64_t kUint8 = 2, kFloat8 = 17, kInt4 = 22;

Proto bytes(std::string_view name, int64_t type, std::initializer_list<int64_t> dims, std::string_view values) {
  return tensor(name, type, dims).text(field::tensor::kRawData, values);
}
/// What nodes of domain trt that make `y` are imported to.
std::string import_trt(const std::vector<Proto>& nodes, const std::vector<Proto>& inputs,
                       const std::vector<Proto>& initializers = {}) {
  Proto whole = model(graph({nodes, inputs, {value("y")}, initializers}), {}, 21);
  return text_of(import_proto(whole.message(field::model::kOpsetImport, opset("trt", 1))));
}
Proto trt(std::string_view op, Texts inputs, Texts outputs, std::initializer_list<Proto> attributes = {}) {
  return node(op, inputs, outputs, str("n_", *outputs.begin()), attributes, "trt");
}
void has(const std::string& text, std::string_view part) { EXPECT_NE(text.find(part), std::string::npos) << text; }

TEST(ImportTrtQuantize, Float8) {
  const std::string text =
      import_trt({trt("TRT_FP8QuantizeLinear", {"x", "s"}, {"q"}), trt("TRT_FP8DequantizeLinear", {"q", "s"}, {"y"})},
                 {value("x", kFloat, {2, 4})}, {floats("s", {}, {0.5F})});
  has(text, "Quantize{to=f8e4m3, axis=-1, block=[]}(x, s)  # f8e4m3[2, 4]");
  has(text, "Dequantize{to=f32, axis=-1, block=[]}(q, s)  # f32[2, 4]");
}
/// Transformer Engine writes FP8 numbers as bytes.
TEST(ImportTrtQuantize, BytesAreFloat8) {
  const std::string text = import_trt({trt("TRT_FP8DequantizeLinear", {"w", "s"}, {"y"}, {int_attribute("axis", 0)})},
                                      {}, {bytes("w", kUint8, {2, 1}, "\x38\xb8"), floats("s", {2}, {1, 2})});
  has(text, "f8e4m3[2, 1](1, -1)");
  has(text, "Dequantize{to=f32, axis=0, block=[]}(");
  has(import_trt({trt("TRT_FP8DequantizeLinear", {"w", "s"}, {"y"})}, {value("w", kUint8, {2})},
                 {floats("s", {}, {1})}),
      "input 0 'w' is u8[2]; f8e4m3 is needed, or bytes of it that are constants");
}
TEST(ImportTrtQuantize, Int4InBlocks) {
  const std::string text = import_trt(
      {trt("TRT_INT4DequantizeLinear", {"q", "s"}, {"y"}, {int_attribute("axis", 0), int_attribute("block_size", 2)})},
      {}, {bytes("q", kInt4, {4, 1}, "\x21\x43"), floats("s", {2, 1}, {1, 2})});
  has(text, "Dequantize{to=f32, axis=-1, block=[2, 1]}(q, s)  # f32[4, 1]");
  has(import_trt({trt("TRT_INT4QuantizeLinear", {"x", "s"}, {"q"}, {int_attribute("axis", 1)}),
                  trt("TRT_INT4DequantizeLinear", {"q", "s"}, {"y"}, {int_attribute("axis", 1)})},
                 {value("x", kFloat16, {2, 4})}, {floats("s", {4}, {1, 2, 3, 4})}),
      "Quantize{to=i4, axis=1, block=[]}(x, s)  # i4[2, 4]");
}
TEST(ImportTrtQuantize, MicroscaledFloat8) {
  const std::string text =
      import_trt({trt("TRT_MXFP8DynamicQuantize", {"x"}, {"q", "s"}),
                  trt("TRT_MXFP8DequantizeLinear", {"q", "s"}, {"y"},
                      {int_attribute("axis", -1), int_attribute("block_size", 32), int_attribute("output_dtype", 10)})},
                 {value("x", kFloat, {2, 64})});
  has(text, "DynamicQuantize{to=f8e4m3, scale_type=e8m0, axis=1, block_size=32, block=[]}(x)");
  has(text, "Dequantize{to=f16, axis=-1, block=[1, 32]}(q, s)  # f16[2, 64]");
  // Scales of weights are bytes of exponents: 127 is 1, 128 is 2.
  const std::string weights =
      import_trt({trt("TRT_MXFP8DequantizeLinear", {"w", "s"}, {"y"})}, {},
                 {bytes("w", kFloat8, {1, 2}, "\x38\xb8"), bytes("s", kUint8, {1, 2}, "\x7f\x80")});
  has(weights, "e8m0[1, 2](1, 2)");
  has(weights, "Dequantize{to=f32, axis=-1, block=[]}(w, ");
  has(import_trt({trt("TRT_MXFP8DynamicQuantize", {"x"}, {"q", "s"}, {int_attribute("block_size", 16)}),
                  trt("TRT_MXFP8DequantizeLinear", {"q", "s"}, {"y"})},
                 {value("x", kFloat, {2, 64})}),
      "block_size is 16; MXFP8 has blocks of 32");
}
TEST(ImportTrtQuantize, Float4WithScalesThatAreQuantized) {
  const std::string text = import_trt(
      {trt("TRT_FP4DynamicQuantize", {"x", "g"}, {"q", "s"},
           {int_attribute("axis", -1), int_attribute("block_size", 16), int_attribute("scale_type", 17)}),
       trt("DequantizeLinear", {"s", "g"}, {"d"}),
       node("DequantizeLinear", {"q", "d"}, {"y"}, "", {int_attribute("axis", -1), int_attribute("block_size", 16)})},
      {value("x", kFloat, {2, 64})}, {floats("g", {}, {0.5F})});
  has(text, "DynamicQuantize{to=f4e2m1, scale_type=f8e4m3, axis=1, block_size=16, block=[]}(x, g)");
  has(text, "Dequantize{to=f32, axis=-1, block=[]}(s, g)  # f32[2, 4]");
  has(text, "Dequantize{to=f32, axis=-1, block=[1, 16]}(q, d)  # f32[2, 64]");
}
TEST(ImportTrtQuantize, BlocksOfSeveralAxes) {
  const auto block = ints_attribute("block_shape", {2, 4});
  const std::string text =
      import_trt({trt("TRT_DynamicQuantize", {"x"}, {"q", "s"}, {block, int_attribute("output_type", 17)}),
                  trt("TRT_BlockDequantize", {"q", "s"}, {"y"}, {block})},
                 {value("x", kFloat, {4, 8})});
  has(text, "DynamicQuantize{to=f8e4m3, scale_type=f32, axis=-1, block_size=0, block=[2, 4]}(x)");
  has(text, "Dequantize{to=f32, axis=-1, block=[2, 4]}(q, s)  # f32[4, 8]");
  has(import_trt({trt("TRT_BlockQuantize", {"x", "s"}, {"q"}, {block}),
                  trt("TRT_BlockDequantize", {"q", "s"}, {"y"}, {block})},
                 {value("x", kFloat, {4, 8}), value("s", kFloat, {2, 2})}),
      "Quantize{to=f8e4m3, axis=-1, block=[2, 4]}(x, s)");
}
TEST(ImportTrtQuantize, NamesWhatToolsReplaceBeforeTheyWriteAFile) {
  has(import_trt({trt("TRT_FP4QDQ", {"x"}, {"y"}, {int_attribute("block_size", 16)})}, {value("x", kFloat, {2, 64})}),
      "TRT_FP4QDQ of domain 'trt' stands for weights that ModelOpt quantizes when it writes the file");
}

}  // namespace
}  // namespace kiln::onnx
