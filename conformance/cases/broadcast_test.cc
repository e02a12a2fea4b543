// Extents that meet at run time, equal or one of them 1: networks built once and run at many shapes, against what their
// ops' references make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backend/cuda/compile/nvrtc.h"
#include "device_run.h"
#include "fake_gpu.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "tensor/view.h"

namespace kiln {
namespace {

using Shapes = std::vector<Extents>;  // of all inputs

struct Network {
  std::string name, text;
  std::vector<Shapes> fits;     ///< the first one is the profile's optimum
  std::vector<Shapes> refused;  ///< within the profile, but broken: the message names the node
  bool falls_back = false;      ///< no tactic takes one of its nodes, which runs by its reference
};

/// "f32[2, 3](0.25, -1, ...)": a constant of numbers that look random.
std::string constant(std::string_view type, int count) {
  std::string text = str("Constant{value=", type, "(");
  for (int i = 0; i < count; ++i) text += str(i ? ", " : "", i * 37 % 19 / 8.0 - 1);
  return text + ")}()";
}

const std::string kSum = "ElementWise{kind=sum}", kProd = "ElementWise{kind=prod}";

const std::vector<Network>& networks() {
  static const std::vector<Network> kNetworks{
      {"rows",
       "a: f32[p, 4]; b: f32[q, 4]; y = " + kSum + "(a, b); return y",
       {{{3, 4}, {3, 4}}, {{3, 4}, {1, 4}}, {{1, 4}, {8, 4}}, {{1, 4}, {1, 4}}},
       {{{3, 4}, {2, 4}}}},
      {"columns",
       "a: f32[3, p]; b: f32[3, q]; y = " + kProd + "(a, b); return y",
       {{{3, 64}, {3, 64}}, {{3, 64}, {3, 1}}, {{3, 1}, {3, 128}}, {{3, 1}, {3, 1}}},
       {{{3, 64}, {3, 128}}}},
      {"a constant extent",
       "a: f32[n, 4, 5]; b: f32[4, 4, 5]; y = " + kSum + "(a, b); return y",
       {{{4, 4, 5}, {4, 4, 5}}, {{1, 4, 5}, {4, 4, 5}}},
       {{{3, 4, 5}, {4, 4, 5}}}},
      {"empty or one",
       "a: f32[p, 4]; b: f32[q, 4]; y = " + kSum + "(a, b); return y",
       {{{3, 4}, {1, 4}}, {{0, 4}, {1, 4}}, {{1, 4}, {0, 4}}, {{0, 4}, {0, 4}}, {{1, 4}, {5, 4}}},
       {{{0, 4}, {3, 4}}}},
      {"optima that disagree",
       "a: f32[p, 4]; b: f32[q, 4]; y = " + kSum + "(a, b); return y",
       {{{1, 4}, {7, 4}}, {{3, 4}, {1, 4}}, {{3, 4}, {3, 4}}},
       {}},
      {"a chain of all axes",
       "a: f32[p, 1, 8]; b: f32[1, q, 8]; c: f32[r, s, t]; m = " + kProd + "(a, b); n = " + kSum +
           "(m, c); y = Activation{kind=relu}(n); return y",
       {{{3, 1, 8}, {1, 5, 8}, {3, 5, 8}},
        {{3, 1, 8}, {1, 5, 8}, {1, 1, 1}},
        {{1, 1, 8}, {1, 1, 8}, {3, 5, 8}},
        {{1, 1, 8}, {1, 5, 8}, {4, 1, 8}},
        {{2, 1, 8}, {1, 1, 8}, {1, 6, 1}}},
       {{{2, 1, 8}, {1, 5, 8}, {3, 5, 8}}}},
      {"a choice",
       "c: bool[p, 1]; a: f32[q, 6]; b: f32[r, s]; y = Select(c, a, b); return y",
       {{{4, 1}, {4, 6}, {4, 6}}, {{4, 1}, {1, 6}, {1, 1}}, {{1, 1}, {5, 6}, {1, 6}}, {{1, 1}, {1, 6}, {3, 6}}},
       {{{4, 1}, {3, 6}, {1, 6}}}},
      {"repeated as another is",
       "x: f32[p, 3]; z: f32[q, 3]; s = Shape(z); y = Expand(x, s); return y",
       {{{5, 3}, {5, 3}}, {{1, 3}, {5, 3}}, {{4, 3}, {1, 3}}},
       {{{2, 3}, {3, 3}}}},
      {"repeated inside a chain",
       "x: f32[p, 3]; z: f32[q, 3]; w: f32[r, 3]; s = Shape(z); e = Expand(x, s); y = " + kSum + "(e, w); return y",
       {{{5, 3}, {5, 3}, {5, 3}}, {{1, 3}, {5, 3}, {1, 3}}, {{1, 3}, {1, 3}, {4, 3}}, {{4, 3}, {1, 3}, {1, 3}}},
       {}},
      {"batches of a product",
       "a: f32[p, 2, 5, 8]; b: f32[q, r, 8, 6]; y = MatrixMultiply(a, b); return y",
       {{{3, 2, 5, 8}, {3, 2, 8, 6}},
        {{3, 2, 5, 8}, {1, 1, 8, 6}},
        {{1, 2, 5, 8}, {3, 1, 8, 6}},
        {{3, 2, 5, 8}, {1, 2, 8, 6}},
        {{1, 2, 5, 8}, {1, 1, 8, 6}}},
       {{{3, 2, 5, 8}, {2, 2, 8, 6}}}},
      {"a product with transposed operands and an epilogue",
       "a: f32[p, 8, 5]; b: f32[q, 6, 8]; c: f32[r, 5, 6]; m = MatrixMultiply{a=transpose, b=transpose}(a, b); s = " +
           kSum + "(m, c); y = Activation{kind=relu}(s); return y",
       {{{3, 8, 5}, {3, 6, 8}, {3, 5, 6}},
        {{1, 8, 5}, {3, 6, 8}, {1, 5, 6}},
        {{3, 8, 5}, {1, 6, 8}, {1, 5, 6}},
        {{1, 8, 5}, {1, 6, 8}, {4, 5, 6}},
        {{1, 8, 5}, {1, 6, 8}, {1, 5, 6}}},
       {}},
      {"rows behind weights",
       "x: f32[p, 6, 8]; r: f32[q, t, 16]; w = " + constant("f32[1, 8, 16]", 128) +
           "; m = MatrixMultiply(x, w); s = " + kSum + "(m, r); y = Activation{kind=relu}(s); return y",
       {{{4, 6, 8}, {4, 6, 16}}, {{4, 6, 8}, {1, 1, 16}}, {{1, 6, 8}, {4, 6, 16}}, {{4, 6, 8}, {4, 1, 16}}},
       {}},
      {"a vector's product",
       "a: f32[p, 5, 8]; b: f32[q, 8]; y = MatrixMultiply{b=vector}(a, b); return y",
       {{{3, 5, 8}, {3, 8}}, {{1, 5, 8}, {3, 8}}, {{3, 5, 8}, {1, 8}}},
       {}},
      {"attention",
       "q: f32[p, 4, 5, 8]; k: f32[s, h, 7, 8]; v: f32[t, g, 7, 8]; mask: f32[m, 1, u, 7]; "
       "d = MatrixMultiply{b=transpose}(q, k); e = " +
           kSum + "(d, mask); w = Softmax{axis=3}(e); y = MatrixMultiply(w, v); return y",
       {{{3, 4, 5, 8}, {3, 4, 7, 8}, {3, 4, 7, 8}, {3, 1, 5, 7}},
        {{3, 4, 5, 8}, {3, 4, 7, 8}, {3, 1, 7, 8}, {1, 1, 1, 7}},
        {{3, 4, 5, 8}, {3, 1, 7, 8}, {3, 4, 7, 8}, {1, 1, 5, 7}},
        {{3, 4, 5, 8}, {1, 4, 7, 8}, {1, 1, 7, 8}, {3, 1, 5, 7}},
        {{1, 4, 5, 8}, {3, 4, 7, 8}, {1, 4, 7, 8}, {1, 1, 5, 7}},
        {{1, 4, 5, 8}, {1, 1, 7, 8}, {3, 4, 7, 8}, {1, 1, 1, 7}},
        {{1, 4, 5, 8}, {1, 1, 7, 8}, {1, 1, 7, 8}, {3, 1, 5, 7}}},
       {}},
      {"attention under one batch",
       "q: f32[p, 4, 5, 8]; k: f32[p, h, 7, 8]; v: f32[p, g, 7, 8]; mask: f32[m, 1, u, 7]; "
       "d = MatrixMultiply{b=transpose}(q, k); b = " +
           constant("f32[1, 4, 1, 7]", 28) + "; c = " + kSum +
           "(d, b); w = Softmax{axis=3}(c); y = MatrixMultiply(w, v); z = " + kSum + "(mask, mask); return y, z",
       {{{3, 4, 5, 8}, {3, 4, 7, 8}, {3, 4, 7, 8}, {3, 1, 5, 7}},
        {{3, 4, 5, 8}, {3, 1, 7, 8}, {3, 4, 7, 8}, {1, 1, 1, 7}},
        {{2, 4, 5, 8}, {2, 4, 7, 8}, {2, 1, 7, 8}, {1, 1, 1, 7}},
        {{1, 4, 5, 8}, {1, 1, 7, 8}, {1, 1, 7, 8}, {1, 1, 1, 7}}},
       {}},
      {"two masks",
       "q: f32[6, 4, 5, 8]; k: f32[6, 4, 7, 8]; v: f32[6, 4, 7, 8]; m: f32[p, 1, t, 7]; n: f32[2, s, 1, 1, 7]; "
       "d = MatrixMultiply{b=transpose}(q, k); e = " +
           kSum + "(d, m); f = Reshape{dims=[2, 3, 4, 5, 7]}(e); g = " + kSum +
           "(f, n); h = Reshape{dims=[6, 4, 5, 7]}(g); w = Softmax{axis=3}(h); y = MatrixMultiply(w, v); return y",
       {{{6, 4, 5, 8}, {6, 4, 7, 8}, {6, 4, 7, 8}, {6, 1, 5, 7}, {2, 3, 1, 1, 7}},
        {{6, 4, 5, 8}, {6, 4, 7, 8}, {6, 4, 7, 8}, {1, 1, 5, 7}, {2, 1, 1, 1, 7}},
        {{6, 4, 5, 8}, {6, 4, 7, 8}, {6, 4, 7, 8}, {6, 1, 1, 7}, {2, 1, 1, 1, 7}}},
       {}},
      {"coefficients of a normalisation",
       "x: f32[p, 6, n]; scale: f32[m]; bias: f32[k, 1]; y = Normalization{axes=[2]}(x, scale, bias); return y",
       {{{3, 6, 16}, {16}, {6, 1}}, {{3, 6, 16}, {1}, {1, 1}}, {{2, 6, 8}, {1}, {6, 1}}, {{2, 6, 8}, {8}, {1, 1}}},
       {{{3, 6, 16}, {8}, {6, 1}}}},
      {"pictures beside channels",
       "x: f32[p, 8, 9, 7]; b: f32[q, 8, h, 1]; w = " + constant("f32[8, 8, 3, 3]", 576) +
           "; c = Convolution{pre_pads=[1, 1], post_pads=[1, 1]}(x, w); s = " + kSum +
           "(c, b); a = Activation{kind=relu}(s); y = Convolution{pre_pads=[1, 1], post_pads=[1, 1]}(a, w); return y",
       {{{2, 8, 9, 7}, {2, 8, 9, 1}},
        {{2, 8, 9, 7}, {1, 8, 1, 1}},
        {{1, 8, 9, 7}, {3, 8, 9, 1}},
        {{1, 8, 9, 7}, {3, 8, 1, 1}}},
       {}},
      {"what follows a broadcast",
       "a: f32[p, 4]; b: f32[q, 4]; c: f32[r, 4]; s = " + kSum +
           "(a, b); j = Concatenation{axis=0}(s, c); "
           "t = Transpose{perm=[1, 0]}(j); y = Softmax{axis=1}(t); z = Reshape{dims=[0, 2, 2], "
           "zero_is_placeholder=true}(s); "
           "u = Reduce{kind=avg, axes=[0], keep=true}(s); v = " +
           kSum + "(u, s); return y, z, v",
       {{{3, 4}, {3, 4}, {2, 4}}, {{3, 4}, {1, 4}, {1, 4}}, {{1, 4}, {5, 4}, {2, 4}}, {{1, 4}, {1, 4}, {1, 4}}},
       {}},
      {"an empty choice",
       "c: bool[p, 1]; a: f32[q, 6]; b: f32[r, s]; y = Select(c, a, b); return y",
       {{{4, 1}, {4, 6}, {4, 6}}, {{0, 1}, {1, 6}, {1, 1}}, {{1, 1}, {0, 6}, {1, 6}}, {{0, 1}, {0, 6}, {0, 6}}},
       {{{4, 1}, {0, 6}, {1, 6}}}},
      {"repeated as nothing is",
       "x: f32[p, 3]; z: f32[q, 3]; s = Shape(z); y = Expand(x, s); return y",
       {{{5, 3}, {5, 3}}, {{1, 3}, {0, 3}}, {{0, 3}, {1, 3}}, {{0, 3}, {0, 3}}},
       {{{2, 3}, {0, 3}}}},
      {"no batches of a product",
       "a: f32[p, 5, 8]; b: f32[q, 8, 6]; c: f32[r, 5, 6]; m = MatrixMultiply(a, b); y = " + kSum + "(m, c); return y",
       {{{3, 5, 8}, {3, 8, 6}, {3, 5, 6}}, {{0, 5, 8}, {1, 8, 6}, {1, 5, 6}}, {{1, 5, 8}, {1, 8, 6}, {0, 5, 6}}},
       {{{0, 5, 8}, {3, 8, 6}, {1, 5, 6}}}},
      {"the last row of what may be empty",
       "x: f32[p, 4]; z: f32[q, 4]; l = Slice{starts=[0], sizes=[1], strides=[1], axes=[0]}(x); y = " + kSum +
           "(l, z); return y",
       {{{3, 4}, {3, 4}}, {{1, 4}, {5, 4}}, {{2, 4}, {0, 4}}},
       {}},
      {"rows gathered beside rows",
       "data: f32[p, 9]; at: i32[q, 3]; y = Gather{axis=1, num_elementwise_dims=1}(data, at); return y",
       {{{4, 9}, {4, 3}}, {{1, 9}, {4, 3}}, {{4, 9}, {1, 3}}},
       {},
       true},  // tactics want to know which one repeats
  };
  return kNetworks;
}

/// Indices are small, so that they lie within whatever is gathered.
HostTensor random_tensor(DType dtype, const Extents& extents, std::mt19937& random) {
  std::vector<double> numbers(static_cast<size_t>(volume(extents)));
  for (double& x : numbers)
    x = is_float(dtype) ? static_cast<double>(random() % 1000) / 250 - 2 : static_cast<double>(random() % 2);
  return HostTensor::of(dtype, extents, numbers);
}

std::vector<HostTensor> random_inputs(const ir::Graph& graph, const Shapes& shapes, std::mt19937& random) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(random_tensor(graph.type(graph.inputs()[i]).dtype, shapes[i], random));
  return inputs;
}

std::string text_of(const Shapes& shapes) {
  std::string text = "inputs of";
  for (const Extents& extents : shapes) text += str(' ', extents);
  return text;
}

ProfileRequest profile_over(const ir::Graph& graph, const Network& network) {
  ProfileRequest profile;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Extents& opt = network.fits[0][i];
    plan::InputRange range{opt, opt, opt};
    for (const auto* all : {&network.fits, &network.refused})
      for (const Shapes& shapes : *all)
        for (size_t axis = 0; axis < opt.size(); ++axis) {
          range.min[axis] = std::min(range.min[axis], shapes[i][axis]);
          range.max[axis] = std::max(range.max[axis], shapes[i][axis]);
        }
    profile.extents[graph.value(graph.inputs()[i]).name] = std::move(range);
  }
  return profile;
}

void expect_close(const HostTensor& got, const HostTensor& want) {
  ASSERT_EQ(got.extents(), want.extents());
  const View x(got), y(want);
  double largest = 1e-30, off = 0;
  for (int64_t i = 0; i < y.volume(); ++i) {
    largest = std::max(largest, std::abs(y[i]));
    off = std::isnan(x[i]) ? INFINITY : std::max(off, std::abs(x[i] - y[i]));
  }
  EXPECT_LE(off, 1e-5 * largest);
}

void expect_refusals(const Network& network, const ir::Graph& graph, BuiltGraph& built, std::mt19937& random) {
  for (const Shapes& shapes : network.refused) {
    const auto got = built.run(random_inputs(graph, shapes, random));
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().message.find("does not hold: the left side is "), std::string::npos) << got.error().message;
  }
}

enum class Check : uint8_t { kNumbers, kLaunches };

void run_networks(Backend& backend, int level, Check check = Check::kNumbers) {
  std::mt19937 random(5);
  for (const Network& network : networks()) {
    SCOPED_TRACE(network.name);
    const auto graph = ir::parse(network.text);
    ASSERT_TRUE(graph) << graph.error().message;
    BuildRequest request{.numerics = {.tf32 = false}, .optimization_level = level};
    request.profiles = {profile_over(*graph, network)};
    auto built = BuiltGraph::build(backend, *graph, request);
    ASSERT_TRUE(built) << built.error().message;
    for (int round = 0; round < 2; ++round)  // the second time behind other shapes
      for (const Shapes& shapes : network.fits) {
        SCOPED_TRACE(text_of(shapes));
        const std::vector<HostTensor> inputs = random_inputs(*graph, shapes, random);
        const auto want = ir::interpret(*graph, inputs);
        ASSERT_TRUE(want) << want.error().message;
        const auto got = built->run(inputs);
        ASSERT_TRUE(got) << got.error().message;
        for (size_t i = 0; i < want->size(); ++i)
          if (check == Check::kNumbers)
            expect_close(got->outputs[i], (*want)[i]);
          else
            EXPECT_EQ(got->outputs[i].extents(), (*want)[i].extents());
        EXPECT_EQ(std::ranges::count(got->tactics, "reference") > 0, network.falls_back);
      }
    expect_refusals(network, *graph, *built, random);
  }
}

TEST(Broadcasts, CpuAgreesWithReference) { run_networks(cpu_backend().value(), 0); }
TEST(Broadcasts, CpuAgreesWithReferenceWhereKernelsAreTuned) { run_networks(cpu_backend().value(), 3); }

/// The stand-in for the driver checks launches and addresses; its kernels do nothing.
TEST(CudaCodeOfBroadcasts, LoadsAndLaunches) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(9, 0);
  run_networks(*gpu.backend, 0, Check::kLaunches);
}

TEST(CudaBroadcasts, AgreeWithReference) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  run_networks(*backend, 0);
  run_networks(*backend, 3);
}

TEST(Broadcasts, SaysWhichNodeAndExtentsDoNotFit) {
  const Network& rows = networks()[0];
  const auto graph = ir::parse(rows.text);
  ASSERT_TRUE(graph);
  auto built = BuiltGraph::build(cpu_backend().value(), *graph,
                                 {.optimization_level = 0, .profiles = {profile_over(*graph, rows)}});
  ASSERT_TRUE(built);
  std::mt19937 random(5);
  const auto got = built->run(random_inputs(*graph, rows.refused[0], random));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message,
            "p broadcasts with q (ElementWise #0: axis 0 of [p, 4] and [q, 4]) does not hold: the left side is 3, the "
            "right side 2");
}

/// Where a profile leaves neither extent at 1, they are one extent, and the plan is that of one name.
TEST(Broadcasts, TwoNamesCostNothingWhereTheProfileLeavesNoOne) {
  const auto steps_of = [](std::string_view second, int64_t least) {
    const auto graph =
        ir::parse(str("x: f32[p, 6, 8]; r: f32[", second, ", 6, 16]; w = ", constant("f32[1, 8, 16]", 128),
                      "; m = MatrixMultiply(x, w); s = ", kSum, "(m, r); y = Activation{kind=relu}(s); return y"));
    CHECK(graph.has_value());
    ProfileRequest profile;
    profile.extents["x"] = {{least, 6, 8}, {4, 6, 8}, {8, 6, 8}};
    profile.extents["r"] = {{least, 6, 16}, {4, 6, 16}, {8, 6, 16}};
    NullLog log;
    const auto plan = build_plan(*graph, cpu_backend().value(), {.optimization_level = 0, .profiles = {profile}}, log);
    CHECK(plan.has_value());
    return plan->profiles[0].steps.size();
  };
  EXPECT_EQ(steps_of("p", 1), 1u);
  EXPECT_EQ(steps_of("q", 2), 1u);
  EXPECT_EQ(steps_of("q", 1), 2u);
}

}  // namespace
}  // namespace kiln
