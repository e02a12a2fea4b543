// Operators that other ops express, beyond what ONNX's node tests ask of them: AffineGrid, CenterCropPad, Col2Im, Det,
// MaxUnpool, TensorScatter.
#include <gtest/gtest.h>

#include "ir/interpret.h"
#include "onnx/test_import.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Numbers = std::vector<double>;

Proto floats_input(std::string_view name, const Extents& e) {
  switch (e.size()) {
    case 1: return value(name, kFloat, {e[0]});
    case 2: return value(name, kFloat, {e[0], e[1]});
    case 3: return value(name, kFloat, {e[0], e[1], e[2]});
    default: return value(name, kFloat, {e[0], e[1], e[2], e[3]});
  }
}
/// What a node makes of floats.
Numbers run(const Proto& node, std::initializer_list<std::pair<Extents, Numbers>> inputs,
            std::vector<Proto> initializers = {}) {
  std::vector<Proto> values;
  std::vector<HostTensor> tensors;
  const std::string_view names[] = {"a", "b", "c"};
  for (const auto& [extents, numbers] : inputs) {
    values.push_back(floats_input(names[values.size()], extents));
    tensors.push_back(HostTensor::of(DType::kF32, extents, numbers));
  }
  const Imported imported = import_proto(model(graph({{node}, values, {value("y")}, std::move(initializers)}), {}, 24));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return {};
  const auto y = ir::interpret(imported.graph, tensors);
  EXPECT_TRUE(y) << y.error().message;
  return y ? View((*y)[0]).numbers() : Numbers();
}
void has(const std::string& text, std::string_view part) { EXPECT_NE(text.find(part), std::string::npos) << text; }

TEST(ImportDet, ExchangesRows) {
  const auto det = [](int64_t rows, const Numbers& numbers) {
    return run(node("Det", {"a"}, {"y"}, "d"), {{{rows, rows}, numbers}});
  };
  EXPECT_EQ(det(1, {-3}), Numbers{-3});
  EXPECT_EQ(det(2, {0, 2, 4, 1}), Numbers{-8});
  EXPECT_EQ(det(3, {0, 0, 2, 0, 4, 1, 8, 5, 3}), Numbers{-64});
  EXPECT_EQ(det(3, {1, 2, 3, 2, 4, 6, 5, 1, 1}), Numbers{0});
  EXPECT_EQ(det(4, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}), Numbers{-1});
  EXPECT_EQ(run(node("Det", {"a"}, {"y"}, "d"), {{{2, 1, 2, 2}, {1, 0, 0, 1, 2, 0, 0, 3}}}), (Numbers{1, 6}));
}
TEST(ImportDet, SaysWhatIsWrong) {
  const auto det = [](std::initializer_list<int64_t> extents) {
    return import_node(node("Det", {"x"}, {"y"}, "d"), {value("x", kFloat, extents)});
  };
  has(det({2, 3}), "square matrices of a constant extent are needed");
  has(det({4}), "square matrices of a constant extent are needed");
  has(det({33, 33}), "a determinant of 33 rows; 1 to 32 are supported");
}

/// The indices of a MaxPool of x, all of whose extents the model leaves open.
Numbers indices_of_open(const Extents& extents, const Numbers& numbers, const std::vector<Proto>& attributes) {
  Proto pool = node("MaxPool", {"x"}, {"maxima", "y"}, "p");
  for (const Proto& attribute : attributes) pool.message(field::node::kAttribute, attribute);
  const Proto x = floats_input("x", Extents(extents.size(), -1));
  const Imported imported = import_proto(model(graph({{pool}, {x}, {value("y", kInt64)}, {}}), {}, 22));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return {};
  const std::vector<HostTensor> given{HostTensor::of(DType::kF32, extents, numbers)};
  const auto y = ir::interpret(imported.graph, given);
  EXPECT_TRUE(y) << y.error().message;
  return y ? View((*y)[0]).numbers() : Numbers();
}
TEST(ImportMaxPool, FindsMaximaInOpenExtents) {
  const std::vector<Proto> same{ints_attribute("kernel_shape", {3}), ints_attribute("strides", {2}),
                                text_attribute("auto_pad", "SAME_UPPER")};
  EXPECT_EQ(indices_of_open({2, 1, 5}, {1, 5, 2, 0, 9, 7, 7, 1, 8, 3}, same), (Numbers{1, 1, 4, 5, 8, 8}));
  EXPECT_EQ(indices_of_open({1, 1, 4}, {4, 3, 6, 6}, same), (Numbers{2, 2}));
  std::vector<Proto> square{ints_attribute("kernel_shape", {2, 2})};
  EXPECT_EQ(indices_of_open({1, 1, 2, 3}, {1, 2, 3, 9, 5, 6}, square), (Numbers{3, 5}));
  square.push_back(int_attribute("storage_order", 1));
  EXPECT_EQ(indices_of_open({1, 1, 2, 3}, {1, 2, 3, 9, 5, 6}, square), (Numbers{1, 5}));
}

/// MatMul of INT64.
Numbers int_product(const Extents& a, const Numbers& left, const Extents& b, const Numbers& right) {
  Proto values[2];
  for (const Extents* extents : {&a, &b}) {
    const Extents& e = *extents;
    values[extents == &b] = e.size() == 1   ? value(extents == &b ? "b" : "a", kInt64, {e[0]})
                            : e.size() == 2 ? value(extents == &b ? "b" : "a", kInt64, {e[0], e[1]})
                                            : value(extents == &b ? "b" : "a", kInt64, {e[0], e[1], e[2]});
  }
  const Imported imported = import_proto(
      model(graph({{node("MatMul", {"a", "b"}, {"y"})}, {values[0], values[1]}, {value("y", kInt64)}, {}})));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return {};
  const std::vector<HostTensor> given{HostTensor::of(DType::kI64, a, left), HostTensor::of(DType::kI64, b, right)};
  const auto y = ir::interpret(imported.graph, given);
  EXPECT_TRUE(y) << y.error().message;
  return y ? View((*y)[0]).numbers() : Numbers();
}
TEST(ImportMatMul, MultipliesIntegers) {
  const Numbers b{1, 0, 2, 0, 1, 3};  // [3, 2] or [2, 3]
  EXPECT_EQ(int_product({2, 3}, {1, 2, 3, 4, 5, 6}, {3, 2}, b), (Numbers{8, 9, 20, 18}));
  EXPECT_EQ(int_product({3}, {1, 2, 3}, {3, 2}, b), (Numbers{8, 9}));
  EXPECT_EQ(int_product({2, 3}, {1, 2, 3, 4, 5, 6}, {3}, {1, 0, -1}), (Numbers{-2, -2}));
  EXPECT_EQ(int_product({3}, {1, 2, 3}, {3}, {4, 5, 6}), Numbers{32});
  EXPECT_EQ(int_product({2, 1, 2}, {1, 2, 3, 4}, {2, 1}, {5, 6}), (Numbers{17, 39}));
  EXPECT_EQ(int_product({1, 2}, {1, 2}, {2, 2, 1}, {1, 2, 3, 4}), (Numbers{5, 11}));
  EXPECT_EQ(int_product({2}, {1, 2}, {2, 2, 1}, {1, 2, 3, 4}), (Numbers{5, 11}));
}
TEST(ImportMatMul, IntegersMustMeet) {
  has(import_node(node("MatMul", {"x", "u"}, {"y"}, "m"), {value("x", kInt64, {2, 3}), value("u", kInt64, {1, 2})}),
      "axis 1 of a i64[2, 3] and axis 0 of b i64[1, 2] are summed over together: 3 and 1 differ");
}

TEST(ImportCol2Im, AddsWhereBlocksMeet) {
  // Blocks of 2 pixels, one pixel apart: the middle ones get two.
  EXPECT_EQ(run(node("Col2Im", {"a", "image", "block"}, {"y"}, "c"), {{{1, 2, 3}, {1, 2, 3, 10, 20, 30}}},
                {i64s("image", {4}), i64s("block", {2})}),
            (Numbers{1, 12, 23, 30}));
  // Three pixels apart: pixel 2 of each three has none.
  EXPECT_EQ(run(node("Col2Im", {"a", "image", "block"}, {"y"}, "c", {ints_attribute("strides", {3})}),
                {{{1, 2, 2}, {1, 2, 10, 20}}}, {i64s("image", {5}), i64s("block", {2})}),
            (Numbers{1, 10, 0, 2, 20}));
}
TEST(ImportCol2Im, SaysWhatIsWrong) {
  const auto import = [](std::initializer_list<int64_t> x, const Proto& image) {
    return import_node(node("Col2Im", {"x", "image", "block"}, {"y"}, "c"), {value("x", kFloat, x)},
                       {image, i64s("block", {2, 2})});
  };
  has(import({1, 4, 4}, i64s("image", {3, 3})), "Gather");
  has(import({1, 4, 5}, i64s("image", {3, 3})), "x is f32[1, 4, 5]; there are 4 blocks");
  has(import({1, 5, 4}, i64s("image", {3, 3})), "x is f32[1, 5, 4]; a block has 4 elements");
  has(import({4, 4}, i64s("image", {3, 3})), "[N, C * elements of a block, blocks] is needed");
  has(import({1, 4, 4}, i64s("image", {1, 3})), "a block of 2 does not fit axis 0 of image_shape [1, 3]");
  has(import({1, 4, 4}, i64s("image", {3})), "image_shape has 1 axes, block_shape 2");
}

TEST(ImportTensorScatter, WritesRowsOfEachBatch) {
  const Numbers cache{1, 2, 3, 4, 5, 6}, update{8, 9};
  const auto scatter = [&](std::initializer_list<Proto> attributes) {
    return run(node("TensorScatter", {"a", "b", "at"}, {"y"}, "t", attributes),
               {{{2, 3, 1}, cache}, {{2, 1, 1}, update}}, {i64s("at", {2, 4})});
  };
  EXPECT_EQ(scatter({text_attribute("mode", "circular")}), (Numbers{1, 2, 8, 4, 9, 6}));
  EXPECT_EQ(run(node("TensorScatter", {"a", "b"}, {"y"}, "t", {int_attribute("axis", 1)}),
                {{{2, 3}, cache}, {{2, 1}, update}}),
            (Numbers{8, 2, 3, 9, 5, 6}));
  const auto import = [](std::initializer_list<Proto> attributes) {
    return import_node(node("TensorScatter", {"x", "u"}, {"y"}, "t", attributes),
                       {value("x", kFloat, {2, 3, 4}), value("u", kFloat, {2, 1, 4})}, {}, 24);
  };
  has(import({text_attribute("mode", "ring")}), "mode is 'ring'; linear or circular is needed");
  has(import({int_attribute("axis", 0)}), "an axis behind the batches are needed");
}

TEST(ImportCenterCropPad, OddRestsGoToTheEnd) {
  const auto crop = [](std::initializer_list<int64_t> shape) {
    return run(node("CenterCropPad", {"a", "shape"}, {"y"}, "c"), {{{3}, {1, 2, 3}}}, {i64s("shape", shape)});
  };
  EXPECT_EQ(crop({2}), (Numbers{1, 2}));
  EXPECT_EQ(crop({1}), (Numbers{2}));
  EXPECT_EQ(crop({6}), (Numbers{0, 1, 2, 3, 0, 0}));
  has(import_node(node("CenterCropPad", {"x", "shape"}, {"y"}, "c", {ints_attribute("axes", {1})}),
                  {value("x", kFloat, {2, 3})}, {i64s("shape", {2, 2})}),
      "axes name 1 axes and shape 2");
}

TEST(ImportMaxUnpool, SaysWhatIsWrong) {
  const auto import = [](std::initializer_list<Proto> attributes) {
    return import_node(node("MaxUnpool", {"x", "i"}, {"y"}, "m", attributes),
                       {value("x", kFloat, {1, 1, 2, 2}), value("i", kInt64, {1, 1, 2, 2})});
  };
  has(import({ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})}), "Scatter");
  has(import({ints_attribute("kernel_shape", {2})}), "are of other numbers of axes");
}

TEST(ImportAffineGrid, SaysWhatIsWrong) {
  const auto import = [](std::initializer_list<int64_t> theta, const Proto& size) {
    return import_node(node("AffineGrid", {"theta", "size"}, {"y"}, "a"), {value("theta", kFloat, theta)}, {size});
  };
  has(import({2, 2, 3}, i64s("size", {2, 3, 4})), "size has 3 numbers; 4 or 5 are needed");
  has(import({2, 3, 4}, i64s("size", {2, 3, 4, 5})), "theta is f32[2, 3, 4]; [N, 2, 3] is needed");
}

TEST(ImportSimplifiedLayerNormalization, GivesTheInverseOfTheRoot) {
  const Numbers y =
      run(node("SimplifiedLayerNormalization", {"a", "b"}, {"n", "y"}, "", {float_attribute("epsilon", 0)}),
          {{{2, 2}, {1, 7, 0.6, 0.8}}, {{2}, {1, 1}}});
  ASSERT_EQ(y.size(), 2U);
  EXPECT_NEAR(y[0], 0.2, 1e-6);
  EXPECT_NEAR(y[1], 1.4142135, 1e-6);
}

}  // namespace
}  // namespace kiln::onnx
