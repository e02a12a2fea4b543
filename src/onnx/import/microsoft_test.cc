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

}  // namespace
}  // namespace kiln::onnx
