#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

TEST(ImportTopK, EveryVersion) {
  const Proto x = value("x", kFloat, {2, 5});
  const auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(import_node(node("TopK", {"x"}, {"y"}, "t", {int_attribute("k", 2), int_attribute("axis", 0)}), {x}, {}, 9),
      "TopK{largest=true, axis=0, k=2, indices=i64}(x)");
  has(import_node(node("TopK", {"x", "k"}, {"y"}, "t"), {x}, {i64s("k", {3})}, 10),
      "TopK{largest=true, axis=1, k=3, indices=i64}(x)");
  has(import_node(node("TopK", {"x", "k"}, {"y"}, "t", {int_attribute("largest", 0), int_attribute("sorted", 0)}), {x},
                  {i64s("k", {0})}, 11),
      "TopK{largest=false, axis=1, k=0, indices=i64}(x)");
  has(import_node(node("TopK", {"x", "k"}, {"y"}, "t"), {x, value("k", kInt64, {1})}, {}, 24),
      "TopK{largest=true, axis=1, k=1, indices=i64}(x, k)");
}

TEST(ImportTopK, SaysWhatIsWrong) {
  const Proto x = value("x", kFloat, {2, 5});
  EXPECT_EQ(import_node(node("TopK", {"x", "k"}, {"y"}, "t"), {x}, {i64s("k", {6})}),
            "node 't' (TopK) of x f32[2, 5], k i64[1]: k 6 is above extent 5 of axis 1 of x f32[2, 5]\n");
  EXPECT_EQ(import_node(node("TopK", {"x", "k"}, {"y"}, "t"), {x}, {i64s("k", {1, 2})}),
            "node 't' (TopK) of x f32[2, 5], k i64[2]: k has 2 elements; one is needed\n");
  EXPECT_EQ(import_node(node("TopK", {"x"}, {"y"}, "t"), {x}, {}, 9),
            "node 't' (TopK) of x f32[2, 5]: attribute 'k' is missing; INT is needed\n");
}

}  // namespace
}  // namespace kiln::onnx
