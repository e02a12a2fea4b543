// A plugin that fails in one call after the other: the error names plugin and call, nothing is left behind, and the
// program goes on.
#include <algorithm>

#include "program.h"

extern "C" {  // what nvcc's host code calls
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device_function, const char* name, int thread_limit,
                            uint3* thread, uint3* block, dim3* block_extents, dim3* grid_extents, int* warp_size);
}

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;

enum class Stage { kAdding, kBuilding, kLoading, kAttaching, kRunning };
struct Failure {
  const char* name;
  Stage stage;
  const char* call;
};
void PrintTo(const Failure& failure, std::ostream* to) { *to << failure.name; }

constexpr Failure kFailures[] = {
    {"AddingClone", Stage::kAdding, "clone"},
    {"AddingGetOutputShapes", Stage::kAdding, "getOutputShapes"},
    {"AddingGetOutputDataTypes", Stage::kAdding, "getOutputDataTypes"},
    {"BuildingSupportsFormatCombination", Stage::kBuilding, "supportsFormatCombination"},
    {"BuildingClone", Stage::kBuilding, "clone"},
    {"BuildingConfigurePlugin", Stage::kBuilding, "configurePlugin"},
    {"BuildingGetValidTactics", Stage::kBuilding, "getValidTactics"},
    {"BuildingAttachToContext", Stage::kBuilding, "attachToContext"},
    {"BuildingSetTactic", Stage::kBuilding, "setTactic"},
    {"BuildingOnShapeChange", Stage::kBuilding, "onShapeChange"},
    {"BuildingEnqueue", Stage::kBuilding, "enqueue"},
    {"LoadingCreatePlugin", Stage::kLoading, "createPlugin"},
    {"AttachingAttachToContext", Stage::kAttaching, "attachToContext"},
    {"AttachingSetTactic", Stage::kAttaching, "setTactic"},
    {"RunningOnShapeChange", Stage::kRunning, "onShapeChange"},
    {"RunningEnqueue", Stage::kRunning, "enqueue"},
};

class FailingCalls : public PromiseTable<Failure> {
 protected:
  /// Goes through the stages until one fails.
  Stage last_stage() {
    if (!input_) input_ = p.input("x", {2});
    if (!layer_) {
      if (!(layer_ = p.add({input_}))) return Stage::kAdding;
      p.mark(layer_->getOutput(0));
    }
    plan_ = p.build();
    if (!plan_) return Stage::kBuilding;
    return load_and_run();
  }
  Stage load_and_run() {
    Loaded loaded(p.logger, *plan_);
    if (!loaded.engine) return Stage::kLoading;
    if (!loaded.context) return Stage::kAttaching;
    loaded.set("x", x), loaded.set("y", y);
    return loaded.run() ? kDone : Stage::kRunning;
  }
  static constexpr Stage kDone{99};

  Program p{{.tactics = {1, 2}}};
  Floats x{1, 2}, y{0, 0};

 private:
  nv::ITensor* input_ = nullptr;
  nv::IPluginV3Layer* layer_ = nullptr;
  std::unique_ptr<nv::IHostMemory> plan_;
};

TEST_P(FailingCalls, AreErrorsOfTheirStage) {
  const Failure& failure = GetParam();
  if (failure.stage != Stage::kAdding) {
    ASSERT_EQ(last_stage(), kDone) << p.logger.take_errors();
  }
  const int alive = p.journal.alive();
  p.behaviour.fails_in = failure.call;
  p.logger.take_errors();
  EXPECT_EQ(failure.stage < Stage::kLoading ? last_stage() : load_and_run(), failure.stage);
  const std::string identity = "plugin 'Recorded' version '1'";
  EXPECT_TRUE(std::ranges::any_of(p.logger.errors, [&](const std::string& line) {
    return has(line, identity) && has(line, failure.call);
  })) << p.logger.take_errors();
  EXPECT_EQ(p.journal.alive(), alive) << "copies that are left";
  p.behaviour.fails_in.clear();
  EXPECT_EQ(last_stage(), kDone) << "the program goes on: " << p.logger.take_errors();
  EXPECT_EQ(y, x);
}
INSTANTIATE_TEST_SUITE_P(Promises, FailingCalls, ::testing::ValuesIn(kFailures),
                         [](const auto& info) { return row_name(info); });

/// Answers that break a rule.
struct Answer {
  const char* name;
  Behaviour behaviour;
  const char* words;
};
void PrintTo(const Answer& answer, std::ostream* to) { *to << answer.name; }

Behaviour changed(void (*change)(Behaviour&)) {
  Behaviour behaviour;
  change(behaviour);
  return behaviour;
}

const Answer kAnswers[] = {
    {"NoOutputs", changed([](Behaviour& b) { b.num_outputs = 0; }), "getNbOutputs returned 0; 1 is the least"},
    {"TooManyOutputs", changed([](Behaviour& b) { b.num_outputs = 10'001; }),
     "getNbOutputs returned 10001; 1 is the least, 10000 the most"},
    {"TooManyTactics", changed([](Behaviour& b) { b.tactics.assign(10'001, 1); }),
     "getNbTactics returned 10001; 0 to 10000 are possible"},
    {"NoName", changed([](Behaviour& b) { b.name = ""; }), "getPluginName returned no name"},
    {"NullName", changed([](Behaviour& b) { b.lacks_name = true; }), "the plugin: getPluginName returned no name"},
    {"NullVersion", changed([](Behaviour& b) { b.lacks_version = true; }),
     "plugin 'Recorded': getPluginVersion returned null"},
    {"TacticZero", changed([](Behaviour& b) { b.tactics = {0}; }), "getValidTactics gave tactic 0; they are above 0"},
    {"NegativeTactic", changed([](Behaviour& b) {
       b.tactics = {3, -1};
     }),
     "getValidTactics gave tactic -1"},
    {"NoCombinations", changed([](Behaviour& b) { b.limit = 0; }), "getFormatCombinationLimit returned 0"},
    {"HugeWorkspace", changed([](Behaviour& b) { b.workspace_bytes = SIZE_MAX; }), "getWorkspaceSize returned 1844"},
    {"NoFormat", changed([](Behaviour& b) { b.takes = [](auto...) { return false; }; }),
     "supports no combination of formats for its types (f32 -> f32)"},
    {"UnknownType", changed([](Behaviour& b) { b.type = [](auto...) { return nv::DataType{77}; }; }),
     "plugin 'Recorded' version '1': getOutputDataTypes: DataType(77) is "},
    {"TooManyAxes", changed([](Behaviour& b) { b.shapes = [](auto*, auto*, auto* out, auto&) { out->nbDims = 9; }; }),
     "plugin 'Recorded' version '1': getOutputShapes: output 0 would have 9 dimensions; at most 8 are possible"},
    {"NoExtent", changed([](Behaviour& b) {
       b.shapes = [](auto*, auto*, auto* out, auto&) { out->nbDims = 1, out->d[0] = nullptr; };
     }),
     "plugin 'Recorded' version '1': getOutputShapes: dimension 0 of output 0 has no expression"},
    {"NegativeExtent", changed([](Behaviour& b) {
       b.shapes = [](auto*, auto*, auto* out, auto& e) { out->nbDims = 1, out->d[0] = e.constant(-2); };
     }),
     "with a negative extent in axis 0"},
    {"ForgottenOutput", changed([](Behaviour& b) {
       b.num_outputs = 2, b.shapes = [](auto* in, auto*, auto* out, auto&) { out[0] = in[0]; };
     }),
     "plugin 'Recorded' version '1': getOutputShapes: output 1 would have -1 dimensions"},
    {"OptimumAboveTheUpperBound", changed([](Behaviour& b) {
       b.num_outputs = 2, b.shapes = [](auto* in, auto*, auto* out, auto& e) {
         out[0].nbDims = 1, out[0].d[0] = e.declareSizeTensor(1, *e.constant(3), *in[0].d[0]);
         out[1].nbDims = 0;
       };
     }),
     "plugin 'Recorded' version '1': getOutputShapes: declareSizeTensor: output 1: the optimum 3 is above the upper "
     "bound 2"},
    {"FieldWithoutData", changed([](Behaviour& b) {
       b.fields = {{"f", nv::PluginFieldType::kINT32, 3, {}}};
     }),
     "plugin 'Recorded' version '1': getFieldsToSerialize: field 'f' has 3 elements, and no data"},
    {"FieldOfNegativeLength", changed([](Behaviour& b) {
       b.fields = {{"f", nv::PluginFieldType::kINT8, -1, {std::byte{1}}}};
     }),
     "plugin 'Recorded' version '1': getFieldsToSerialize: field 'f' has length -1"},
};

class WrongAnswers : public PromiseTable<Answer> {};
TEST_P(WrongAnswers, AreErrorsInWords) {
  Program p(GetParam().behaviour);
  EXPECT_FALSE(p.chain({2}) && p.build());
  const std::string text = p.logger.take_errors();
  EXPECT_TRUE(has(text, GetParam().words)) << text;
  p.network.reset();
  EXPECT_EQ(p.journal.alive(), 0);
}
INSTANTIATE_TEST_SUITE_P(Promises, WrongAnswers, ::testing::ValuesIn(kAnswers),
                         [](const auto& info) { return row_name(info); });

TEST_F(Promises, APluginOfAPlanHasTheNameThatItWasBuiltWith) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto plan = p.build();
  ASSERT_TRUE(plan) << p.logger.take_errors();
  const int alive = p.journal.alive();
  for (const auto& [change, words] :
       {std::pair{changed([](Behaviour& b) { b.name = "Other"; }),
                  "the creator of plugin 'Recorded' version '1' makes plugin 'Other' "
                  "version '1'"},
        std::pair{changed([](Behaviour& b) { b.version = "2"; }),
                  "the creator of plugin 'Recorded' version '1' makes plugin 'Recorded' "
                  "version '2'"},
        std::pair{changed([](Behaviour& b) { b.lacks_name = true; }), "the plugin: getPluginName returned no name"},
        std::pair{changed([](Behaviour& b) { b.lacks_version = true; }),
                  "plugin 'Recorded': getPluginVersion returned null"}}) {
    p.behaviour = change;
    EXPECT_FALSE(Loaded(p.logger, *plan).engine);
    const std::string text = p.logger.take_errors();
    EXPECT_TRUE(has(text, "step 'layer': ") && has(text, words)) << text;
    EXPECT_EQ(p.journal.alive(), alive) << "copies that are left";
  }
  p.behaviour = {};
  EXPECT_TRUE(Loaded(p.logger, *plan).engine) << p.logger.take_errors();
}

TEST_F(Promises, AMissingCreatorIsNamedWithVersionAndNamespace) {
  Behaviour behaviour;
  behaviour.version = "7", behaviour.space = "mine";
  std::unique_ptr<nv::IHostMemory> plan;
  {
    Program p(behaviour);
    ASSERT_TRUE(p.chain({2})) << p.logger.take_errors();
    plan = p.build();
    ASSERT_TRUE(plan) << p.logger.take_errors();
  }
  Logger logger;
  const Loaded loaded(logger, *plan);
  EXPECT_FALSE(loaded.engine);
  const std::string text = logger.take_errors();
  EXPECT_TRUE(has(text, "no creator of plugin 'Recorded' version '7' of namespace 'mine' is registered")) << text;
}

TEST_F(Promises, ARunThatFailedIsFollowedByOneThatWorks) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{1, 2}, y(2);
  loaded->set("x", x), loaded->set("y", y);
  for (int i = 0; i < 3; ++i) {
    p.behaviour.fails_in = "enqueue";
    EXPECT_FALSE(loaded->run());
    EXPECT_TRUE(has(p.logger.take_errors(), "plugin 'Recorded' version '1': enqueue returned 27"));
    p.behaviour.fails_in.clear();
    EXPECT_TRUE(loaded->run());
    EXPECT_EQ(y, x);
  }
}

TEST_F(Promises, ARunThatFailedIsToldByTheCallThatBeganIt) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{1, 2}, y(2);
  loaded->set("x", x), loaded->set("y", y);
  p.behaviour.fails_in = "enqueue";
  EXPECT_FALSE(loaded->run());
  EXPECT_TRUE(p.logger.take_errors().starts_with("IExecutionContext::enqueueV3: step 'layer'"));
  void* bindings[] = {x.data(), y.data()};
  EXPECT_FALSE(loaded->context->executeV2(bindings));
  const std::string text = p.logger.take_errors();
  EXPECT_TRUE(text.starts_with("IExecutionContext::executeV2: step 'layer'")) << text;
}

TEST_F(Promises, ShapesThatThePluginRefusedAreToldAgain) {
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{1, 2}, y(2);
  loaded->set("x", x), loaded->set("y", y);
  p.behaviour.fails_in = "onShapeChange";
  EXPECT_FALSE(loaded->run());
  p.behaviour.fails_in.clear();
  p.journal.clear();
  EXPECT_TRUE(loaded->run());
  EXPECT_EQ(p.journal.count("onShapeChange"), 1);
}

TEST_F(Promises, ASearchThatEndedIsInTheVerboseLog) {
  Program p;
  p.behaviour.takes = [](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in) {
    const auto is_linear = [](const auto& tensor) { return tensor.desc.format == nv::TensorFormat::kLINEAR; };
    return position < num_in || std::all_of(tensors, tensors + position + 1, is_linear);
  };
  std::vector<nv::ITensor*> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(p.input(("x" + std::to_string(i)).c_str(), {1, 2, 2, 2}));
  nv::IPluginV3Layer* layer = p.add(inputs);
  ASSERT_TRUE(layer);
  p.mark(layer->getOutput(0));
  ASSERT_TRUE(p.build()) << p.logger.take_errors();
  EXPECT_TRUE(
      p.logger.says("the search for combinations of formats ended after 20000 calls of "
                    "supportsFormatCombination, with 1 found"));
}

/// A kernel as nvcc registers one.
class Kernel {
 public:
  Kernel() {
    char name[] = "kernel";
    __cudaRegisterFunction(handle_, static_cast<const char*>(stub()), name, name, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Kernel() { __cudaUnregisterFatBinary(handle_); }
  static const void* stub() {
    static const char place = 0;
    return &place;
  }

 private:
  int wrapper_[6] = {};
  void** handle_ = __cudaRegisterFatBinary(wrapper_);
};

TEST_F(Promises, AKernelOnTheCpuIsAnErrorThatSaysSo) {
  const Kernel kernel;
  Program p;
  ASSERT_TRUE(p.chain({2}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats x{1, 2}, y(2);
  loaded->set("x", x), loaded->set("y", y);
  for (const int32_t answer : {0, 1}) {  // many plugins look at no error of a launch
    p.behaviour.run = [&](const Enqueue& run) {
      EXPECT_EQ(cudaLaunchKernel(Kernel::stub(), 1, 1, nullptr, 0, run.stream), cudaErrorNoDevice);
      return answer;
    };
    EXPECT_FALSE(loaded->run());
    EXPECT_TRUE(has(p.logger.take_errors(),
                    "enqueue launched a CUDA kernel, which cannot run because the engine runs on the CPU"));
  }
  cudaGetLastError();
  p.behaviour.run = nullptr;
  EXPECT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, x);
}

}  // namespace
}  // namespace kiln::promises
