#include "backend/cpu/kernels/conv/conv.h"

#include <algorithm>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

struct With {
  bool residual = false, clamp = false;
  int64_t slack = 0;  // channels between pixels that belong to others
};

struct Case {
  const char* name;
  int64_t n, ic, oc, groups;
  Window window;
  With with = {};
  ConvInput input = ConvInput::kChannelsLast;
};

Window plane(int64_t h, int64_t w, int64_t oh, int64_t ow, int64_t kh, int64_t kw, int64_t stride = 1, int64_t pad = 0,
             int64_t dilation = 1) {
  return {{1, h, w}, {1, oh, ow}, {1, kh, kw}, {1, stride, stride}, {1, dilation, dilation}, {0, pad, pad}};
}

const Case kCases[] = {
    {"1x1", 2, 19, 37, 1, plane(7, 9, 7, 9, 1, 1), {.residual = true}},
    {"1x1 stride 2", 1, 40, 33, 1, plane(9, 7, 5, 4, 1, 1, 2)},
    {"3x3", 1, 40, 24, 1, plane(13, 11, 13, 11, 3, 3, 1, 1), {.residual = true, .clamp = true}},
    {"3x3 few channels", 2, 5, 20, 1, plane(10, 13, 10, 13, 3, 3, 1, 1), {.clamp = true}},
    {"3x3 deep", 1, 300, 17, 1, plane(5, 5, 5, 5, 3, 3, 1, 1)},
    {"deeper than a pass", 1, 700, 16, 1, plane(3, 4, 3, 4, 3, 3, 1, 1), {.residual = true}},
    {"7x7 stride 2 picture", 1, 3, 64, 1, plane(31, 29, 16, 15, 7, 7, 2, 3), {}, ConvInput::kChannelsFirst},
    {"two planes", 1, 2, 8, 1, plane(12, 17, 6, 9, 3, 3, 2, 1), {}, ConvInput::kChannelsFirst},
    {"four planes", 1, 4, 8, 1, plane(12, 17, 6, 9, 3, 3, 2, 1), {}, ConvInput::kChannelsFirst},
    {"five planes", 1, 5, 8, 1, plane(9, 7, 5, 4, 3, 3, 2, 1), {}, ConvInput::kChannelsFirst},
    {"stride beyond the kernel", 2, 3, 5, 1, plane(20, 33, 4, 7, 3, 3, 5, 1)},
    {"stride beyond the kernel, many channels", 2, 40, 5, 1, plane(20, 33, 4, 7, 3, 3, 5, 1)},
    {"1x1, padded", 1, 20, 8, 1, plane(5, 6, 7, 8, 1, 1, 1, 1)},
    {"3D, batch", 3, 2, 5, 1, {{3, 4, 5}, {3, 4, 5}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"picture, channels last", 2, 3, 8, 1, plane(12, 17, 6, 9, 3, 3, 2, 1)},
    {"5x1", 1, 33, 9, 1, {{1, 12, 6}, {1, 12, 6}, {1, 5, 1}, {1, 1, 1}, {1, 1, 1}, {0, 2, 0}}},
    {"asymmetric padding", 1, 8, 8, 1, plane(6, 6, 8, 7, 3, 3, 1, 2)},
    {"windows wholly in padding", 1, 6, 4, 1, plane(2, 2, 8, 8, 3, 3, 1, 4)},
    {"dilated", 1, 6, 18, 1, plane(14, 15, 10, 11, 3, 3, 1, 0, 2)},
    {"dilated, padded, many channels", 1, 36, 18, 1, plane(9, 8, 9, 8, 3, 3, 1, 3, 3)},
    {"grouped", 2, 24, 36, 4, plane(8, 7, 8, 7, 3, 3, 1, 1), {.residual = true, .clamp = true}},
    {"many groups", 1, 64, 64, 32, plane(9, 9, 5, 5, 3, 3, 2, 1)},
    {"1D", 3, 20, 12, 1, {{1, 1, 50}, {1, 1, 25}, {1, 1, 5}, {1, 1, 2}, {1, 1, 1}, {0, 0, 2}}},
    {"3D", 1, 7, 9, 1, {{5, 6, 7}, {3, 6, 7}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"3D, channels first",
     2,
     2,
     9,
     1,
     {{4, 6, 7}, {4, 4, 5}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0}},
     {},
     ConvInput::kChannelsFirst},
    {"slices of wider tensors", 1, 12, 10, 1, plane(6, 5, 6, 5, 3, 3, 1, 1), {.residual = true, .slack = 7}},
    {"one channel", 1, 1, 1, 1, plane(5, 5, 3, 3, 3, 3)},
    {"deep, no padding", 2, 300, 40, 1, plane(9, 8, 7, 6, 3, 3), {.residual = true}},
    {"deeper than a pass, no padding", 1, 700, 16, 1, plane(5, 6, 2, 2, 3, 3, 2), {.clamp = true}},
    {"grouped, no padding", 1, 80, 40, 2, plane(8, 7, 3, 3, 3, 3, 2)},
    {"3D, no padding", 2, 5, 9, 1, {{5, 6, 7}, {2, 4, 3}, {3, 3, 3}, {2, 1, 1}, {1, 1, 2}, {0, 0, 0}}},
    {"edges of a large picture", 1, 3, 8, 1, plane(120, 110, 120, 110, 3, 3, 1, 1), {.clamp = true}},
    {"edges of a large picture, channels first",
     1,
     3,
     8,
     1,
     plane(120, 110, 120, 110, 3, 3, 1, 1),
     {.clamp = true},
     ConvInput::kChannelsFirst},
    {"more padding than picture", 1, 3, 5, 1, plane(20, 30, 24, 34, 3, 3, 8, 90), {}, ConvInput::kChannelsFirst},
    {"edges of small pictures", 3, 2, 5, 1, plane(9, 8, 9, 8, 5, 4, 2, 1), {}, ConvInput::kChannelsFirst},
    {"more padding behind", 2, 3, 4, 1, plane(7, 6, 8, 7, 5, 5, 1, 1), {.residual = true}},
    {"no pixels", 0, 4, 4, 1, plane(5, 5, 3, 3, 3, 3)},
};

struct Problem {
  explicit Problem(const Case& c) : at(c) {
    const int64_t pixels = c.n * c.window.in_pixels();
    in = random_floats(pixels * (c.ic + c.with.slack) - c.with.slack * (pixels > 0), 1);
    weights = random_floats(c.oc * (c.ic / c.groups) * c.window.taps(), 2);
    bias = random_floats(c.oc, 3);
    residual = random_floats(c.n * c.window.out_pixels() * c.oc, 4);
    shape = {c.n, c.window, c.with.slack ? c.ic + c.with.slack : 0, c.with.slack ? c.oc + c.with.slack : 0, c.input};
    what = {c.ic, c.oc, c.groups, {c.window.kernel[0], c.window.kernel[1], c.window.kernel[2]}};
    epilogue.bias = bias.data();
    if (c.with.residual) epilogue.residual = residual.data(), epilogue.ldr = c.oc;
    if (c.with.clamp) epilogue.lo = -0.5f, epilogue.hi = 2;
  }

  std::vector<float> run(Team& team) const {
    const int64_t pixels = at.n * at.window.out_pixels(), ld = at.oc + at.with.slack;
    std::vector<float> padded(static_cast<size_t>(pixels * ld), -77.0f), result;
    const auto packed = pack_conv(what, weights.data());
    TestWorkspace workspace(conv_workspace_bytes(shape, what, team.size()));
    conv(team, shape, in.data(), *packed, padded.data(), epilogue, workspace.data());
    for (int64_t i = 0; i < pixels * ld; ++i) {
      const float x = padded[static_cast<size_t>(i)];
      if (i % ld < at.oc)
        result.push_back(x);
      else
        EXPECT_EQ(x, -77.0f) << "wrote between pixels";
    }
    return result;
  }

  float input(int64_t n, int64_t c, const int64_t (&p)[3]) const {
    const int64_t pixel = (p[0] * at.window.in[1] + p[1]) * at.window.in[2] + p[2];
    const int64_t pixels = at.window.in_pixels();
    if (at.input == ConvInput::kChannelsFirst) return in[static_cast<size_t>((n * at.ic + c) * pixels + pixel)];
    return in[static_cast<size_t>((n * pixels + pixel) * (at.ic + at.with.slack) + c)];
  }

  Sum expected(int64_t row, int64_t o) const {
    const Window& w = at.window;
    const Pixel pixel = pixel_of(w.out, row);
    const int64_t ic = at.ic / at.groups, group = o / (at.oc / at.groups);
    Sum sum;
    sum.add(bias[static_cast<size_t>(o)]);
    if (at.with.residual) sum.add(residual[static_cast<size_t>(row * at.oc + o)]);
    for (int64_t i = 0; i < ic; ++i)
      for (int64_t t = 0; t < w.taps(); ++t) {
        const int64_t k[3] = {t / (w.kernel[1] * w.kernel[2]), t / w.kernel[2] % w.kernel[1], t % w.kernel[2]};
        int64_t p[3];
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
          p[axis] = w.start(axis, pixel.at[axis]) + k[axis] * w.dilation[axis];
          inside &= p[axis] >= 0 && p[axis] < w.in[axis];
        }
        if (inside)
          sum.add(double{input(pixel.n, group * ic + i, p)} *
                  weights[static_cast<size_t>((o * ic + i) * w.taps() + t)]);
      }
    return sum;
  }

  void check(const std::vector<float>& result) const {
    for (int64_t row = 0; row < at.n * at.window.out_pixels(); ++row)
      for (int64_t o = 0; o < at.oc; ++o) {
        const Sum sum = expected(row, o);
        ASSERT_NEAR(result[static_cast<size_t>(row * at.oc + o)],
                    std::clamp(sum.value, double{epilogue.lo}, double{epilogue.hi}), sum.bound())
            << "pixel " << row << " channel " << o;
      }
  }

  Case at;
  std::vector<float> in, weights, bias, residual;
  ConvShape shape;
  ConvWeights what;
  Epilogue epilogue;
};

TEST(Conv, AgreesWithLoops) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const Problem problem(c);
      problem.check(problem.run(team));
    }
  });
}

TEST(Conv, TeamSizeKeepsBits) {
  const Case cases[] = {{"3x3", 1, 64, 64, 1, plane(40, 40, 40, 40, 3, 3, 1, 1)},
                        {"picture", 1, 3, 32, 1, plane(64, 64, 32, 32, 5, 5, 2, 2), {}, ConvInput::kChannelsFirst},
                        {"grouped", 1, 64, 64, 8, plane(20, 20, 20, 20, 3, 3, 1, 1)}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Problem problem(c);
    expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
  }
}

/// A context's memory is measured at the largest shapes of a profile, and has to do for all of them.
TEST(Conv, LargerInputsWantNoLessWorkspace) {
  for (const int64_t channels : {1, 3, 16})
    for (const ConvInput input : {ConvInput::kChannelsLast, ConvInput::kChannelsFirst}) {
      int64_t before = 0;
      for (int64_t edge = 4; edge < 600; edge += edge < 250 ? 1 : 50) {
        const ConvShape shape = {1, plane(edge, edge, edge, edge, 3, 3, 1, 1), 0, 0, input};
        const int64_t bytes = conv_workspace_bytes(shape, {channels, 8, 1, {1, 3, 3}}, 2);
        ASSERT_GE(bytes, before) << channels << " channels, " << edge;
        before = bytes;
      }
    }
}

TEST(Conv, GroupsMustDivideChannels) {
  EXPECT_EQ(pack_conv({6, 4, 4}, nullptr).error().message, "groups 4 must divide 6 input and 4 output channels");
}

TEST(Conv, HookSeesEveryElementOnce) {
  struct Count {
    static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] = static_cast<float>(100 * (row0 + r) + col0 + j);
    }
  };
  const TileHook hook{&Count::apply, nullptr};
  for (int64_t groups : {1, 4}) {
    Problem problem({"hooked", 1, 64, 64, groups, plane(20, 20, 20, 20, 3, 3, 1, 1)});
    problem.epilogue.hook = &hook;
    Team team(2);
    const std::vector<float> result = problem.run(team);
    for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], static_cast<float>(i / 64 * 100 + i % 64));
  }
}

}  // namespace
}  // namespace kiln::cpu
