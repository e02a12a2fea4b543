// Operators of com.microsoft whose attributes and outputs no node case asks for; the answers are ONNX Runtime's.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/interpret.h"
#include "onnx/test_import.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Numbers = std::vector<double>;

/// What a node of com.microsoft makes of floats: its last output, which is y.
HostTensor run(Texts outputs, std::string_view op, const std::vector<std::pair<Extents, Numbers>>& inputs,
               std::initializer_list<Proto> attributes) {
  std::vector<Proto> values;
  std::vector<HostTensor> tensors;
  Proto made = Proto().text(field::node::kOpType, op).text(field::node::kDomain, "com.microsoft");
  for (const auto& [extents, numbers] : inputs) {
    const std::string name = str("x", values.size());
    values.push_back(value(name, kFloat, {extents[0], extents[1], extents[2]}));
    tensors.push_back(HostTensor::of(DType::kF32, extents, numbers));
    made.text(field::node::kInput, name);
  }
  for (const std::string_view output : outputs) made.text(field::node::kOutput, output);
  for (const Proto& attribute : attributes) made.message(field::node::kAttribute, attribute);
  Proto whole = model(graph({{made}, values, {value("y")}, {}}), {}, 20);
  const Imported imported = import_proto(whole.message(field::model::kOpsetImport, opset("com.microsoft", 1)));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return {};
  auto y = ir::interpret(imported.graph, tensors);
  EXPECT_TRUE(y) << y.error().message;
  return y ? (*y)[0] : HostTensor();
}

TEST(ImportFusedMatMul, MatricesAlongTheFirstAxis) {
  // a is [rows, batch, columns] of [[1, 2], [3, 4]] and [[5, 6], [7, 8]], b the same of units and of twos.
  const std::pair<Extents, Numbers> a{{2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8}};
  const std::pair<Extents, Numbers> b{{2, 2, 2}, {1, 0, 2, 0, 0, 1, 0, 2}};
  const Numbers plain{1, 2, 3, 4, 10, 12, 14, 16}, turned{1, 3, 2, 4, 10, 14, 12, 16};
  const auto of = [&](int64_t turn_a) {
    return View(
               run({"y"}, "FusedMatMul", {a, b},
                   {int_attribute("transBatchA", 1), int_attribute("transBatchB", 1), int_attribute("transA", turn_a)}))
        .numbers();
  };
  EXPECT_EQ(of(0), plain);
  EXPECT_EQ(of(1), turned);
  const HostTensor rows = run({"y"}, "FusedMatMul", {{{3, 4, 5}, Numbers(60, 1)}, {{4, 5, 6}, Numbers(120, 1)}},
                              {int_attribute("transBatchA", 1)});
  EXPECT_EQ(rows.extents(), (Extents{4, 3, 6}));
}

/// Outputs 1 and 2 have the mean and the inverse deviation of each row, which files name though nothing reads them.
TEST(ImportSkipLayerNormalization, GivesStatistics) {
  const std::pair<Extents, Numbers> x{{1, 2, 2}, {0, 2, 1, 7}}, none{{1, 2, 2}, {0, 0, 0, 0}}, gain{{1, 1, 2}, {1, 1}};
  const Proto epsilon = float_attribute("epsilon", 0);
  EXPECT_EQ(View(run({"o", "y"}, "SkipLayerNormalization", {x, none, gain}, {epsilon})).numbers(), (Numbers{1, 4}));
  const HostTensor inverse = run({"o", "m", "y"}, "SkipLayerNormalization", {x, none, gain}, {epsilon});
  EXPECT_EQ(inverse.extents(), (Extents{1, 2, 1}));
  EXPECT_NEAR(View(inverse)[1], 1.0 / 3, 1e-6);
}

/// Output 3 has the scores: scaled, with bias and mask, but before the softmax.
TEST(ImportMultiHeadAttention, GivesScores) {
  const std::pair<Extents, Numbers> q{{1, 1, 4}, {1, 2, 3, 4}}, k{{1, 2, 4}, {1, 0, 0, 0, 0, 0, 1, 1}};
  const HostTensor scores = run({"o", "", "", "y"}, "MultiHeadAttention", {q, k, k}, {int_attribute("num_heads", 1)});
  EXPECT_EQ(scores.extents(), (Extents{1, 1, 1, 2}));
  EXPECT_NEAR(View(scores)[0], 0.5, 1e-6);
  EXPECT_NEAR(View(scores)[1], 3.5, 1e-6);
}

/// What is said of a node of com.microsoft, without what names the node.
std::string said(std::string_view op, Texts inputs, const std::vector<Proto>& values,
                 std::initializer_list<Proto> attributes = {}, std::vector<Proto> initializers = {}) {
  const Proto made = node(op, inputs, {"y"}, "n", attributes, "com.microsoft");
  Proto whole = model(graph({{made}, values, {value("y")}, std::move(initializers)}), {}, 20);
  const std::string text = text_of(import_proto(whole.message(field::model::kOpsetImport, opset("com.microsoft", 1))));
  const size_t begin = text.find("]: ");
  return begin == std::string::npos ? text : text.substr(begin + 3, text.size() - begin - 4);
}
const Proto kBytes = value("a", 2, {20, 32});

TEST(ImportInverse, SaysWhatIsWrong) {
  EXPECT_EQ(said("Inverse", {"a"}, {value("a", kFloat, {3, 4})}),
            "x is f32[3, 4]; square matrices of a constant extent are needed");
  EXPECT_EQ(said("Inverse", {"a"}, {value("a", kFloat, {2, 33, 33})}), "an inverse of 33 rows; 1 to 32 are supported");
  EXPECT_EQ(said("Inverse", {"a"}, {value("a", kInt64, {3, 3})}), "x is i64[3, 3]; floats are needed");
}
TEST(ImportCropAndResize, SaysWhatIsWrong) {
  const std::vector<Proto> inputs{value("a", kFloat, {2, 3, 7, 9}), value("b", kFloat, {5, 4}), value("c", 6, {5})};
  EXPECT_EQ(said("CropAndResize", {"a", "b", "c", "d"}, inputs, {}, {i64s("d", {4, 0})}),
            "crop_size is [4, 0]; two positive numbers are needed");
  EXPECT_EQ(said("CropAndResize", {"a", "b", "c", "d"}, inputs, {text_attribute("mode", "cubic")}, {i64s("d", {4, 5})}),
            "mode is 'cubic'; bilinear or nearest is needed");
  EXPECT_EQ(said("CropAndResize", {"a", "b", "c", "d"}, {inputs[0], value("b", kFloat, {5, 5}), inputs[2]}, {},
                 {i64s("d", {4, 5})}),
            "a region's numbers and its edges are 5 and 4; they must be equal");
  EXPECT_EQ(said("CropAndResize", {"a", "b", "c", "d"}, {value("a", kFloat, {3, 7, 9}), inputs[1], inputs[2]}, {},
                 {i64s("d", {4, 5})}),
            "X is f32[3, 7, 9], rois are f32[5, 4] and batch_indices i32[5]; [N, C, H, W], [regions, 4] and [regions] "
            "are needed");
}
TEST(ImportMicrosoftPad, SaysWhatIsWrong) {
  const Proto x = value("a", kFloat, {2, 3});
  EXPECT_EQ(said("Pad", {"a", "p"}, {x}, {}, {i64s("p", {1, 2, 3})}),
            "pads has 3 numbers; 2 axes of x f32[2, 3] need 4");
  EXPECT_EQ(said("Pad", {"a", "p"}, {x}, {text_attribute("mode", "wrap")}, {i64s("p", {1, 2, 3, 4})}),
            "mode is 'wrap'; constant, reflect or edge is needed");
  EXPECT_EQ(said("Pad", {"a", "p"}, {x, value("p", kInt64, {2, 2})}),
            "pads is i64[2, 2]; one axis, or a single row, is needed");
}
TEST(ImportConvTransposeWithDynamicPads, SaysWhatIsWrong) {
  const std::vector<Proto> inputs{value("a", kFloat, {2, 4, 5, 6}), value("w", kFloat, {4, 3, 3, 3})};
  EXPECT_EQ(said("ConvTransposeWithDynamicPads", {"a", "w", "p"}, inputs, {}, {i64s("p", {1, 2})}),
            "Pads is [1, 2]; 4 numbers are needed");
  EXPECT_EQ(said("ConvTransposeWithDynamicPads", {"a", "w", "p"}, inputs, {}, {i64s("p", {1, 2, 3, int64_t{1} << 40})}),
            "Pads is [1, 2, 3, 1099511627776]; 1099511627776 is outside [-2147483647, 2147483647]");
}
TEST(ImportGatherBlockQuantized, SaysWhatIsWrong) {
  const std::vector<Proto> inputs{kBytes, value("i", kInt64, {3}), value("s", kFloat, {20, 2})};
  const Texts names{"a", "i", "s"};
  const Proto eight = int_attribute("bits", 8), sixteen = int_attribute("block_size", 16);
  EXPECT_EQ(said("GatherBlockQuantized", names, inputs, {eight, int_attribute("block_size", 24)}),
            "block_size is 24; a power of 2 from 16 on is needed");
  EXPECT_EQ(said("GatherBlockQuantized", names, inputs, {sixteen, int_attribute("bits", 3)}),
            "bits is 3; 2, 4 and 8 are possible");
  EXPECT_EQ(said("GatherBlockQuantized", names, inputs, {sixteen}), "axis 1 of scales has 2 elements; 4 are needed");
  EXPECT_EQ(said("GatherBlockQuantized", names, inputs, {eight, sixteen, int_attribute("gather_axis", 1)}),
            "gather_axis is 1 and quantize_axis 1; of UINT8 data, the first and the last axis are needed");
  EXPECT_EQ(said("GatherBlockQuantized", names, {value("a", kFloat, {20, 32}), inputs[1], inputs[2]}, {sixteen}),
            "data is f32[20, 32]; INT4, UINT4 and UINT8 are in Kiln");
}
/// Without a delta it is 1, of integers as of floats.
TEST(ImportMicrosoftRange, HasADeltaOfOne) {
  const std::string text = said("Range", {"a", "b"}, {}, {}, {i64s("a", {2}), i64s("b", {5})});
  EXPECT_NE(text.find("i64[3]"), std::string::npos) << text;
  EXPECT_EQ(said("Range", {"a", "b"}, {value("b", kInt64, {2})}, {}, {i64s("a", {2})}),
            "limit is i64[2]; a scalar is needed");
}

}  // namespace
}  // namespace kiln::onnx
