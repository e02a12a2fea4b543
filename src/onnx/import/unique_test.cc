#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

TEST(ImportUnique, OfAllOrAlongAnAxis) {
  const Proto x = value("x", kFloat, {2, 3});
  EXPECT_NE(import_node(node("Unique", {"x"}, {"y"}, "u"), {x}).find("sorted=true}(x)"), std::string::npos);
  const std::string text =
      import_node(node("Unique", {"x"}, {"y"}, "u", {int_attribute("axis", -1), int_attribute("sorted", 0)}), {x});
  EXPECT_NE(text.find("Unique{axis=1, sorted=false}(x)"), std::string::npos) << text;
  EXPECT_NE(import_node(node("Unique", {"x"}, {"y"}, "u", {int_attribute("axis", 2)}), {x}).find("axis 2"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::onnx
