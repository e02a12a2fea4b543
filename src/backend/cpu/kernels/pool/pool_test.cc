#include "backend/cpu/kernels/pool/pool.h"

#include <algorithm>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

struct Case {
  const char* name;
  int64_t n, c;
  Window window;
  int64_t pad_after[3] = {0, 0, 0};
};

Window plane(int64_t h, int64_t w, int64_t oh, int64_t ow, int64_t k, int64_t stride, int64_t pad,
             int64_t dilation = 1) {
  return {{1, h, w}, {1, oh, ow}, {1, k, k}, {1, stride, stride}, {1, dilation, dilation}, {0, pad, pad}};
}

const Case kCases[] = {
    {"2x2 stride 2", 2, 70, plane(8, 38, 4, 19, 2, 2, 0)},
    {"3x3 stride 2, padded", 1, 19, plane(15, 39, 8, 20, 3, 2, 1), {0, 1, 1}},
    {"3x3 stride 1", 1, 130, plane(9, 40, 9, 40, 3, 1, 1), {0, 1, 1}},
    {"rounded up", 1, 5, plane(8, 8, 4, 4, 3, 2, 0)},
    {"rounded up, padded", 1, 5, plane(7, 7, 5, 5, 2, 2, 1), {0, 1, 1}},
    {"stride 3, dilated", 1, 16, plane(20, 21, 5, 6, 3, 3, 1, 2), {0, 1, 1}},
    {"global", 3, 300, plane(7, 7, 1, 1, 7, 1, 0)},
    {"global, long rows", 1, 3, plane(5, 101, 1, 1, 101, 1, 0)},
    {"global, more rows than a pass", 1, 20, {{1, 150, 3}, {1, 1, 1}, {1, 150, 3}}},
    {"windows that share columns, in several pieces", 1, 130, plane(5, 81, 5, 81, 5, 1, 2), {0, 2, 2}},
    {"windows that share columns, dilated", 1, 19, plane(30, 30, 30, 30, 7, 1, 6, 2), {0, 6, 6}},
    {"windows that share columns, stride 2", 1, 37, plane(19, 33, 10, 17, 9, 2, 4), {0, 4, 4}},
    {"windows that share columns, more rows than a pass", 1, 20, {{1, 150, 9}, {1, 3, 5}, {1, 148, 5}}},
    {"1D", 2, 6, {{1, 1, 33}, {1, 1, 16}, {1, 1, 3}, {1, 1, 2}}},
    {"3D", 1, 9, {{5, 6, 7}, {3, 3, 7}, {3, 2, 3}, {2, 2, 1}, {1, 1, 1}, {1, 0, 1}}, {1, 0, 1}},
    {"no pixels", 0, 4, plane(8, 8, 4, 4, 2, 2, 0)},
};

struct Problem {
  Problem(const Case& c, PoolKind kind, PoolLayout layout) {
    shape.n = c.n;
    shape.c = c.c;
    shape.window = c.window;
    std::copy_n(c.pad_after, 3, shape.pad_after);
    shape.kind = kind;
    shape.layout = layout;
    in = random_floats(c.n * c.c * c.window.in_pixels(), 5);
  }
  size_t index(int64_t n, int64_t c, int64_t pixel, int64_t pixels) const {
    return static_cast<size_t>(shape.layout == PoolLayout::kChannelsLast ? (n * pixels + pixel) * shape.c + c
                                                                         : (n * shape.c + c) * pixels + pixel);
  }
  std::vector<float> run(Team& team) const {
    std::vector<float> out(static_cast<size_t>(shape.n * shape.c * shape.window.out_pixels()), NAN);
    pool(team, shape, in.data(), out.data());
    return out;
  }
  /// Result and its error's bound.
  std::pair<double, double> expected(int64_t c, int64_t row) const {
    const Window& w = shape.window;
    const Pixel pixel = pixel_of(w.out, row);
    Sum sum;
    double largest = -INFINITY;
    int64_t padded = 0;
    for (int64_t t = 0; t < w.taps(); ++t) {
      const int64_t k[3] = {t / (w.kernel[1] * w.kernel[2]), t / w.kernel[2] % w.kernel[1], t % w.kernel[2]};
      bool inside = true, counts = true;
      int64_t from = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t p = w.start(axis, pixel.at[axis]) + k[axis] * w.dilation[axis];
        inside &= p >= 0 && p < w.in[axis];
        counts &= p < w.in[axis] + shape.pad_after[axis];
        from = from * w.in[axis] + p;
      }
      padded += counts;
      if (!inside) continue;
      const double x = in[index(pixel.n, c, from, w.in_pixels())];
      sum.add(x);
      if (x > largest || std::isnan(x)) largest = x;
    }
    if (shape.kind == PoolKind::kMax) return {largest, 0};
    const auto count = static_cast<double>(shape.kind == PoolKind::kAverageValid ? sum.terms : padded);
    return {sum.value / count, sum_error(static_cast<double>(sum.terms + 2), sum.magnitude) / count};
  }
  void check(const std::vector<float>& result) const {
    const int64_t pixels = shape.window.out_pixels();
    for (int64_t row = 0; row < shape.n * pixels; ++row)
      for (int64_t c = 0; c < shape.c; ++c) {
        const auto [value, bound] = expected(c, row);
        const float found = result[index(row / pixels, c, row % pixels, pixels)];
        if (std::isfinite(value))
          ASSERT_NEAR(found, value, bound) << "pixel " << row << " channel " << c;
        else  // NaN in it, or a window wholly in padding: -inf or NaN
          ASSERT_TRUE(found == value || (std::isnan(found) && std::isnan(value))) << found << " at pixel " << row;
      }
  }

  PoolShape shape;
  std::vector<float> in;
};

constexpr PoolKind kKinds[] = {PoolKind::kMax, PoolKind::kAverageValid, PoolKind::kAveragePadded};
constexpr PoolLayout kLayouts[] = {PoolLayout::kChannelsLast, PoolLayout::kChannelsFirst};

TEST(Pool, AgreesWithLoops) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases)
      for (PoolKind kind : kKinds)
        for (PoolLayout layout : kLayouts) {
          SCOPED_TRACE(str(c.name, ", kind ", static_cast<int>(kind), ", layout ", static_cast<int>(layout)));
          const Problem problem(c, kind, layout);
          problem.check(problem.run(team));
        }
  });
}

// One NaN in every place of a tap and of a vector, and windows of nothing else.
TEST(Pool, AMaximumKeepsNaN) {
  for_each_target([] {
    Team team(1);
    for (const Case& c : kCases)
      for (PoolLayout layout : kLayouts)
        for (size_t apart : {1, 3, 37, 499}) {
          SCOPED_TRACE(str(c.name, ", layout ", static_cast<int>(layout), ", NaN every ", apart));
          Problem problem(c, PoolKind::kMax, layout);
          for (size_t i = apart / 2; i < problem.in.size(); i += apart) problem.in[i] = NAN;
          problem.check(problem.run(team));
        }
  });
}

TEST(Pool, TeamSizeKeepsBits) {
  for (PoolLayout layout : kLayouts) {
    const Problem problem({"", 1, 96, plane(56, 56, 28, 28, 3, 2, 1), {0, 1, 1}}, PoolKind::kAverageValid, layout);
    expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
  }
}

TEST(Pool, WindowWhollyInPadding) {
  Team team(1);
  for (PoolLayout layout : kLayouts) {
    const Case far{"", 1, 1, {{1, 1, 1}, {1, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 1}}};
    EXPECT_EQ(Problem(far, PoolKind::kMax, layout).run(team)[0], -INFINITY);
    EXPECT_TRUE(std::isnan(Problem(far, PoolKind::kAverageValid, layout).run(team)[0]));
    EXPECT_EQ(Problem(far, PoolKind::kAveragePadded, layout).run(team)[0], 0);
  }
}

}  // namespace
}  // namespace kiln::cpu
