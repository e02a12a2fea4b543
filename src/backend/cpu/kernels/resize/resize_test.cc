#include "backend/cpu/kernels/resize/resize.h"

#include <cmath>

#include "backend/cpu/kernels/copy/copy.h"
#include "backend/cpu/kernels/movement_testing.h"
#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

using enum CoordinateTransformation;
struct ResizeCase {
  ops::Resize op;
  Extents in;
  std::vector<float> roi, scales;
};
const ResizeCase kCases[] = {
    {{.scales = {1, 1, 2, 2}}, {2, 19, 7, 9}},
    {{.dims = {2, 3, 4, 5}, .coordinate = kHalfPixel, .rounding = ResizeRounding::kHalfDown}, {2, 3, 9, 11}},
    {{.dims = {4, 6}, .rounding = ResizeRounding::kCeil}, {2, 3}},
    {{.mode = ResizeMode::kLinear, .scales = {1, 1, 2, 2}, .coordinate = kHalfPixel}, {2, 19, 7, 9}},
    {{.mode = ResizeMode::kLinear, .dims = {1, 5, 33, 20}, .coordinate = kAlignCorners}, {1, 5, 12, 31}},
    {{.mode = ResizeMode::kLinear, .dims = {1, 3, 40}, .coordinate = kHalfPixel}, {1, 3, 17}},
    {{.mode = ResizeMode::kLinear, .dims = {1, 3, 5, 9, 6}, .coordinate = kHalfPixel}, {1, 3, 4, 5, 3}},
    {{.mode = ResizeMode::kLinear, .scales = {1, 1, 3, 1}, .coordinate = kAsymmetric}, {1, 3, 4, 40}},
    {{.mode = ResizeMode::kLinear, .scales = {1, 1, 1, 1}}, {2, 3, 4, 5}},
    {{.mode = ResizeMode::kCubic, .scales = {1, 1, 2.5, 1.5}, .coordinate = kHalfPixel}, {2, 5, 6, 14}},
    {{.mode = ResizeMode::kCubic, .dims = {1, 20, 5, 7}, .coordinate = kAlignCorners, .exclude_outside = true},
     {1, 20, 6, 4}},
    {{.mode = ResizeMode::kCubic, .dims = {1, 2, 5, 6, 7}, .coordinate = kHalfPixel}, {1, 2, 4, 4, 4}},
    {{.mode = ResizeMode::kCubic, .dims = {3, 2, 5, 4, 7}, .coordinate = kHalfPixel}, {2, 3, 4, 3, 4}},
    {{.mode = ResizeMode::kLinear, .dims = {3, 1, 3, 4, 3, 1, 3, 4}, .coordinate = kHalfPixel},
     {2, 3, 2, 3, 2, 2, 2, 3}},
    {{.dims = {2, 0}}, {2, 3}},
    {{.mode = ResizeMode::kLinear, .scales = {1, 1, 0.8, 0.7}, .coordinate = kAlignCorners}, {1, 3, 9, 40}},
    // Antialiased: a few taps along rows and columns, many, more than are summed at once, of another axis made larger.
    {{.mode = ResizeMode::kLinear, .dims = {2, 3, 5, 19}, .coordinate = kHalfPixel, .antialias = true}, {2, 3, 12, 40}},
    {{.mode = ResizeMode::kCubic,
      .scales = {1, 1, 0.1, 0.3},
      .coordinate = kHalfPixel,
      .exclude_outside = true,
      .antialias = true},
     {1, 3, 60, 50}},
    {{.mode = ResizeMode::kLinear, .dims = {1, 2, 2, 3}, .coordinate = kHalfPixel, .antialias = true},
     {1, 2, 300, 430}},
    {{.mode = ResizeMode::kCubic, .dims = {1, 20, 5, 7}, .coordinate = kHalfPixel, .antialias = true}, {1, 20, 14, 4}},
    {{.mode = ResizeMode::kCubic, .dims = {2, 5, 5, 5, 5, 5, 7}, .coordinate = kHalfPixel}, {2, 3, 3, 3, 3, 3, 4}},
    // Crops: within x, backwards, beyond it along either axis, of axes that are named, of all of them.
    {{.mode = ResizeMode::kLinear, .dims = {1, 3, 7, 33}, .coordinate = kTfCropAndResize, .axes_given = {2, 3}},
     {1, 3, 9, 21},
     {0.1F, 0.25F, 0.9F, 0.75F}},
    {{.mode = ResizeMode::kLinear,
      .dims = {1, 3, 7, 33},
      .coordinate = kTfCropAndResize,
      .axes_given = {3, 2},
      .extrapolation = -3},
     {1, 3, 9, 21},
     {1.2F, -0.3F, -0.1F, 0.7F}},
    {{.mode = ResizeMode::kCubic, .dims = {1, 2, 6, 9}, .coordinate = kTfCropAndResize, .extrapolation = 5},
     {1, 3, 9, 8},
     {0, 0, 0.5F, 0.2F, 1, 1, 1, 0.8F}},
    {{.dims = {2, 5, 9}, .coordinate = kTfCropAndResize, .rounding = ResizeRounding::kHalfUp, .extrapolation = 5},
     {2, 4, 7},
     {0, -0.4F, 0.2F, 1, 1.3F, 1.6F}},
    // Scales of the run.
    {{.mode = ResizeMode::kLinear, .dims = {1, 3, 7, 25}, .coordinate = kHalfPixelSymmetric, .axes_given = {2, 3}},
     {1, 3, 9, 21},
     {},
     {0.8F, 1.2F}},
    {{.mode = ResizeMode::kCubic, .dims = {1, 3, 7, 25}, .coordinate = kAlignCorners},
     {1, 3, 9, 21},
     {},
     {1, 1, 0.8F, 1.2F}},
};

/// The result of the op's reference.
HostTensor reference(const ResizeCase& c, const HostTensor& x) {
  const auto vector = [](const std::vector<float>& values) {
    const std::vector<double> numbers(values.begin(), values.end());
    return HostTensor::of(DType::kF32, {static_cast<int64_t>(values.size())}, numbers);
  };
  const HostTensor roi = vector(c.roi), scales = vector(c.scales);
  const HostTensor* const inputs[] = {&x, nullptr, c.roi.empty() ? nullptr : &roi,
                                      c.scales.empty() ? nullptr : &scales};
  const auto outputs = run_reference(c.op, inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? (*outputs)[0] : HostTensor();
}

/// The kernel's result in linear order, the tensor held in `format`.
std::vector<float> run(Team& team, const ResizeCase& c, const HostTensor& x, const Extents& out, const Format& format) {
  std::vector<float> from(static_cast<size_t>(x.volume())), to(static_cast<size_t>(volume(out)), NAN), linear = to;
  run_copy(team, plan_reformat(4, c.in, Format::linear(), format), x.bytes().data(), from.data());
  auto plan = plan_resize(c.op, {false, !c.roi.empty(), !c.scales.empty()}, DType::kF32, c.in, out, format);
  EXPECT_TRUE(plan) << plan.error().message;
  const Status updated = update_resize(*plan, c.op, {false, c.roi, c.scales}, c.in, out);
  EXPECT_TRUE(updated) << updated.error().message;
  const TestWorkspace workspace(plan->workspace_bytes(team.size()) + 1);
  run_resize(team, *plan, from.data(), to.data(), workspace.data());
  run_copy(team, plan_reformat(4, out, format, Format::linear()), to.data(), linear.data());
  return linear;
}

TEST(CpuResize, AsTheReference) {
  for_each_target([] {
    for (const ResizeCase& c : kCases)
      for (const bool last : {false, true}) {
        SCOPED_TRACE(str(Op(c.op), " of ", c.in, last ? ", channels last" : ""));
        const HostTensor x = random_tensor(DType::kF32, c.in, 4);
        const HostTensor want = reference(c, x);
        const Format format = last ? Format::channels_last(static_cast<int>(c.in.size())) : Format::linear();
        Team team(2);
        const std::vector<float> y = run(team, c, x, want.extents(), format);
        // Up to 256 products of values below 1000 whose weights sum to at most 1.5^4 in magnitude, before a row's.
        const double bound = c.op.mode == ResizeMode::kNearest ? 0 : sum_error(256, 5063);
        for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want.data<float>()[i], bound) << i;
      }
  });
}
TEST(CpuResize, NearestMovesAnyType) {
  Team team(2);
  for (const int bytes : {1, 2, 4, 8}) {
    const Extents in = {2, 3, 5};
    const ops::Resize op{.dims = {2, 7, 11}};
    const HostTensor x = random_tensor(type_of_bytes(bytes), in, 4);
    const HostTensor want = expected(op, {x});
    const auto plan = plan_resize(op, {}, type_of_bytes(bytes), in, want.extents(), Format::linear());
    std::vector<std::byte> y = target_of(want);
    run_resize(team, *plan, x.bytes().data(), y.data(), nullptr);
    expect_bytes(y, want);
  }
}
TEST(CpuResize, SameBitsForAnyTeam) {
  const ResizeCase& c = kCases[3];
  const HostTensor x = random_tensor(DType::kF32, c.in, 4);
  expect_same_bits_for_team_sizes([&](Team& team) { return run(team, c, x, {2, 19, 14, 18}, Format::linear()); });
}
TEST(CpuResize, SaysWhatItLacks) {
  const auto plan = plan_resize(ops::Resize{.mode = ResizeMode::kLinear, .dims = {4}}, {}, DType::kF16, Extents{2},
                                Extents{4}, Format::linear());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "resize linear of f16 has no CPU kernel; f32 has");
}

}  // namespace
}  // namespace kiln::cpu
