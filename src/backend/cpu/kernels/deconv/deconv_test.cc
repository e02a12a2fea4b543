#include "backend/cpu/kernels/deconv/deconv.h"

#include <algorithm>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

struct Case {
  const char* name;
  int64_t n;
  DeconvWeights weights;
  int64_t in[3], out[3], pad[3] = {0, 0, 0};
  bool residual = false;
  float lo = -INFINITY, hi = INFINITY;
};

const Case kCases[] = {
    {"kernel equals stride", 2, {19, 10, 1, {1, 2, 2}, {1, 2, 2}}, {1, 5, 7}, {1, 10, 14}},
    {"4x4 stride 2", 1, {33, 20, 1, {1, 4, 4}, {1, 2, 2}}, {1, 6, 5}, {1, 12, 10}, {0, 1, 1}, true, 0.0f, 2.0f},
    {"3x3 stride 1", 1, {8, 37, 1, {1, 3, 3}}, {1, 6, 5}, {1, 6, 5}, {0, 1, 1}},
    {"stride larger than the kernel", 1, {8, 6, 1, {1, 2, 1}, {1, 3, 4}}, {1, 4, 3}, {1, 12, 11}, {}, true},
    {"stride 3, 5x5, cut off", 1, {7, 6, 1, {1, 5, 5}, {1, 3, 3}}, {1, 4, 4}, {1, 10, 12}, {0, 2, 1}},
    {"dilated", 1, {7, 6, 1, {1, 3, 3}, {1, 2, 2}, {1, 2, 3}}, {1, 4, 5}, {1, 11, 15}},
    {"grouped", 2, {12, 8, 4, {1, 3, 3}, {1, 2, 2}}, {1, 4, 5}, {1, 8, 10}, {0, 1, 1}, true},
    {"groups without input channels", 1, {0, 6, 3, {1, 3, 3}, {1, 2, 2}}, {1, 4, 5}, {1, 8, 10}, {0, 1, 1}, true},
    {"wide", 1, {4, 4, 1, {1, 1, 3}, {1, 1, 2}}, {1, 1, 150}, {1, 1, 301}},
    {"3D", 1, {5, 6, 1, {2, 3, 3}, {2, 2, 1}}, {3, 4, 5}, {6, 8, 5}, {0, 1, 1}},
    {"no pixels", 0, {5, 6, 1, {1, 2, 2}, {1, 2, 2}}, {1, 4, 5}, {1, 8, 10}},
};

struct Problem {
  explicit Problem(const Case& c) : at(c) {
    const DeconvWeights& w = c.weights;
    volume = w.kernel[0] * w.kernel[1] * w.kernel[2];
    in = random_floats(c.n * c.in[0] * c.in[1] * c.in[2] * w.ic, 1);
    weights = random_floats(w.ic * (w.oc / w.groups) * volume, 2);
    bias = random_floats(w.oc, 3);
    residual = random_floats(c.n * c.out[0] * c.out[1] * c.out[2] * w.oc, 4);
  }
  std::vector<float> run(Team& team, const TileHook* hook = nullptr) const {
    std::vector<float> out(residual.size(), NAN);
    DeconvShape shape{at.n};
    std::copy_n(at.in, 3, shape.in);
    std::copy_n(at.out, 3, shape.out);
    std::copy_n(at.pad, 3, shape.pad);
    Epilogue e;
    e.bias = bias.data();
    if (at.residual) e.residual = residual.data(), e.ldr = at.weights.oc;
    e.lo = at.lo;
    e.hi = at.hi;
    e.hook = hook;
    const auto packed = pack_deconv(at.weights, weights.data());
    TestWorkspace workspace(deconv_workspace_bytes(at.weights, team.size()));
    deconv(team, shape, in.data(), *packed, out.data(), e, workspace.data());
    return out;
  }
  /// The result by scattering, as the definition has it, and not by gathering, as the kernel does.
  std::vector<Sum> expected() const {
    const DeconvWeights& w = at.weights;
    std::vector<Sum> sums(residual.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].add(bias[i % static_cast<size_t>(w.oc)]);
      if (at.residual) sums[i].add(residual[i]);
    }
    const int64_t ic = w.ic / w.groups, oc = w.oc / w.groups;
    const int64_t pixels = at.in[0] * at.in[1] * at.in[2];
    for (int64_t row = 0; row < at.n * pixels; ++row)
      for (int64_t t = 0; t < volume; ++t) {
        const Pixel from = pixel_of(at.in, row);
        const int64_t k[3] = {t / (w.kernel[1] * w.kernel[2]), t / w.kernel[2] % w.kernel[1], t % w.kernel[2]};
        int64_t to = from.n;
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
          const int64_t o = from.at[axis] * w.stride[axis] - at.pad[axis] + k[axis] * w.dilation[axis];
          inside &= o >= 0 && o < at.out[axis];
          to = to * at.out[axis] + o;
        }
        if (!inside) continue;
        for (int64_t i = 0; i < w.ic; ++i)
          for (int64_t o = 0; o < oc; ++o)
            sums[static_cast<size_t>(to * w.oc + i / ic * oc + o)].add(
                double{in[static_cast<size_t>(row * w.ic + i)]} *
                weights[static_cast<size_t>((i * oc + o) * volume + t)]);
      }
    return sums;
  }

  Case at;
  int64_t volume;
  std::vector<float> in, weights, bias, residual;
};

TEST(Deconv, AgreesWithScattering) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const Problem problem(c);
      const std::vector<float> result = problem.run(team);
      const std::vector<Sum> sums = problem.expected();
      for (size_t i = 0; i < sums.size(); ++i)
        ASSERT_NEAR(result[i], std::clamp(sums[i].value, double{c.lo}, double{c.hi}), sums[i].bound()) << i;
    }
  });
}

TEST(Deconv, PacksAnyNumberOfGroupsWithoutInputChannels) {  // ten minutes, if each took a turn
  constexpr int64_t kGroups = (int64_t{1} << 31) - 1;
  const auto packed = pack_deconv({0, 3 * kGroups, kGroups, {16, 16, 16}, {16, 16, 16}}, nullptr);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->phases.size(), 16u * 16 * 16);
  EXPECT_EQ(packed->phases[0].b.batch, kGroups);
}
TEST(Deconv, TeamSizeKeepsBits) {
  const Problem problem({"", 1, {32, 32, 1, {1, 4, 4}, {1, 2, 2}}, {1, 20, 20}, {1, 40, 40}, {0, 1, 1}});
  expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
}

TEST(Deconv, HookSeesEveryElementOnce) {
  struct Number {
    static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] = static_cast<float>(100 * (row0 + r) + col0 + j);
    }
  };
  const TileHook hook{&Number::apply, nullptr};
  const Problem problem({"", 2, {6, 10, 2, {1, 3, 3}, {1, 2, 2}}, {1, 5, 5}, {1, 10, 10}, {0, 1, 1}});
  Team team(2);
  const std::vector<float> result = problem.run(team, &hook);
  for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], static_cast<float>(i / 10 * 100 + i % 10));
}

}  // namespace
}  // namespace kiln::cpu
