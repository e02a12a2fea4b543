#include "backend/cpu/kernels/conv/banded.h"

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

struct Case {
  const char* name;
  int64_t n, ic, oc;
  Window window;
};

const Case kCases[] = {
    {"a long filter", 2, 1, 1, {{1, 1, 1101}, {1, 1, 423}, {1, 1, 256}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}}},
    {"one channel of many", 1, 33, 1, {{1, 9, 21}, {1, 9, 21}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}},
    {"wide kernel, five channels", 1, 8, 5, {{1, 7, 50}, {1, 7, 50}, {1, 3, 39}, {1, 1, 1}, {1, 1, 1}, {0, 1, 19}}},
    {"three channels", 2, 5, 3, {{1, 8, 64}, {1, 8, 64}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}}},
    {"stride 2, padding after", 1, 2, 2, {{1, 6, 30}, {1, 3, 15}, {1, 1, 7}, {1, 2, 2}, {1, 1, 1}, {0, 0, 2}}},
    {"rows dilated", 1, 2, 2, {{1, 9, 20}, {1, 5, 18}, {1, 3, 3}, {1, 1, 1}, {1, 2, 1}, {0, 0, 0}}},
    {"wholly in padding", 1, 3, 1, {{1, 2, 2}, {1, 40, 40}, {1, 3, 5}, {1, 1, 1}, {1, 1, 1}, {0, 20, 20}}},
    {"3D", 1, 3, 4, {{5, 6, 17}, {5, 6, 17}, {3, 3, 9}, {1, 1, 1}, {1, 1, 1}, {1, 1, 4}}},
    {"no pixels", 0, 1, 1, {{1, 1, 100}, {1, 1, 37}, {1, 1, 64}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}},
};

struct Problem {
  explicit Problem(const Case& c)
      : shape{c.n, c.window}, weights{c.ic, c.oc, 1, {c.window.kernel[0], c.window.kernel[1], c.window.kernel[2]}} {
    in = random_floats(c.n * c.window.in_pixels() * c.ic, 1);
    data = random_floats(c.oc * c.ic * c.window.taps(), 2);
    bias = random_floats(c.oc, 3);
    epilogue.bias = bias.data();
    epilogue.lo = -2;
    epilogue.hi = 3;
  }
  int64_t outputs() const { return shape.n * shape.window.out_pixels() * weights.oc; }

  std::vector<float> run(Team& team) const {
    std::vector<float> out(static_cast<size_t>(outputs()), -77.0f);
    const auto packed = pack_banded(weights, shape.window.stride[2], data.data());
    TestWorkspace workspace(banded_workspace_bytes(shape, weights, team.size()));
    banded(team, shape, in.data(), *packed, out.data(), epilogue, workspace.data());
    return out;
  }
  static std::vector<float> run_conv(const Problem& p) {
    Team team(1);
    std::vector<float> out(static_cast<size_t>(p.outputs()));
    const auto packed = pack_conv(p.weights, p.data.data());
    TestWorkspace workspace(conv_workspace_bytes(p.shape, p.weights, 1));
    conv(team, p.shape, p.in.data(), *packed, out.data(), p.epilogue, workspace.data());
    return out;
  }
  /// Sums of magnitudes: what errors are measured by.
  std::vector<float> magnitudes() const {
    Problem p = *this;
    for (auto* floats : {&p.in, &p.data, &p.bias})
      for (float& x : *floats) x = std::isfinite(x) ? std::fabs(x) : 0;
    p.epilogue = {};
    p.epilogue.bias = p.bias.data();
    return run_conv(p);
  }
  /// Against conv, which has its own test against loops.
  void check(const std::vector<float>& result) const {
    const std::vector<float> wanted = run_conv(*this), sizes = magnitudes();
    const auto terms = static_cast<double>(shape.window.taps() * weights.ic + 1);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::isnan(wanted[i]))
        ASSERT_TRUE(std::isnan(result[i])) << "element " << i;
      else
        ASSERT_NEAR(result[i], wanted[i], 2 * sum_error(terms, double{sizes[i]})) << "element " << i;
    }
  }

  ConvShape shape;
  ConvWeights weights;
  std::vector<float> in, data, bias;
  Epilogue epilogue;
};

TEST(Banded, AgreesWithConv) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const Problem problem(c);
      EXPECT_GT(banded_pixels(problem.weights, c.window.stride[2]), 1);
      problem.check(problem.run(team));
    }
  });
}

TEST(Banded, InfinitiesAndNansStayInTheirWindows) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      Problem problem(c);
      for (size_t i = 10; i < problem.in.size(); i += 777) problem.in[i] = i % 2 ? INFINITY : NAN;
      problem.check(problem.run(team));
    }
  });
}

TEST(Banded, TeamSizeKeepsBits) {
  const Problem problem({"", 1, 8, 3, {{1, 90, 100}, {1, 90, 100}, {1, 3, 9}, {1, 1, 1}, {1, 1, 1}, {0, 1, 4}}});
  expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
}

TEST(Banded, HookSeesEveryElementOnce) {
  struct Number {
    static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] = static_cast<float>(100 * (row0 + r) + col0 + j);
    }
  };
  const TileHook hook{&Number::apply, nullptr};
  Problem problem({"", 2, 4, 3, {{1, 40, 45}, {1, 40, 45}, {1, 3, 9}, {1, 1, 1}, {1, 1, 1}, {0, 1, 4}}});
  problem.epilogue.hook = &hook;
  Team team(2);
  const std::vector<float> result = problem.run(team);
  for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], static_cast<float>(i / 3 * 100 + i % 3));
}

TEST(Banded, ServesWhereVectorsWouldStandEmpty) {
  for_each_target([] {
    EXPECT_GE(banded_pixels({1, 1, 1, {1, 1, 256}}, 2), 8);
    EXPECT_EQ(banded_pixels({64, 64, 1, {1, 3, 3}}, 1), 1);
    EXPECT_EQ(banded_pixels({8, 1, 1, {1, 1, 1}}, 8), 1);
    EXPECT_EQ(banded_pixels({0, 4, 1, {1, 1, 3}}, 1), 1);
    EXPECT_EQ(banded_pixels({4, 0, 1, {1, 1, 3}}, 1), 1);
  });
}

}  // namespace
}  // namespace kiln::cpu
