#include "passes/split_doubles.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SplitDoubles, AnOuterProductIsElementwise) {
  EXPECT_EQ(after_pass(split_doubles,
                       "a: f32[21, 1]; b: f32[1, 3]; p = Cast{to=f64}(a); q = Cast{to=f64}(b); "
                       "m = MatrixMultiply(p, q); y = Cast{to=f32}(m); return y"),
            "a: f32[21, 1]\nb: f32[1, 3]\np = Cast{to=f64}(a)\nq = Cast{to=f64}(b)\n%6 = Transpose{perm=[1, 0]}(q)\n"
            "%7 = Unsqueeze{axes=[-2]}(p)\n%8 = Unsqueeze{axes=[-3]}(%6)\n%9 = ElementWise{kind=prod}(%7, %8)\n"
            "m = Squeeze{axes=[-1]}(%9)\ny = Cast{to=f32}(m)\nreturn y\n");
}
TEST(SplitDoubles, OthersAreSummed) {
  EXPECT_EQ(after_pass(split_doubles,
                       "a: f32[2, 5, 3]; b: f32[2, 4, 5]; p = Cast{to=f64}(a); q = Cast{to=f64}(b); "
                       "m = MatrixMultiply{a=transpose, b=transpose}(p, q); y = Cast{to=f32}(m); return y"),
            "a: f32[2, 5, 3]\nb: f32[2, 4, 5]\np = Cast{to=f64}(a)\nq = Cast{to=f64}(b)\n"
            "%6 = Transpose{perm=[0, 2, 1]}(p)\n%7 = Unsqueeze{axes=[-2]}(%6)\n%8 = Unsqueeze{axes=[-3]}(q)\n"
            "%9 = ElementWise{kind=prod}(%7, %8)\nm = Reduce{kind=sum, axes=[-1], keep=false}(%9)\n"
            "y = Cast{to=f32}(m)\nreturn y\n");
}
TEST(SplitDoubles, OfVectors) {
  EXPECT_EQ(after_pass(split_doubles,
                       "a: f32[2, 5]; b: f32[2, 5, 4]; p = Cast{to=f64}(a); q = Cast{to=f64}(b); "
                       "m = MatrixMultiply{a=vector}(p, q); y = Cast{to=f32}(m); return y"),
            "a: f32[2, 5]\nb: f32[2, 5, 4]\np = Cast{to=f64}(a)\nq = Cast{to=f64}(b)\n"
            "%6 = Transpose{perm=[0, 2, 1]}(q)\n%7 = Unsqueeze{axes=[-2]}(p)\n%8 = ElementWise{kind=prod}(%7, %6)\n"
            "m = Reduce{kind=sum, axes=[-1], keep=false}(%8)\ny = Cast{to=f32}(m)\nreturn y\n");
}
TEST(SplitDoubles, OfIntegers) {
  EXPECT_EQ(after_pass(split_doubles, "a: i64[2, 5]; b: i64[5, 4]; y = MatrixMultiply(a, b); return y"),
            "a: i64[2, 5]\nb: i64[5, 4]\n%3 = Transpose{perm=[1, 0]}(b)\n%4 = Unsqueeze{axes=[-2]}(a)\n"
            "%5 = Unsqueeze{axes=[-3]}(%3)\n%6 = ElementWise{kind=prod}(%4, %5)\n"
            "y = Reduce{kind=sum, axes=[-1], keep=false}(%6)\nreturn y\n");
  const char* const kLarge =
      "a: i32[1000, 1000]\nb: i32[1000, 1000]\ny = MatrixMultiply{a=none, b=none}(a, b)\nreturn y\n";
  EXPECT_EQ(after_pass(split_doubles, kLarge), kLarge);
}
TEST(SplitDoubles, LeavesProductsThatHaveKernels) {
  constexpr Pass kWithKernels = [](ir::Graph& graph, PassContext& cx) {
    cx.multiplies_in_kind = true;
    return split_doubles(graph, cx);
  };
  const char* const kSums = "a: i64[2, 5]\nb: i64[5, 4]\ny = MatrixMultiply{a=none, b=none}(a, b)\nreturn y\n";
  EXPECT_EQ(after_pass(kWithKernels, kSums), kSums);
  const std::string outer = after_pass(kWithKernels, "a: i64[2, 1]; b: i64[1, 4]; y = MatrixMultiply(a, b); return y");
  EXPECT_EQ(outer.find("MatrixMultiply"), outer.npos) << outer;
}
TEST(SplitDoubles, ASoftmaxIsItsFormula) {
  EXPECT_EQ(after_pass(split_doubles,
                       "a: f32[2, 5]; p = Cast{to=f64}(a); m = Softmax{axis=1}(p); y = Cast{to=f32}(m); return y"),
            "a: f32[2, 5]\np = Cast{to=f64}(a)\n%4 = Reduce{kind=max, axes=[1], keep=true}(p)\n"
            "%5 = ElementWise{kind=sub}(p, %4)\n%6 = Unary{kind=exp}(%5)\n"
            "%7 = Reduce{kind=sum, axes=[1], keep=true}(%6)\nm = ElementWise{kind=div}(%6, %7)\n"
            "y = Cast{to=f32}(m)\nreturn y\n");
}
TEST(SplitDoubles, LeavesLargeOnesAndFloats) {
  const char* const kLarge =
      "a: f32[1000, 1000]\nb: f32[1000, 1000]\np = Cast{to=f64}(a)\nq = Cast{to=f64}(b)\n"
      "m = MatrixMultiply{a=none, b=none}(p, q)\ny = Cast{to=f32}(m)\nreturn y\n";
  EXPECT_EQ(after_pass(split_doubles, kLarge), kLarge);
  const char* const kFloats = "a: f32[3, 1]\nb: f32[1, 4]\ny = MatrixMultiply{a=none, b=none}(a, b)\nreturn y\n";
  EXPECT_EQ(after_pass(split_doubles, kFloats), kFloats);
}

}  // namespace
}  // namespace kiln::passes
