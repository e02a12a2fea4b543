#include "backend/cpu/kernels/depthwise/behind_pointwise.h"

#include <algorithm>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

struct Case {
  const char* name;
  int64_t n, ic, c;
  Window window;  // of the depthwise convolution
  bool residual = false, hooks = false;
};

Window plane(int64_t h, int64_t w, int64_t oh, int64_t ow, int64_t kh, int64_t kw, int64_t stride, int64_t pad,
             int64_t dilation = 1) {
  return {{1, h, w}, {1, oh, ow}, {1, kh, kw}, {1, stride, stride}, {1, dilation, dilation}, {0, pad, pad}};
}

const Case kCases[] = {
    {"3x3", 2, 16, 64, plane(20, 21, 20, 21, 3, 3, 1, 1)},
    {"3x3 stride 2", 1, 16, 64, plane(40, 40, 20, 20, 3, 3, 2, 1), false, true},
    {"5x5, a residual", 1, 24, 72, plane(17, 28, 17, 28, 5, 5, 1, 2), true},
    {"7x7 stride 2, hooks and a residual", 3, 5, 40, plane(19, 18, 10, 9, 7, 7, 2, 3), true, true},
    {"rows wider than the cache", 1, 3, 33, plane(6, 700, 6, 700, 3, 3, 1, 1)},
    {"channels of less than a vector", 1, 9, 5, plane(12, 12, 12, 12, 3, 3, 1, 1), false, true},
    {"a vector behind the last panel", 1, 9, 48, plane(12, 12, 12, 12, 3, 3, 1, 1)},
    {"one channel", 1, 1, 1, plane(8, 8, 8, 8, 3, 3, 1, 1)},
    {"stride beyond the kernel", 1, 8, 20, plane(20, 20, 7, 7, 2, 2, 3, 0)},
    {"dilated", 1, 8, 20, plane(20, 20, 20, 20, 3, 3, 1, 3, 3)},
    {"dilated, rows in turns", 1, 7, 40, plane(17, 19, 15, 17, 3, 3, 1, 1, 2)},
    {"dilated, strides", 1, 7, 40, plane(29, 29, 8, 8, 7, 7, 3, 3, 2)},
    {"dilated, strides beyond", 2, 3, 20, plane(31, 30, 5, 5, 3, 3, 7, 2, 2)},
    {"dilated beyond the picture", 1, 8, 20, plane(5, 20, 5, 20, 3, 3, 1, 9, 9)},
    {"windows wholly in padding", 1, 4, 18, plane(2, 2, 8, 8, 3, 3, 1, 4)},
    {"a column", 2, 6, 17, {{1, 30, 1}, {1, 30, 1}, {1, 5, 1}, {1, 1, 1}, {1, 1, 1}, {0, 2, 0}}},
    {"no pixels", 0, 4, 4, plane(8, 8, 8, 8, 3, 3, 1, 1)},
};

/// Adds what says where in the result an element is.
struct AddPlace {
  static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] += static_cast<float>((row0 + r) % 97 + 3 * (col0 + j));
  }
};
const TileHook kAddPlace{&AddPlace::apply, nullptr};

struct Problem {
  explicit Problem(const Case& c) : at(c) {
    const Window& w = c.window;
    in = random_floats(c.n * w.in_pixels() * c.ic, 1);
    residual = random_floats(c.n * w.out_pixels() * c.c, 2);
    inner_bias = random_floats(c.c, 3);
    outer_bias = random_floats(c.c, 4);
    pointwise = *pack_conv(points, random_floats(c.c * c.ic, 5).data());
    depthwise_weights =
        *pack_depthwise({c.c, c.c, c.c, {1, w.kernel[1], w.kernel[2]}}, random_floats(c.c * w.taps(), 6).data());
    inner.bias = inner_bias.data();
    inner.lo = 0;
    outer.bias = outer_bias.data();
    outer.hi = 1.5f;
    if (c.residual) outer.residual = residual.data(), outer.ldr = c.c;
    if (c.hooks) inner.hook = outer.hook = &kAddPlace;
    shape = {.n = c.n, .window = w};
  }
  std::vector<float> at_once(Team& team) const {
    std::vector<float> out(residual.size(), NAN);
    const TestWorkspace workspace(pointwise_depthwise_workspace_bytes(shape, team.size()));
    pointwise_depthwise(team, {shape, pointwise, inner, depthwise_weights, outer}, in.data(), out.data(),
                        workspace.data());
    return out;
  }
  std::vector<float> one_behind_the_other(Team& team) const {
    ConvShape first = shape;
    first.window = {};
    std::ranges::copy(at.window.in, first.window.in);
    std::ranges::copy(at.window.in, first.window.out);
    std::vector<float> between(static_cast<size_t>(at.n * at.window.in_pixels() * at.c)), out(residual.size(), NAN);
    const TestWorkspace workspace(conv_workspace_bytes(first, points, team.size()));
    conv(team, first, in.data(), pointwise, between.data(), inner, workspace.data());
    depthwise(team, shape, between.data(), depthwise_weights, out.data(), outer);
    return out;
  }

  Case at;
  ConvWeights points{at.ic, at.c, 1, {1, 1, 1}};
  ConvShape shape;
  std::vector<float> in, residual, inner_bias, outer_bias;
  PackedConv pointwise;
  PackedDepthwise depthwise_weights;
  Epilogue inner, outer;
};

TEST(PointwiseDepthwise, IsOneBehindTheOther) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const Problem problem(c);
      EXPECT_EQ(problem.at_once(team), problem.one_behind_the_other(team));
    }
  });
}

TEST(PointwiseDepthwise, TeamSizeKeepsBits) {
  const Problem problem({"", 1, 16, 100, plane(56, 56, 56, 56, 5, 5, 1, 2)});
  expect_same_bits_for_team_sizes([&](Team& team) { return problem.at_once(team); });
}

/// A context's memory is measured at the largest shapes of a profile, and has to do for all of them.
TEST(PointwiseDepthwise, LargerInputsWantNoLessWorkspace) {
  int64_t before = 0;
  for (int64_t edge = 1; edge < 900; ++edge) {
    const int64_t bytes = pointwise_depthwise_workspace_bytes({.window = plane(edge, edge, edge, edge, 3, 3, 1, 1)}, 2);
    ASSERT_GE(bytes, before) << edge;
    before = bytes;
  }
}

TEST(PointwiseDepthwise, TakesPlanes) {
  EXPECT_TRUE(takes_rows_of(plane(9, 9, 9, 9, 3, 3, 1, 1)));
  EXPECT_FALSE(takes_rows_of(plane(99, 9, 35, 9, 65, 1, 1, 0)));
  EXPECT_FALSE(takes_rows_of(plane(int64_t{1} << 30, int64_t{1} << 30, 1, 1, 3, 3, 1 << 29, 0)));
  EXPECT_FALSE(takes_rows_of({{3, 9, 9}, {3, 9, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}));
}

}  // namespace
}  // namespace kiln::cpu
