// Steps of CUDA plans, damaged by the thousand: loading and binding them gives an error or a step whose launches a
// driver takes. Every case's steps as they are built, over a stand-in for the driver; KILN_DAMAGE sets how many times
// each is damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <set>

#include "backend/cuda/compile/nvrtc.h"
#include "built_case.h"
#include "damage.h"
#include "fake_gpu.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "steps/concatenation.h"

namespace kiln {
namespace {

/// Loads, binds and runs a step; the stage that was reached. One input may lie at an odd element.
enum class Reached : uint8_t { kNothing, kLoaded, kBound };
Result<Reached> use_sample(cuda::CudaDevice& device, Stream& stream, const Sample& s, size_t odd_input = ~size_t{0}) {
  if (!s.is_read) return Reached::kNothing;
  std::vector<const HostTensor*> constants;
  for (size_t i = 0; i < s.constants.size(); ++i) constants.push_back(s.is_constant[i] ? &s.constants[i] : nullptr);
  const auto loaded = TRY(device.executor("cuda")).get().load(s.spec, constants);
  if (!loaded) return Reached::kNothing;
  const auto bound = (*loaded)->bind({s.inputs, s.outputs, s.params});
  if (!bound) return Reached::kLoaded;
  TRY(require((*bound)->workspace_bytes() >= 0, "a workspace of ", (*bound)->workspace_bytes(), " bytes"));
  if (s.spec.step.name() == "reference") return Reached::kBound;  // it reads memory
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t i = 0; i < s.inputs.size(); ++i)
    inputs.push_back(constants[i] || !s.spec.inputs[i].present ? nullptr : reinterpret_cast<void*>((i + 1) << 48));
  if (odd_input < inputs.size())
    inputs[odd_input] = static_cast<const std::byte*>(inputs[odd_input]) + bits_of(s.spec.inputs[odd_input].dtype) / 8;
  for (size_t i = 0; i < s.outputs.size(); ++i) outputs.push_back(reinterpret_cast<void*>((i + 1) << 52));
  TRY((*bound)->run({inputs.data(), outputs.data(), reinterpret_cast<std::byte*>(int64_t{1} << 56), &stream}));
  return Reached::kBound;
}

/// Every case's steps, with TF32 and without.
class CudaDamage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
    for (const bool tf32 : {false, true}) {
      const BuildRequest request{.numerics = {.tf32 = tf32}, .optimization_level = 0};
      for (const Case& c : all_cases()) {
        const auto built = build_case(c);
        ASSERT_TRUE(built) << built.error().message;
        if (tf32 && c.op.name() != "MatrixMultiply" && c.op.name() != "Convolution" && c.op.name() != "Deconvolution")
          continue;
        const Status added = add_samples(built->graph, *gpu.backend, request, plans, samples);
        ASSERT_TRUE(added) << c.name << ": " << added.error().message;
      }
      for (const std::optional<DType> bytes : {std::optional<DType>(), std::optional(DType::kI8)}) {
        const auto attention = attention_network(DType::kF16, bytes);
        ASSERT_TRUE(attention) << attention.error().message;
        ASSERT_TRUE(add_samples(*attention, *gpu.backend, request, plans, samples));
      }
    }
    auto made = gpu.device->create_stream();
    ASSERT_TRUE(made);
    stream = std::move(*made);
  }
  Result<Reached> use(const Sample& sample) { return use_sample(*gpu.device, *stream, sample); }
  void expect_refused(const Sample& sample, std::string_view what) {
    const auto reached = use(sample);
    EXPECT_TRUE(reached && *reached != Reached::kBound) << what << ": " << str(sample.spec.step);
  }

  FakeGpu gpu{9, 0};
  std::vector<std::shared_ptr<plan::Plan>> plans;
  std::vector<Sample> samples;
  std::unique_ptr<Stream> stream;
};

TEST_F(CudaDamage, StepsGiveErrors) {
  const char* wanted = std::getenv("KILN_DAMAGE");
  const int times = wanted ? std::atoi(wanted) : 40;
  std::map<std::string, std::array<int, 3>> reached;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto whole = use(samples[i]);
    ASSERT_TRUE(whole) << samples[i].spec.step.name() << ": " << whole.error().message;
    ASSERT_EQ(*whole, Reached::kBound) << samples[i].spec.step.name();
    Damage damage(static_cast<uint32_t>(i), samples, false);
    for (int n = 0; n < times; ++n) {
      Sample damaged = samples[i];
      for (int changes = 1 + n % 3; changes-- > 0 && !damaged.spec.outputs.empty();) damage.change(damaged);
      try {
        const auto ran = use(damaged);
        EXPECT_TRUE(ran) << damaged.spec.step.name() << ", damage " << n << " of step " << i << ": "
                         << ran.error().message;
        if (ran) ++reached[std::string(damaged.spec.step.name())][static_cast<size_t>(*ran)];
      } catch (const std::bad_alloc&) {  // as good as an error: the API says so
      } catch (const CheckFailed& failed) {
        ADD_FAILURE() << "damage " << n << " of step " << i << ": " << failed.message << "; " << str(damaged.spec.step);
      }
    }
  }
  for (const auto& [kernel, counts] : reached) {
    std::cout << kernel << ": " << counts[0] << " do not load, " << counts[1] << " do not bind, " << counts[2]
              << " run\n";
    EXPECT_GT(counts[0] + counts[1], counts[2] / 20) << kernel;
  }
}

/// A real kernel's result, which the stand-in does not write, must fit the memory that the plan gives it.
TEST_F(CudaDamage, ResultsAreWhatInputsMake) {
  // Results of these kinds may have other extents with the same inputs.
  const std::set<std::string_view> free = {"convolution", "deconvolution", "pooling", "resize",
                                           "slice",       "expand",        "fill"};
  std::set<std::string_view> seen;
  for (const Sample& sample : samples) {
    if (sample.spec.step.name() == "values") continue;  // of any type
    seen.insert(sample.spec.step.name());
    Sample other = sample;
    other.spec.outputs[0].dtype = sample.spec.outputs[0].dtype == DType::kI8 ? DType::kI64 : DType::kI8;
    expect_refused(other, "a result of another type");
    const auto largest = std::ranges::max_element(other.outputs[0]);
    const auto* joined = sample.spec.step.as<steps::Concatenation>();
    if (joined && joined->of_views) continue;  // fewer rows of each view, as of a slice
    if (free.contains(sample.spec.step.name()) || largest == other.outputs[0].end() || *largest < 2) continue;
    if (sample.spec.num_sizes > 0) continue;  // a bound of what data decides, which shapes may have narrowed
    other = sample;
    *std::ranges::max_element(other.outputs[0]) -= 1;
    expect_refused(other, str("a result of ", other.outputs[0], " instead of ", sample.outputs[0]));
  }
  EXPECT_GE(seen.size(), 15u);
}

/// relu(conv(x, w) + bias + residual), gelu(a b + bias) * scale, and c d, of which nothing but c and d is read.
Result<ir::Graph> contractions() {
  ir::Graph graph;
  const auto input = [&](const char* name, Extents extents) {
    return graph.add_input(name, tensor_type(DType::kF16, std::move(extents)));
  };
  const auto constant = [&](const char* name, const Extents& extents) {
    const std::vector<double> numbers(static_cast<size_t>(volume(extents)), 0.5);
    return graph.add_constant(HostTensor::of(DType::kF16, extents, numbers), name);
  };
  const auto sum = ops::ElementWise{ops::ElementWiseKind::kSum};
  ir::ValueId y = TRY(graph.add_one(ops::Convolution{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
                                    {input("x", {2, 16, 8, 8}), constant("w", {32, 16, 3, 3})}));
  y = TRY(graph.add_one(sum, {y, constant("bias", {1, 32, 1, 1})}));
  y = TRY(graph.add_one(sum, {y, input("residual", {2, 32, 8, 8})}));
  graph.mark_output(TRY(graph.add_one(ops::Activation{ops::ActivationKind::kRelu}, {y})), "pixels");
  y = TRY(graph.add_one(ops::MatrixMultiply{}, {input("a", {48, 64}), constant("b", {64, 40})}));
  y = TRY(graph.add_one(sum, {y, constant("b_bias", {1, 40})}));
  y = TRY(graph.add_one(ops::Activation{ops::ActivationKind::kGeluErf}, {y}));
  y = TRY(graph.add_one(ops::ElementWise{ops::ElementWiseKind::kProd}, {y, input("scale", {48, 40})}));
  graph.mark_output(y, "rows");
  y = TRY(graph.add_one(ops::MatrixMultiply{}, {input("c", {48, 64}), input("d", {64, 40})}));
  graph.mark_output(y, "product");
  return graph;
}

/// A contraction's other inputs must have the extents and types that its code takes for granted, and its operands must
/// be in the pieces that it copies.
TEST(CudaEpilogues, AreReadAsThePlanSays) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(9, 0);
  std::vector<std::shared_ptr<plan::Plan>> plans;
  std::vector<Sample> samples;
  const auto graph = contractions();
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_TRUE(add_samples(*graph, *gpu.backend, {.optimization_level = 0}, plans, samples));
  const auto stream = *gpu.device->create_stream();
  const auto refuses = [&](const Sample& s, std::string_view what) {
    const auto reached = use_sample(*gpu.device, *stream, s);
    EXPECT_TRUE(reached && *reached != Reached::kBound) << s.spec.step.name() << ": " << what;
  };
  size_t operands = 0, epilogues = 0, products = 0;
  for (const Sample& sample : samples) {
    if (sample.spec.step.name() != "convolution" && sample.spec.step.name() != "matrix_multiply") continue;
    const auto whole = use_sample(*gpu.device, *stream, sample);
    ASSERT_TRUE(whole && *whole == Reached::kBound) << sample.spec.step.name();
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      if (!sample.spec.inputs[i].present) continue;
      if (!sample.is_constant[i]) {
        const auto odd = use_sample(*gpu.device, *stream, sample, i);
        ASSERT_FALSE(odd) << sample.spec.step.name() << ", input " << i;
        EXPECT_TRUE(odd.error().message.contains("is not aligned to 16 bytes")) << odd.error().message;
      }
      Sample other = sample;
      other.spec.inputs[i].dtype = DType::kF32;
      refuses(other, str("input ", i, " of f32"));
      ++(i < 2 ? operands : epilogues);
      if (i < 2) continue;
      other = sample;
      *std::ranges::max_element(other.inputs[i]) /= 2;
      refuses(other, str("input ", i, " is ", other.inputs[i]));
    }
    Sample other = sample;
    other.spec.outputs[0].dtype = DType::kF32;
    refuses(other, "a result of f32");
    other = sample;
    other.inputs[1] = {40, 64};  // as many elements
    refuses(other, "weights the other way round");
    if (sample.is_constant[1]) continue;
    ++products;
    other = sample;
    other.inputs[0].back() = other.inputs[1].front() = 63;
    refuses(other, "sums of 63 products");
    other = sample;
    other.inputs[1].back() = other.outputs[0].back() = 39;
    refuses(other, "results of 39 columns");
  }
  EXPECT_EQ(operands, 6u);
  EXPECT_GE(epilogues, 4u);
  EXPECT_EQ(products, 1u);
}

}  // namespace
}  // namespace kiln
