// Programs that choose algorithms themselves: by what they are shown, or as they did in an earlier build.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

/// What identifies an algorithm between builds.
struct Kind {
  int64_t implementation, tactic;
  bool operator==(const Kind&) const = default;
};
Kind kind_of(const nv::IAlgorithm& algorithm) {
  return {algorithm.getAlgorithmVariant().getImplementation(), algorithm.getAlgorithmVariant().getTactic()};
}

struct Tensor {
  nv::DataType dtype;
  std::vector<int64_t> min, opt, max, strides;
  int64_t vector_axis, vector_length;
};
struct Shown {
  std::vector<Tensor> inputs, outputs;
  std::vector<Kind> kinds;
  std::vector<float> times_ms;
  std::vector<size_t> workspaces;
};

class Selector final : public nv::IAlgorithmSelector {
 public:
  /// Answers selectAlgorithms: takes the layer's name and what it is shown, and fills the selection.
  using Answer = std::function<int32_t(const std::string& layer, const Shown& shown, int32_t* selection)>;
  Answer answer = [](const std::string&, const Shown&, int32_t*) { return 0; };

  int32_t selectAlgorithms(const nv::IAlgorithmContext& context, const nv::IAlgorithm* const* choices, int32_t count,
                           int32_t* selection) noexcept override {
    Shown& seen = shown[context.getName()];
    const int32_t inputs = context.getNbInputs();
    const auto extents = [&](int32_t i, nv::OptProfileSelector end) { return list(context.getDimensions(i, end)); };
    for (int32_t i = 0; i < inputs + context.getNbOutputs(); ++i) {
      const nv::IAlgorithmIOInfo& io = *choices[0]->getAlgorithmIOInfoByIndex(i);
      (i < inputs ? seen.inputs : seen.outputs)
          .push_back({io.getDataType(), extents(i, nv::OptProfileSelector::kMIN),
                      extents(i, nv::OptProfileSelector::kOPT), extents(i, nv::OptProfileSelector::kMAX),
                      list(io.getStrides()), io.getVectorizedDim(), io.getComponentsPerElement()});
    }
    EXPECT_EQ(extents(-1, nv::OptProfileSelector::kMIN), std::vector<int64_t>{-1});
    EXPECT_EQ(extents(inputs + context.getNbOutputs(), nv::OptProfileSelector::kMIN), std::vector<int64_t>{-1});
    EXPECT_EQ(choices[0]->getAlgorithmIOInfoByIndex(-1), nullptr);
    EXPECT_EQ(choices[0]->getAlgorithmIOInfoByIndex(inputs + context.getNbOutputs()), nullptr);
    for (int32_t i = 0; i < count; ++i) {
      seen.kinds.push_back(kind_of(*choices[i]));
      seen.times_ms.push_back(choices[i]->getTimingMSec());
      seen.workspaces.push_back(choices[i]->getWorkspaceSize());
    }
    return answer(context.getName(), seen, selection);
  }
  void reportAlgorithms(const nv::IAlgorithmContext* const* contexts, const nv::IAlgorithm* const* choices,
                        int32_t count) noexcept override {
    ++reports;
    for (int32_t i = 0; i < count; ++i) reported[contexts[i]->getName()].push_back(kind_of(*choices[i]));
  }

  std::map<std::string, Shown> shown;
  std::map<std::string, std::vector<Kind>> reported;
  int reports = 0;
};

/// Two products with a softmax between them, of a dynamic number of rows.
class AlgorithmSelector : public ::testing::Test {
 protected:
  AlgorithmSelector() {
    constexpr auto kNone = nv::MatrixOperation::kNONE;
    const auto input = [&](const char* name, int64_t rows) {
      return w->addInput(name, nv::DataType::kFLOAT, dims({rows, 32}));
    };
    nv::IMatrixMultiplyLayer* first = w->addMatrixMultiply(*input("x", -1), kNone, *input("w1", 32), kNone);
    nv::ISoftMaxLayer* softmax = w->addSoftMax(*first->getOutput(0));
    nv::IMatrixMultiplyLayer* second = w->addMatrixMultiply(*softmax->getOutput(0), kNone, *input("w2", 32), kNone);
    first->setName("first");
    softmax->setName("softmax");
    second->setName("second");
    w.mark(second->getOutput(0));
    w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
    w.config->setAlgorithmSelector(&selector);
    add_profile(8, 32, 64);
  }
  void add_profile(int64_t least, int64_t likely, int64_t most) {
    nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, dims({least, 32}));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, dims({likely, 32}));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, dims({most, 32}));
    ASSERT_GE(w.config->addOptimizationProfile(profile), 0);
  }
  /// The layers of a build's plan with their tactics; empty where it fails.
  std::map<std::string, std::string> build() {
    selector.shown.clear();
    selector.reported.clear();
    selector.reports = 0;
    const Running running(w);
    error = running.error;
    if (!running.engine) return {};
    const std::unique_ptr<nv::IEngineInspector> inspector(running.engine->createEngineInspector());
    std::map<std::string, std::string> tactics;
    for (int32_t i = 0; i < running.engine->getNbLayers(); ++i) {
      const std::string line = inspector->getLayerInformation(i, nv::LayerInformationFormat::kONELINE);
      const size_t tactic = line.find("TacticName: ") + 12;
      tactics[line.substr(6, line.find(',') - 6)] = line.substr(tactic, line.find(',', tactic) - tactic);
    }
    return tactics;
  }
  /// Chooses one algorithm of a layer, and any of the others.
  void choose(const std::string& layer, int32_t index) {
    selector.answer = [layer, index](const std::string& name, const Shown&, int32_t* selection) {
      if (name != layer) return 0;
      selection[0] = index;
      return 1;
    };
  }

  Workbench w;
  Selector selector;
  std::string error;
};

TEST_F(AlgorithmSelector, IsShownLayersAndToldOfAll) {
  ASSERT_FALSE(build().empty()) << error;
  ASSERT_TRUE(selector.shown.contains("first") && selector.shown.contains("softmax") &&
              selector.shown.contains("second"));
  EXPECT_EQ(selector.shown.size(), 3U);
  const Shown& first = selector.shown["first"];
  ASSERT_EQ(first.inputs.size(), 2U);
  ASSERT_EQ(first.outputs.size(), 1U);
  const Tensor& x = first.inputs[0];
  EXPECT_EQ(x.dtype, nv::DataType::kFLOAT);
  EXPECT_EQ(x.min, (std::vector<int64_t>{8, 32}));
  EXPECT_EQ(x.opt, (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(x.max, (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(x.strides, (std::vector<int64_t>{32, 1}));
  EXPECT_EQ(x.vector_axis, -1);
  EXPECT_EQ(x.vector_length, 1);
  EXPECT_EQ(first.outputs[0].max, (std::vector<int64_t>{64, 32}));
  ASSERT_GE(first.kinds.size(), 2U);
  EXPECT_NE(first.kinds[0], first.kinds[1]);
  EXPECT_GT(*std::ranges::max_element(first.times_ms), 0);
  EXPECT_EQ(selector.reports, 1);
  for (const auto& [layer, kinds] : selector.reported) {
    ASSERT_EQ(kinds.size(), 1U) << layer;
    EXPECT_TRUE(std::ranges::count(selector.shown[layer].kinds, kinds[0])) << layer;
  }
  EXPECT_EQ(selector.reported.size(), 3U);
}

TEST_F(AlgorithmSelector, DecidesTheTactic) {
  const auto before = build();
  ASSERT_FALSE(before.empty()) << error;
  const auto count = static_cast<int32_t>(selector.shown["first"].kinds.size());
  std::set<std::string> seen;
  for (int32_t i = 0; i < count; ++i) {
    choose("first", i);
    const auto tactics = build();
    ASSERT_FALSE(tactics.empty()) << error;
    EXPECT_EQ(selector.reported["first"], std::vector{selector.shown["first"].kinds[static_cast<size_t>(i)]});
    seen.insert(tactics.at("first"));
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(count));
}

/// Among several the build takes the fastest; it does not take what was left out, though that be faster.
TEST_F(AlgorithmSelector, MayLeaveAChoiceToTheBuild) {
  ASSERT_FALSE(build().empty()) << error;
  const Shown first = selector.shown["first"];
  const size_t fastest = static_cast<size_t>(std::ranges::min_element(first.times_ms) - first.times_ms.begin());
  EXPECT_EQ(selector.reported["first"], std::vector{first.kinds[fastest]});
  selector.answer = [&](const std::string& name, const Shown& shown, int32_t* selection) {
    if (name != "first") return 0;
    int32_t chosen = 0;
    for (size_t i = 0; i < shown.kinds.size(); ++i)
      if (shown.kinds[i] != first.kinds[fastest]) selection[chosen++] = static_cast<int32_t>(i);
    return chosen;
  };
  ASSERT_FALSE(build().empty()) << error;
  EXPECT_NE(selector.reported["first"], std::vector{first.kinds[fastest]});
}

TEST_F(AlgorithmSelector, ReplaysWhatWasReported) {
  choose("second", 1);  // one that a build need not take by itself
  const auto before = build();
  ASSERT_FALSE(before.empty()) << error;
  const auto recorded = selector.reported;
  ASSERT_EQ(recorded.at("second"), std::vector{selector.shown["second"].kinds[1]});
  selector.answer = [&](const std::string& name, const Shown& shown, int32_t* selection) {
    const auto found = recorded.find(name);
    if (found == recorded.end()) return -1;
    const auto at = std::ranges::find(shown.kinds, found->second[0]);
    if (at == shown.kinds.end()) return -1;
    selection[0] = static_cast<int32_t>(at - shown.kinds.begin());
    return 1;
  };
  for (int i = 0; i < 3; ++i) {
    w.config->clearFlag(nv::BuilderFlag::kDISABLE_TIMING_CACHE);
    if (i > 0) w.config->setFlag(nv::BuilderFlag::kDISABLE_TIMING_CACHE);  // what is timed anew changes nothing
    EXPECT_EQ(build(), before) << error;
    EXPECT_EQ(selector.reported, recorded);
  }
}

/// Layers of other profiles have names of their own, as in TensorRT.
TEST_F(AlgorithmSelector, IsToldOfEachProfile) {
  add_profile(1, 4, 4);
  ASSERT_FALSE(build().empty()) << error;
  EXPECT_EQ(selector.reports, 2);
  EXPECT_EQ(selector.shown.size(), 6U);
  ASSERT_TRUE(selector.shown.contains("first [profile 1]"));
  EXPECT_EQ(selector.shown["first [profile 1]"].inputs[0].max, (std::vector<int64_t>{4, 32}));
}

TEST_F(AlgorithmSelector, MayBeObligedToChoose) {
  w.config->setFlag(nv::BuilderFlag::kREJECT_EMPTY_ALGORITHMS);
  EXPECT_TRUE(build().empty());
  EXPECT_NE(error.find("layer 'first': the algorithm selector chose none of "), std::string::npos) << error;
  EXPECT_NE(error.find("kREJECT_EMPTY_ALGORITHMS is set"), std::string::npos) << error;
  EXPECT_EQ(selector.reports, 0);
  selector.answer = [](const std::string&, const Shown& shown, int32_t* selection) {
    std::iota(selection, selection + shown.kinds.size(), 0);
    return static_cast<int32_t>(shown.kinds.size());
  };
  EXPECT_FALSE(build().empty()) << error;
}

TEST_F(AlgorithmSelector, IsToldOfItsMistakes) {
  const auto error_of = [&](Selector::Answer answer) {
    selector.answer = std::move(answer);
    EXPECT_TRUE(build().empty());
    return error;
  };
  const auto has = [&](const char* text) { return error.find(text) != std::string::npos; };
  error_of([](const std::string&, const Shown&, int32_t*) { return -3; });
  EXPECT_TRUE(has("layer 'first': the algorithm selector answered -3; it may choose 0 to ")) << error;
  error_of(
      [](const std::string&, const Shown& shown, int32_t*) { return static_cast<int32_t>(shown.kinds.size()) + 1; });
  EXPECT_TRUE(has("layer 'first': the algorithm selector answered ")) << error;
  error_of([](const std::string&, const Shown&, int32_t* selection) { return selection[0] = 99, 1; });
  EXPECT_TRUE(has("layer 'first': the algorithm selector chose algorithm 99, which is outside [0, ")) << error;
  error_of([](const std::string&, const Shown&, int32_t*) { return 1; });  // and wrote nothing
  EXPECT_TRUE(has("layer 'first': the algorithm selector chose algorithm -1, which is outside [0, ")) << error;
  error_of([](const std::string&, const Shown&, int32_t* selection) { return selection[0] = selection[1] = 0, 2; });
  EXPECT_TRUE(has("layer 'first': the algorithm selector chose algorithm 0 twice")) << error;
}

/// What is shown of a convolution.
Shown shown_of_convolution(int32_t most_tactics) {
  Workbench w;
  Selector selector;
  const std::vector<float> kernel(std::size_t{32} * 32 * 3 * 3, 1);
  w.mark(w->addConvolutionNd(*w.input("x", {1, 32, 16, 16}), 32, dims({3, 3}), weights(kernel), no_weights())
             ->getOutput(0));
  w.config->setAlgorithmSelector(&selector);
  w.config->setMaxNbTactics(most_tactics);
  EXPECT_NE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)), nullptr);
  EXPECT_TRUE(w.logger.warnings.empty());
  return selector.shown.empty() ? Shown() : selector.shown.begin()->second;
}

TEST(MaxNbTactics, BoundsWhatIsTried) {
  if (is_on_gpu()) GTEST_SKIP() << "estimates of a GPU's kernels may leave one of them; KILN_DEVICE=cpu runs this";
  EXPECT_GT(shown_of_convolution(-1).kinds.size(), 2U);
  EXPECT_EQ(shown_of_convolution(1).kinds.size(), 2U);  // with the reference
}

TEST(Algorithms, HaveTheirWorkspace) {
  if (is_on_gpu()) GTEST_SKIP() << "kernels of a GPU may have none; KILN_DEVICE=cpu runs this";
  const Shown shown = shown_of_convolution(-1);
  EXPECT_GT(*std::ranges::max_element(shown.workspaces), 0U);
  EXPECT_EQ(shown.workspaces.back(), 0U);  // the reference
}

}  // namespace
}  // namespace kiln::api::testing
