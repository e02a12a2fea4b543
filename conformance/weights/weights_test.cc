// Weights of a loaded engine are replaced, and what it has made of them is derived again: the same bits as a new build
// with these weights and the same timings gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "collection.h"
#include "device_run.h"
#include "networks.h"
#include "plan/writer.h"
#include "tactics/timing_cache.h"

namespace kiln {
namespace {

struct Mode {
  std::string_view name;
  Numerics numerics;
  int optimization_level;
  bool refittable = false;
};

std::vector<Mode> modes() {
  return {{"fp32", {}, 3}, {"refittable", {}, 1, true}, {"fp16", {.fp16 = true}, 0}, {"bf16", {.bf16 = true}, 0}};
}

Result<WeightedGraph> write(const Network& network, uint64_t seed, std::vector<std::string> kept = {}) {
  NetworkWriter writer(seed, std::move(kept));
  network.write(writer);
  onnx::test::Imported imported = onnx::test::import_proto(writer.model());
  TRY(std::move(imported.status));
  return WeightedGraph{std::move(imported.graph), writer.given()};
}

std::vector<HostTensor> inputs_of(const ir::Graph& graph, const ProfileRequest& profile) {
  std::vector<HostTensor> result;
  for (const ir::ValueId id : graph.inputs()) {
    const DType dtype = graph.type(id).dtype;
    const Extents& extents = profile.extents.at(graph.value(id).name).opt;
    std::vector<double> numbers(static_cast<size_t>(volume(extents)));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] =
          is_float(dtype) ? static_cast<double>(i * 2654435761u % 65521) / 32768 - 1 : static_cast<double>(i % 13);
    result.push_back(HostTensor::of(dtype, extents, numbers));
  }
  return result;
}

std::vector<std::string> variants_of(const plan::Plan& plan) {
  std::vector<std::string> result;
  for (const plan::Step& step : plan.profiles[0].steps)
    result.push_back(str(step.info.tactic, ": ", step.info.variant));
  return result;
}

bool is_one_of(std::string_view name, std::span<const std::string> names) {
  return std::ranges::find(names, name) != names.end();
}
/// Weights that may decide something.
std::vector<std::string> exceptions(const Network& network) {
  std::vector<std::string> names = network.fixed;
  names.insert(names.end(), network.in_steps.begin(), network.in_steps.end());
  return names;
}
std::string why_fixed(const plan::Plan& plan, std::string_view name) {
  for (const plan::WeightSource& source : plan.sources)
    if (source.name == name) return source.fixed;
  return "unknown";
}

/// A network built with two sets of weights and one timing cache.
class TwoBuilds {
 public:
  TwoBuilds(Backend& backend, const Mode& mode) : backend_(backend), cache_(backend.device().identity()) {
    request_.numerics = mode.numerics;
    request_.optimization_level = mode.optimization_level;
    request_.refittable = mode.refittable;
    request_.timing_cache = &cache_;
  }
  Status build_first(WeightedGraph network) {
    first = std::move(network);
    before = TRY(build(first.graph));
    return {};
  }
  Status build_second(WeightedGraph network) {
    second = std::move(network);
    after = TRY(build(second.graph));
    return {};
  }
  std::vector<HostTensor> inputs() const { return inputs_of(first.graph, request_.profiles[0]); }

  /// The second weights in the first engine against the second engine.
  void expect_same_bits() const {
    ASSERT_EQ(variants_of(before), variants_of(after));
    auto engine = BuiltGraph::load(backend_, before), built_anew = BuiltGraph::load(backend_, after);
    ASSERT_TRUE(engine && built_anew);
    const auto was = engine->run(inputs()), want = built_anew->run(inputs());
    ASSERT_TRUE(was && want) << (was ? want.error().message : was.error().message);
    runtime::NewWeights weights;
    for (const plan::WeightSource& source : before.sources) {  // those that are fixed are what they were
      const auto found = second.weights.find(source.name);
      ASSERT_TRUE(found != second.weights.end() || !source.fixed.empty()) << source.name;
      if (found != second.weights.end()) weights.emplace(*found);
    }
    const Status replaced = engine->replace_weights(weights);
    ASSERT_TRUE(replaced) << replaced.error().message;
    const auto got = engine->run(inputs());
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->outputs.size(), want->outputs.size());
    bool changed = false;
    for (size_t i = 0; i < want->outputs.size(); ++i) {
      EXPECT_TRUE(got->outputs[i] == want->outputs[i]) << "output " << i << " has other bits than a new build's";
      changed |= !(got->outputs[i] == was->outputs[i]);
    }
    EXPECT_TRUE(changed) << "no output depends on the weights";
  }

  WeightedGraph first, second;
  plan::Plan before, after;

 private:
  Result<plan::Plan> build(const ir::Graph& graph) {
    request_.profiles = {fixed_profile(graph)};
    NullLog log;
    return build_plan(graph, backend_, request_, log);
  }

  Backend& backend_;
  TimingCache cache_;
  BuildRequest request_;
};

/// Builds with two sets of weights; those that the first build cannot do without are in both.
Status build_both(TwoBuilds& builds, const Network& network) {
  TRY(builds.build_first(TRY(write(network, 1))));
  std::vector<std::string> kept;
  for (const std::string& name : exceptions(network))
    if (!is_one_of(name, runtime::replaceable(builds.before))) kept.push_back(name);
  return builds.build_second(TRY(write(network, 2, kept)));
}

/// What all runs together had.
struct Seen {
  size_t derived = 0;
  std::set<std::string> fixed;  ///< weights that may decide something and did
  std::set<std::string, std::less<>> variants;
  bool has_variant(std::string_view begin) const {
    return std::ranges::any_of(variants, [&](const std::string& v) { return v.find(begin) != std::string::npos; });
  }
};

/// Every weight of the model can be replaced but those that decide something.
void expect_replaceable(const Network& network, const Mode& mode, const TwoBuilds& builds, Seen& seen) {
  const std::vector<std::string> known = runtime::replaceable(builds.before);
  for (const auto& [name, value] : builds.first.weights) {
    const bool is_known = is_one_of(name, known);
    const bool may_decide = is_one_of(name, mode.refittable ? network.in_steps : exceptions(network));
    if (may_decide && !is_known) seen.fixed.insert(name);
    if (may_decide) continue;
    EXPECT_EQ(is_known, !is_one_of(name, network.attributes)) << name << ": " << why_fixed(builds.before, name);
  }
}

Seen run_all(Backend& backend) {
  Seen seen;
  for (const Network& network : networks())
    for (const Mode& mode : modes()) {
      SCOPED_TRACE(str(network.name, ", ", mode.name));
      TwoBuilds builds(backend, mode);
      const Status built = build_both(builds, network);
      EXPECT_TRUE(built) << built.error().message;
      if (!built) continue;
      expect_replaceable(network, mode, builds, seen);
      builds.expect_same_bits();
      seen.derived += builds.before.derived.size();
      for (std::string& variant : variants_of(builds.before)) seen.variants.insert(std::move(variant));
    }
  for (const Network& network : networks())
    for (const std::string& name : network.fixed)
      EXPECT_TRUE(seen.fixed.contains(name)) << network.name << ": '" << name << "' decides nothing: not an exception";
  return seen;
}

/// Models of the collection, every replaceable initializer changed; how many were built.
int run_collection(Backend& backend, const std::string& folder) {
  int num_models = 0;
  for (const std::string_view name :
       {"mnist", "squeezenet", "ultraface", "yolox-nano", "kws", "magika", "superres", "vittrack", "basic-pitch"}) {
    SCOPED_TRACE(name);
    const std::string path = str(folder, '/', name, "/model.onnx");
    TwoBuilds builds(backend, {"collection", {}, 1});
    Status built = builds.build_first(model_with_other(path, {}).value());
    EXPECT_TRUE(built) << built.error().message;
    const std::vector<std::string> names = runtime::replaceable(builds.before);
    if (built) built = builds.build_second(model_with_other(path, {names.begin(), names.end()}).value());
    EXPECT_TRUE(built) << built.error().message;
    if (!built) continue;
    size_t changed = 0;
    for (const auto& [weights, value] : builds.first.weights) changed += !(value == builds.second.weights.at(weights));
    EXPECT_GT(changed * 3, names.size() * 2);
    builds.expect_same_bits();
    ++num_models;
  }
  return num_models;
}

TEST(Weights, AreWhatANewBuildMakes) {
  const Seen seen = run_all(cpu_backend().value());
  EXPECT_GT(seen.derived, 50u);
  EXPECT_TRUE(seen.has_variant("packed in f16"));
  EXPECT_TRUE(seen.has_variant("winograd"));
}

TEST(Weights, OfModelsAreWhatANewBuildMakes) {
  const char* folder = std::getenv("KILN_MODELS_DIR");
  if (!folder) GTEST_SKIP() << "KILN_MODELS_DIR is not set";
  EXPECT_EQ(run_collection(cpu_backend().value(), folder), 9);
}

TEST(Weights, EqualElementsKeepTheirNames) {
  Backend& backend = cpu_backend().value();
  TwoBuilds builds(backend, {"fp32", {}, 1});
  ASSERT_TRUE(build_both(builds, twins()));
  ASSERT_EQ(builds.before.weights.size(), 2u);
  EXPECT_EQ(builds.before.weights[1].same_as, 0);
  EXPECT_LT(plan::write_plan(builds.before)->size() + 40 * 40 * 4, plan::write_plan(builds.after)->size() + 500);
  builds.expect_same_bits();
  // One of two alone: the other keeps its own.
  const HostTensor want = BuiltGraph::load(backend, builds.after)->run(builds.inputs())->outputs[0];
  auto engine = BuiltGraph::load(backend, builds.before);
  ASSERT_TRUE(engine->replace_weights({*builds.second.weights.find("first")}));
  EXPECT_FALSE(engine->run(builds.inputs())->outputs[0] == want);
  ASSERT_TRUE(engine->replace_weights({*builds.second.weights.find("second")}));
  EXPECT_TRUE(engine->run(builds.inputs())->outputs[0] == want);
}

/// The error of replacing a weight of an engine with weights of the first seed.
std::string refusal(const Network& network, const Mode& mode, const runtime::NewWeights& weights) {
  TwoBuilds builds(cpu_backend().value(), mode);
  const Status built = builds.build_first(write(network, 1).value());
  if (!built) return built.error().message;
  const auto made = runtime::with_weights(builds.before, weights);
  return made ? "none" : made.error().message;
}
const Network& named(std::string_view name) {
  return *std::ranges::find_if(networks(), [&](const Network& network) { return network.name == name; });
}
HostTensor ones(Extents extents) {
  return HostTensor::of(DType::kF32, extents, std::vector<double>(static_cast<size_t>(volume(extents)), 1));
}

TEST(Weights, SayWhatCannotBeReplaced) {
  const Mode plain{"fp32", {}, 0};
  EXPECT_EQ(refusal(named("conv_bn"), plain, {{"nobody", ones({3})}}), "no weights of the engine are made of 'nobody'");
  EXPECT_EQ(refusal(named("conv_bn"), plain, {{"c2.b", ones({3})}}), "weights 'c2.b' are f32[16]; f32[3] were given");
  EXPECT_EQ(
      refusal(named("conv_bn"), plain, {{"c2.b", ones({16})}}),
      "weights are made of these together with 'c2.w', 'bn2.gamma', 'bn2.variance', 'bn2.beta', 'bn2.mean', which "
      "must be given too");
  EXPECT_EQ(
      refusal(named("transformer"), plain, {{"half", ones({})}}),
      "weights 'half' cannot become others: its elements decided a rewrite (recognize_gelu); build the network anew");
  EXPECT_EQ(refusal(named("transformer"), plain, {{"half", HostTensor::scalar(DType::kF32, 0.5)}}), "none");
}

TEST(Weights, BeyondHalvesAreRefusedWhereAnEngineKeepsHalves) {
  TwoBuilds builds(cpu_backend().value(), {"fp16", {.fp16 = true}, 0});
  ASSERT_TRUE(builds.build_first(write(named("perceptron"), 1).value()));
  auto engine = BuiltGraph::load(cpu_backend().value(), builds.before);
  const std::vector<double> large(256 * 160, 1e5);
  const Status replaced = engine->replace_weights({{"fc2.w", HostTensor::of(DType::kF32, {256, 160}, large)}});
  ASSERT_FALSE(replaced);
  EXPECT_NE(replaced.error().message.find("are beyond FP16, in which this engine keeps them"), std::string::npos)
      << replaced.error().message;
}

TEST(Weights, ThatFitHalvesExactlyAreFixedWhereAnEngineKeepsHalves) {
  const auto why = [](const Mode& mode) {
    TwoBuilds builds(cpu_backend().value(), mode);
    const Status built = builds.build_first(write(exact_halves(), 1).value());
    return built ? why_fixed(builds.before, "w") : built.error().message;
  };
  EXPECT_EQ(why({"fp32", {}, 0}), "its elements decided how a step works (gemm)");
  EXPECT_EQ(why({"fp16", {.fp16 = true}, 0}), "");
}

TEST(CudaWeights, AreWhatANewBuildMakes) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  const Seen seen = run_all(*backend);
  EXPECT_GT(seen.derived, 50u);
  for (const std::string_view packs : {"w in two", "depthwise rows", "stem"})
    EXPECT_TRUE(seen.has_variant(packs)) << packs;
}

TEST(CudaWeights, OfModelsAreWhatANewBuildMakes) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  const char* folder = std::getenv("KILN_MODELS_DIR");
  if (!folder) GTEST_SKIP() << "KILN_MODELS_DIR is not set";
  EXPECT_EQ(run_collection(*backend, folder), 9);
}

}  // namespace
}  // namespace kiln
