// Random tensors: their generator's start, and shapes of the run.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/interpret.h"
#include "onnx/test_import.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using namespace test;

std::string fill_in(const std::string& text) {
  const size_t at = text.find("Fill{");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}
/// The start of the fill in graph `text`.
std::string start_of(const std::string& text) {
  const size_t at = text.find("seed=");
  return at == std::string::npos ? text : text.substr(at, text.find('}', at) - at);
}

TEST(ImportRandom, ASeedFixesTheStart) {
  const auto seeded = [](float seed) {
    return start_of(import_node(
        node("RandomNormal", {}, {"y"}, "", {ints_attribute("shape", {2, 3}), float_attribute("seed", seed)}), {}));
  };
  EXPECT_EQ(seeded(0), "seed=0, fixed_start=true");
  EXPECT_EQ(seeded(2), "seed=1073741824, fixed_start=true");
  EXPECT_NE(seeded(2.5F), seeded(2)) << "a seed is a float";
}
TEST(ImportRandom, WithoutASeedNodesAndContextsDiffer) {
  const std::string text =
      text_of(import_proto(model(graph({{node("RandomUniform", {}, {"a"}, "", {ints_attribute("shape", {2})}),
                                         node("RandomUniform", {}, {"b"}, "", {ints_attribute("shape", {2})})},
                                        {},
                                        {value("a"), value("b")},
                                        {}}))));
  const std::string first = start_of(text), second = start_of(text.substr(text.find("b = ")));
  EXPECT_NE(first.find("fixed_start=false"), std::string::npos) << text;
  EXPECT_NE(second.find("fixed_start=false"), std::string::npos) << text;
  EXPECT_NE(first, second);
}
TEST(ImportRandom, TakesItsParameters) {
  EXPECT_EQ(
      fill_in(import_node(node("RandomUniform", {}, {"y"}, "",
                               {ints_attribute("shape", {3}), float_attribute("low", -1), float_attribute("high", 4),
                                float_attribute("seed", 0), int_attribute("dtype", 10)}),
                          {})),
      "Fill{operation=random_uniform, dims=[3], alpha=-1, beta=4, to=f16, seed=0, fixed_start=true}()  # f16[3]");
}
TEST(ImportRandom, LikeAnInputOfTheRun) {
  const std::string got = fill_in(import_node(node("RandomNormalLike", {"x"}, {"y"}, "", {float_attribute("scale", 2)}),
                                              {value("x", kFloat, {-1, 3})}));
  EXPECT_NE(got.find("random_normal, dims=[], alpha=0, beta=2"), std::string::npos) << got;
  EXPECT_NE(got.find(", 3]"), std::string::npos) << got;
}
TEST(ImportRandom, BernoulliComparesWithADraw) {
  const std::string got =
      import_node(node("Bernoulli", {"x"}, {"y"}, "", {int_attribute("dtype", kInt64)}), {value("x", kFloat, {4})});
  EXPECT_NE(got.find("Fill{operation=random_uniform, dims=[4]"), std::string::npos) << got;
  EXPECT_NE(got.find("ElementWise{kind=less}"), std::string::npos) << got;
  EXPECT_NE(got.find("# i64[4]"), std::string::npos) << got;
}
TEST(ImportRandom, MultinomialDrawsByTheWeights) {
  const Imported got = import_proto(model(
      graph({{node("Multinomial", {"x"}, {"y"}, "",
                   {int_attribute("sample_size", 1000), int_attribute("dtype", kInt64), float_attribute("seed", 3)})},
             {value("x", kFloat, {2, 3})},
             {value("y", kInt64, {2, 1000})},
             {}})));
  ASSERT_TRUE(got.status) << text_of(got);
  // The second row has weights of 1, 2 and 1.
  const std::vector<double> logarithms{-50, 50, -50, 0, 0.6931472, 0};
  const auto y = ir::interpret(got.graph, std::vector{HostTensor::of(DType::kF32, {2, 3}, logarithms)});
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ((*y)[0].extents(), (Extents{2, 1000}));
  const std::vector<int64_t> drawn = View((*y)[0]).integers();
  EXPECT_EQ(std::ranges::count(std::span(drawn).first(1000), 1), 1000);
  for (const auto& [label, expected] : {std::pair{0, 250}, {1, 500}, {2, 250}})
    EXPECT_NEAR(static_cast<double>(std::ranges::count(std::span(drawn).last(1000), label)), expected, 60) << label;
}
TEST(ImportRandom, RefusesIntegers) {
  const std::string got = import_node(
      node("RandomUniform", {}, {"y"}, "r", {ints_attribute("shape", {2}), int_attribute("dtype", kInt64)}), {});
  EXPECT_NE(got.find("dtype is i64; a floating type is needed"), std::string::npos) << got;
}

}  // namespace
}  // namespace kiln::onnx
