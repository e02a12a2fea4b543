#include "backend/cpu/kernels/winograd/winograd.h"

#include <algorithm>

#include "backend/cpu/kernels/conv/family.h"
#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

struct Case {
  const char* name;
  int64_t n, ic, oc, h, w, oh, ow, pad;
  bool residual = false;
  float lo = -INFINITY, hi = INFINITY;
  int64_t kh = 3, kw = 3;

  int64_t pad_y() const { return kh > 1 ? pad : 0; }
  int64_t pad_x() const { return kw > 1 ? pad : 0; }
};

const Case kCases[] = {
    {"one tile", 1, 3, 2, 4, 4, 4, 4, 1},
    {"less than a tile", 1, 5, 20, 2, 3, 2, 3, 1},
    {"no padding", 2, 17, 9, 9, 12, 7, 10, 0, true},
    {"wide padding", 1, 8, 8, 5, 5, 9, 8, 3},
    {"odd edges", 1, 33, 35, 13, 11, 13, 11, 1, true, 0.0f, 3.0f},
    {"many tiles", 1, 16, 40, 90, 95, 90, 95, 1, false, 0.0f},
    {"batches of whole blocks", 3, 20, 18, 60, 61, 60, 61, 1, true},
    {"no pixels", 0, 4, 4, 8, 8, 8, 8, 1},
    {"five across", 2, 17, 20, 3, 21, 3, 19, 1, true, -2.0f, 3.0f, 1, 5},
    {"five down", 2, 33, 9, 23, 3, 23, 3, 2, true, -INFINITY, INFINITY, 5, 1},
    {"five down, many", 1, 40, 35, 190, 5, 186, 5, 0, false, 0.0f, INFINITY, 5, 1},
    {"three across", 1, 5, 18, 2, 30, 2, 30, 1, false, -INFINITY, INFINITY, 1, 3},
    {"three down", 1, 16, 16, 9, 2, 7, 2, 0, false, -INFINITY, INFINITY, 3, 1},
};

struct Problem {
  explicit Problem(const Case& c) : at(c) {
    in = random_floats(c.n * c.h * c.w * c.ic, 1);
    weights = random_floats(c.oc * c.ic * c.kh * c.kw, 2);
    bias = random_floats(c.oc, 3);
    residual = random_floats(c.n * c.oh * c.ow * c.oc, 4);
    shape.n = c.n;
    shape.window = {{1, c.h, c.w}, {1, c.oh, c.ow}, {1, c.kh, c.kw}, {1, 1, 1}, {1, 1, 1}, {0, c.pad_y(), c.pad_x()}};
    epilogue.bias = bias.data();
    if (c.residual) epilogue.residual = residual.data(), epilogue.ldr = c.oc;
    epilogue.lo = c.lo;
    epilogue.hi = c.hi;
  }
  std::vector<float> run(Team& team) const {
    std::vector<float> out(residual.size(), NAN);
    const auto packed = pack_winograd({at.ic, at.oc, 1, {1, at.kh, at.kw}}, weights.data());
    TestWorkspace workspace(winograd_workspace_bytes(shape, {at.ic, at.oc}, team.size()));
    winograd(team, shape, in.data(), *packed, out.data(), epilogue, workspace.data());
    return out;
  }
  double input(int64_t n, int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || y >= at.h || x < 0 || x >= at.w) return 0;
    return in[static_cast<size_t>(((n * at.h + y) * at.w + x) * at.ic + c)];
  }

  Case at;
  std::vector<float> in, weights, bias, residual;
  ConvShape shape;
  Epilogue epilogue;
};

/// Magnitudes of the transforms along one axis: `points` rows of B^T and G, and A^T transposed.
struct Line {
  int taps, points, outputs;
  double bt[8][8], g[8][5], a[8][4];
};
const Line kNone = {1, 1, 1, {{1}}, {{1}}, {{1}}};
const Line kThree = {3,
                     6,
                     4,
                     {{4, 0, 5, 0, 1, 0},
                      {0, 4, 4, 1, 1, 0},
                      {0, 4, 4, 1, 1, 0},
                      {0, 2, 1, 2, 1, 0},
                      {0, 2, 1, 2, 1, 0},
                      {0, 4, 0, 5, 0, 1}},
                     {{0.25, 0, 0},
                      {1 / 6.0, 1 / 6.0, 1 / 6.0},
                      {1 / 6.0, 1 / 6.0, 1 / 6.0},
                      {1 / 24.0, 1 / 12.0, 1 / 6.0},
                      {1 / 24.0, 1 / 12.0, 1 / 6.0},
                      {0, 0, 1}},
                     {{1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 2, 4, 8}, {1, 2, 4, 8}, {0, 0, 0, 1}}};
const Line kFive = {5,
                    8,
                    4,
                    {{1, 0, 5.25, 0, 5.25, 0, 1, 0},
                     {0, 1, 1, 4.25, 4.25, 1, 1, 0},
                     {0, 1, 1, 4.25, 4.25, 1, 1, 0},
                     {0, 0.5, 0.25, 2.5, 1.25, 2, 1, 0},
                     {0, 0.5, 0.25, 2.5, 1.25, 2, 1, 0},
                     {0, 2, 4, 2.5, 5, 0.5, 1, 0},
                     {0, 2, 4, 2.5, 5, 0.5, 1, 0},
                     {0, 1, 0, 5.25, 0, 5.25, 0, 1}},
                    {{1},
                     {2 / 9.0, 2 / 9.0, 2 / 9.0, 2 / 9.0, 2 / 9.0},
                     {2 / 9.0, 2 / 9.0, 2 / 9.0, 2 / 9.0, 2 / 9.0},
                     {1 / 90.0, 2 / 90.0, 4 / 90.0, 8 / 90.0, 16 / 90.0},
                     {1 / 90.0, 2 / 90.0, 4 / 90.0, 8 / 90.0, 16 / 90.0},
                     {32 / 45.0, 16 / 45.0, 8 / 45.0, 4 / 45.0, 2 / 45.0},
                     {32 / 45.0, 16 / 45.0, 8 / 45.0, 4 / 45.0, 2 / 45.0},
                     {0, 0, 0, 0, 1}},
                    {{1},
                     {1, 1, 1, 1},
                     {1, 1, 1, 1},
                     {1, 2, 4, 8},
                     {1, 2, 4, 8},
                     {1, 0.5, 0.25, 0.125},
                     {1, 0.5, 0.25, 0.125},
                     {0, 0, 0, 1}}};
const Line& line_of(int64_t taps) { return taps == 1 ? kNone : taps == 3 ? kThree : kFive; }

/// The algorithm's sum for one output, in magnitudes: |A^T| (sum |G| |g| |G^T| * |B^T| |d| |B|) |A|. Rounding errors
/// are relative to the intermediate values, so this, and not the result's own sum, bounds them.
double magnitude(const Problem& p, int64_t n, int64_t y, int64_t x, int64_t o) {
  const Line &down = line_of(p.at.kh), &across = line_of(p.at.kw);
  const int64_t y0 = y / down.outputs * down.outputs - p.at.pad_y();
  const int64_t x0 = x / across.outputs * across.outputs - p.at.pad_x();
  double total = 0;
  for (int64_t c = 0; c < p.at.ic; ++c) {
    const float* g = p.weights.data() + (o * p.at.ic + c) * p.at.kh * p.at.kw;
    for (int i = 0; i < down.points; ++i)
      for (int j = 0; j < across.points; ++j) {
        double gi = 0, di = 0;
        for (int a = 0; a < down.taps; ++a)
          for (int b = 0; b < across.taps; ++b) gi += down.g[i][a] * across.g[j][b] * std::fabs(g[a * across.taps + b]);
        for (int a = 0; a < down.points; ++a)
          for (int b = 0; b < across.points; ++b)
            di += down.bt[i][a] * across.bt[j][b] * std::fabs(p.input(n, y0 + a, x0 + b, c));
        total += down.a[i][y % down.outputs] * across.a[j][x % across.outputs] * gi * di;
      }
  }
  return total;
}

void check(const Problem& p, const std::vector<float>& result) {
  const Case& c = p.at;
  const int64_t pixels = c.n * c.oh * c.ow;
  for (int64_t pixel = 0; pixel<pixels; pixel += pixels> 1000 ? 7 : 1)
    for (int64_t o = 0; o<c.oc; o += pixels> 1000 ? 11 : 1) {
      const int64_t n = pixel / (c.oh * c.ow), y = pixel / c.ow % c.oh, x = pixel % c.ow;
      const auto index = static_cast<size_t>(pixel * c.oc + o);
      Sum sum;
      sum.add(p.bias[static_cast<size_t>(o)]);
      if (c.residual) sum.add(p.residual[index]);
      for (int64_t i = 0; i < c.ic; ++i)
        for (int64_t t = 0; t < c.kh * c.kw; ++t)
          sum.add(p.input(n, y - c.pad_y() + t / c.kw, x - c.pad_x() + t % c.kw, i) *
                  p.weights[static_cast<size_t>((o * c.ic + i) * c.kh * c.kw + t)]);
      // Each product passes some 10 roundings in the transforms and ic in the sum.
      const double bound = sum_error(static_cast<double>(c.ic + 10), magnitude(p, n, y, x, o) + 2);
      ASSERT_NEAR(result[index], std::clamp(sum.value, double{c.lo}, double{c.hi}), bound)
          << "pixel " << pixel << " channel " << o;
    }
}

TEST(Winograd, AgreesWithLoops) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const Problem problem(c);
      check(problem, problem.run(team));
    }
  });
}

/// The largest difference of the algorithm's results from the direct convolution's, over the largest result.
double error_beside_direct(const Case& c) {
  Team team(1);
  const Problem problem(c);
  const std::vector<float> result = problem.run(team);
  const auto packed = pack_conv({c.ic, c.oc, 1, {1, c.kh, c.kw}}, problem.weights.data());
  TestWorkspace workspace(conv_workspace_bytes(problem.shape, packed->weights, 1));
  std::vector<float> direct(result.size());
  conv(team, problem.shape, problem.in.data(), *packed, direct.data(), problem.epilogue, workspace.data());
  float largest = 0, error = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    largest = std::max(largest, std::fabs(direct[i]));
    error = std::max(error, std::fabs(direct[i] - result[i]));
  }
  return error / largest;
}

TEST(Winograd, ErrorStaysNearTheDirectConvolutions) {  // the bound above is loose; this is what users will see
  EXPECT_LT(error_beside_direct({"", 1, 64, 32, 28, 28, 28, 28, 1}), 2e-5);
  EXPECT_LT(error_beside_direct({"", 1, 256, 32, 128, 1, 124, 1, 0, false, -INFINITY, INFINITY, 5, 1}), 4e-6);
}

TEST(Winograd, TeamSizeKeepsBits) {
  for (const Case& c :
       {Case{"side by side", 1, 24, 24, 100, 100, 100, 100, 1}, Case{"in turn", 1, 64, 64, 14, 14, 14, 14, 1}}) {
    SCOPED_TRACE(c.name);
    const Problem problem(c);
    expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
  }
}

TEST(Winograd, HookSeesEveryElementOnce) {
  struct Number {
    static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] = static_cast<float>(100 * (row0 + r) + col0 + j);
    }
  };
  const TileHook hook{&Number::apply, nullptr};
  for (const Case& c :
       {Case{"in turn", 2, 6, 10, 9, 13, 9, 13, 1}, Case{"side by side", 1, 16, 16, 99, 98, 99, 98, 1}}) {
    SCOPED_TRACE(c.name);
    Problem problem(c);
    problem.epilogue.hook = &hook;
    Team team(2);
    const std::vector<float> result = problem.run(team);
    for (int64_t i = 0; i < static_cast<int64_t>(result.size()); ++i)
      ASSERT_EQ(result[static_cast<size_t>(i)], static_cast<float>(i / c.oc * 100 + i % c.oc));
  }
}

TEST(Winograd, SaysWhatItServes) {
  const auto serves = [](const Extents& kernel, int64_t groups = 1, int64_t stride = 1) {
    const Extents ones(kernel.size(), 1);
    steps::Window window{kernel, ones, ones};
    window.strides.back() = stride;
    return kConvWinograd.serves({window, {16, 16, groups}});
  };
  EXPECT_TRUE(serves({5}) && serves({3}) && serves({3, 3}) && serves({1, 5}) && serves({5, 1}) && serves({3, 1}));
  EXPECT_FALSE(serves({1}) || serves({4}) || serves({5, 5}) || serves({3, 5}) || serves({1, 1}) || serves({1, 3, 3}));
  EXPECT_FALSE(serves({3, 3}, 2) || serves({3, 3}, 1, 2));
}

}  // namespace
}  // namespace kiln::cpu
