#include "backend/cpu/kernels/depthwise/depthwise.h"

#include <algorithm>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

enum class Residual { kNone, kApart, kInPlace };

struct Case {
  const char* name;
  int64_t n, c;
  Window window;
  Residual residual = Residual::kNone;
  float lo = -INFINITY, hi = INFINITY;
};

Window plane(int64_t h, int64_t w, int64_t oh, int64_t ow, int64_t k, int64_t stride, int64_t pad,
             int64_t dilation = 1) {
  return {{1, h, w}, {1, oh, ow}, {1, k, k}, {1, stride, stride}, {1, dilation, dilation}, {0, pad, pad}};
}

const Case kCases[] = {
    {"3x3", 2, 40, plane(9, 21, 9, 21, 3, 1, 1), Residual::kApart, 0.0f, 1.5f},
    {"3x3 in place", 1, 24, plane(9, 21, 9, 21, 3, 1, 1), Residual::kInPlace, 0.0f},
    {"3x3 stride 2", 1, 19, plane(14, 31, 7, 16, 3, 2, 1)},
    {"3x3 stride 3", 1, 19, plane(14, 31, 5, 11, 3, 3, 1)},
    {"5x5", 1, 70, plane(13, 17, 13, 17, 5, 1, 2), Residual::kNone, 0.0f},
    {"5x5 stride 2", 1, 33, plane(13, 40, 7, 20, 5, 2, 2)},
    {"5x5, narrower than a stretch of pixels", 1, 32, plane(7, 7, 7, 7, 5, 1, 2), Residual::kInPlace, 0.0f, 1.0f},
    {"5x5 stride 2, padding after only", 1, 32, plane(14, 14, 7, 7, 5, 2, 1), Residual::kApart},
    {"3x3, one pixel beyond a stretch", 2, 16, plane(9, 9, 9, 9, 3, 1, 1)},
    {"7x7", 1, 16, plane(7, 30, 7, 30, 7, 1, 3)},
    {"7x7 stride 2", 1, 17, plane(17, 30, 9, 15, 7, 2, 3)},
    {"kernel wider than the input", 1, 9, plane(2, 3, 2, 3, 7, 1, 3)},
    {"4x4", 1, 20, plane(9, 9, 6, 6, 4, 1, 0)},
    {"dilated", 1, 20, plane(12, 13, 12, 13, 3, 1, 2, 2)},
    {"no padding", 1, 21, plane(12, 13, 10, 11, 3, 1, 0)},
    {"windows wholly in padding", 1, 5, plane(2, 2, 8, 8, 3, 1, 4)},
    {"1D", 2, 12, {{1, 1, 50}, {1, 1, 50}, {1, 1, 5}, {1, 1, 1}, {1, 1, 1}, {0, 0, 2}}},
    {"tall", 1, 12, {{1, 90, 3}, {1, 12, 3}, {1, 79, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}, Residual::kApart, 0.0f},
    {"3D", 1, 18, {{5, 6, 7}, {5, 3, 7}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"one channel", 1, 1, plane(8, 8, 8, 8, 3, 1, 1)},
    {"no pixels", 0, 4, plane(8, 8, 8, 8, 3, 1, 1)},
};

struct Problem {
  explicit Problem(const Case& c) : at(c) {
    in = random_floats(c.n * c.window.in_pixels() * c.c, 1);
    weights = random_floats(c.c * c.window.taps(), 2);
    bias = random_floats(c.c, 3);
    residual = random_floats(c.n * c.window.out_pixels() * c.c, 4);
  }
  std::vector<float> run(Team& team, const TileHook* hook = nullptr) const {
    std::vector<float> out = at.residual == Residual::kInPlace ? residual : std::vector<float>(residual.size(), NAN);
    Epilogue e;
    e.bias = bias.data();
    if (at.residual != Residual::kNone) {
      e.residual = at.residual == Residual::kInPlace ? out.data() : residual.data();
      e.ldr = at.c;
    }
    e.lo = at.lo;
    e.hi = at.hi;
    e.hook = hook;
    const auto packed = pack_depthwise(
        {at.c, at.c, at.c, {at.window.kernel[0], at.window.kernel[1], at.window.kernel[2]}}, weights.data());
    depthwise(team, {at.n, at.window}, in.data(), *packed, out.data(), e);
    return out;
  }
  void check(const std::vector<float>& result) const {
    const Window& w = at.window;
    for (int64_t row = 0; row < at.n * w.out_pixels(); ++row)
      for (int64_t c = 0; c < at.c; ++c) {
        const Pixel pixel = pixel_of(w.out, row);
        const auto index = static_cast<size_t>(row * at.c + c);
        Sum sum;
        sum.add(bias[static_cast<size_t>(c)]);
        if (at.residual != Residual::kNone) sum.add(residual[index]);
        for (int64_t t = 0; t < w.taps(); ++t) {
          const int64_t k[3] = {t / (w.kernel[1] * w.kernel[2]), t / w.kernel[2] % w.kernel[1], t % w.kernel[2]};
          int64_t from = pixel.n;
          bool inside = true;
          for (int axis = 0; axis < 3; ++axis) {
            const int64_t p = w.start(axis, pixel.at[axis]) + k[axis] * w.dilation[axis];
            inside &= p >= 0 && p < w.in[axis];
            from = from * w.in[axis] + p;
          }
          if (inside)
            sum.add(double{in[static_cast<size_t>(from * at.c + c)]} * weights[static_cast<size_t>(c * w.taps() + t)]);
        }
        ASSERT_NEAR(result[index], std::clamp(sum.value, double{at.lo}, double{at.hi}), sum.bound())
            << "pixel " << row << " channel " << c;
      }
  }

  Case at;
  std::vector<float> in, weights, bias, residual;
};

TEST(Depthwise, AgreesWithLoops) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const Problem problem(c);
      problem.check(problem.run(team));
    }
  });
}

TEST(Depthwise, TeamSizeKeepsBits) {
  const Problem problem({"", 1, 100, plane(56, 56, 56, 56, 3, 1, 1)});
  expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
}

TEST(Depthwise, HookSeesEveryElementOnce) {
  struct Number {
    static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] = static_cast<float>(100 * (row0 + r) + col0 + j);
    }
  };
  const TileHook hook{&Number::apply, nullptr};
  const Problem problem({"", 2, 50, plane(40, 40, 40, 40, 3, 1, 1)});
  Team team(2);
  const std::vector<float> result = problem.run(team, &hook);
  for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], static_cast<float>(i / 50 * 100 + i % 50));
}

}  // namespace
}  // namespace kiln::cpu
