// Two extents that meet, of which only a profile or a run knows whether they are equal or one of them is 1.
#include <gtest/gtest.h>

#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/gather.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/select.h"
#include "ops/testing/symbolic.h"
#include "sym/broadcast.h"

namespace kiln {
namespace {

struct BroadcastTest : ::testing::Test {
  sym::Table table;
  // Nothing is known of p and q; n and m are not empty; u and v are at least 2; zero may be empty.
  sym::Expr p = table.symbol("p"), q = table.symbol("q"), n = table.symbol("n", {1, 2, 8}),
            m = table.symbol("m", {1, 2, 8}), u = table.symbol("u", {2, 4, 8}), v = table.symbol("v", {2, 4, 8});
  TensorType f32(Shape shape) { return {DType::kF32, std::move(shape)}; }
  std::string sum(Shape a, Shape b) {
    return inferred(ops::ElementWise{ops::ElementWiseKind::kSum}, {f32(std::move(a)), f32(std::move(b))}, table);
  }
};

TEST_F(BroadcastTest, OfWhichEitherMayBeOne) {
  EXPECT_EQ(sum({n, 4}, {m, 4}), "f32[max(n, m), 4] if n broadcasts with m");
  EXPECT_EQ(sum({p}, {q}), str("f32[", sym::broadcast(p, q), "] if p broadcasts with q"));
  EXPECT_EQ(sum({n, 4}, {n, 4}), "f32[n, 4]");
  EXPECT_EQ(sum({n, 4}, {1, 4}), "f32[n, 4]");
  EXPECT_EQ(sum({1, n}, {m, 1}), "f32[m, n]");
}
TEST_F(BroadcastTest, OfWhichOneMayBeOne) {
  EXPECT_EQ(sum({n}, {4}), "f32[4] if n is 1 or 4");
  EXPECT_EQ(sum({4}, {p}), "f32[4] if p is 1 or 4");
  EXPECT_EQ(sum({n}, {u}), "f32[u] if n is 1 or u");
  EXPECT_EQ(sum({p}, {0}), "f32[0] if p is 1 or 0");
}
TEST_F(BroadcastTest, OfWhichNoneMayBeOne) {
  EXPECT_EQ(sum({u, 4}, {v, 4}), "f32[u, 4] if u = v");
  EXPECT_EQ(sum({u}, {4}), "f32[4] if u = 4");
  EXPECT_EQ(sum({u}, {u + 1}),
            "ElementWise sum of f32[u] and f32[u + 1]: axis 0 of [u] and [u + 1]: u and u + 1 differ");
}
TEST_F(BroadcastTest, OfSeveral) {
  const std::string text = inferred(ops::Select{}, {{DType::kBool, {n, 1}}, f32({m, p}), f32({u, p})}, table);
  EXPECT_EQ(text, "f32[u, p] if n broadcasts with m and max(n, m) is 1 or u");
}
TEST_F(BroadcastTest, Expands) {
  EXPECT_EQ(inferred(ops::Expand{}, {f32({n, 3}), values_type({m, sym::Expr(3)})}, table),
            "f32[max(n, m), 3] if n broadcasts with m");
  EXPECT_EQ(inferred(ops::Expand{}, {f32({n, 1}), values_type({n, m})}, table), "f32[n, m]");
  EXPECT_EQ(inferred(ops::Expand{{4}}, {f32({n})}, table), "f32[4] if n is 1 or 4");
}
TEST_F(BroadcastTest, BatchesOfProducts) {
  EXPECT_EQ(inferred(ops::MatrixMultiply{}, {f32({n, 3, 5}), f32({m, 5, 7})}, table),
            "f32[max(n, m), 3, 7] if n broadcasts with m");
  // Axes that are summed over do not broadcast, nor do rows.
  EXPECT_EQ(inferred(ops::MatrixMultiply{}, {f32({2, 3, n}), f32({2, m, 7})}, table), "f32[2, 3, 7] if n = m");
}
TEST_F(BroadcastTest, CoefficientsOfNormalization) {  // x stays as it is
  const ops::Normalization op{.axes = {1}};
  EXPECT_EQ(inferred(op, {f32({2, n}), f32({m})}, table), "f32[2, n] if m is 1 or n");
  EXPECT_EQ(inferred(op, {f32({2, 8}), f32({m}), f32({n})}, table), "f32[2, 8] if m is 1 or 8 and n is 1 or 8");
  EXPECT_EQ(inferred(op, {f32({2, u}), f32({v})}, table), "f32[2, u] if u = v");
}
TEST_F(BroadcastTest, ElementwiseAxesOfGather) {
  const ops::Gather op{.axis = 1, .num_elementwise_dims = 1};
  EXPECT_EQ(inferred(op, {f32({n, 5}), {DType::kI32, {m, 3}}}, table), "f32[max(n, m), 3] if n broadcasts with m");
}
TEST_F(BroadcastTest, PartsOfAConcatenationDoNot) {
  EXPECT_EQ(inferred(ops::Concatenation{1}, {f32({n, 2}), f32({m, 3})}, table), "f32[n, 5] if n = m");
}

}  // namespace
}  // namespace kiln
