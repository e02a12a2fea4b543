// Libraries of plugins inside plans: who may load them, from where, and how long they stay.
#include <NvInfer.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace nv = nvinfer1;

class Logger final : public nv::ILogger {
 public:
  void log(Severity severity, char const* message) noexcept override {
    const std::lock_guard lock(mutex_);
    if (severity <= Severity::kERROR) errors_ += std::string(message) + "\n";
  }
  std::string take_errors() {
    const std::lock_guard lock(mutex_);
    return std::exchange(errors_, "");
  }

 private:
  std::mutex mutex_;
  std::string errors_;
};
Logger g_logger;  // outlives all of the API's objects: the process remembers its first logger

std::string file(const char* name) { return std::string(KILN_PLUGIN_LIBRARIES) + name + ".so"; }

/// How many executable pieces of files with this in their name are mapped.
int num_mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find(name) != line.npos && line.find("r-xp") != line.npos;
  return count;
}
constexpr const char* kFromPlan = "kiln_plugin_library";

/// Neither of the program's registries has the creators of libraries/doubles.cc.
struct PlanLibraries : ::testing::Test {
  PlanLibraries() { g_logger.take_errors(); }
  ~PlanLibraries() override {
    EXPECT_EQ(num_mapped(kFromPlan), 0);
    EXPECT_EQ(num_mapped("doubles.so"), 0);
    EXPECT_EQ(g_logger.take_errors(), "");
  }

  /// What `use` does with a network of one plugin that doubles four floats, its builder and configuration.
  template <class Use>
  static auto with_network(const std::vector<std::string>& libraries, Use use) {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(g_logger));
    nv::IPluginRegistry& registry = builder->getPluginRegistry();
    EXPECT_NE(registry.loadLibrary(file("doubles").c_str()), nullptr);
    auto* creator = static_cast<nv::IPluginCreatorV3One*>(registry.getCreator("Doubles", "1", ""));
    const nv::PluginFieldCollection none{};
    std::unique_ptr<nv::IPluginV3> plugin(creator->createPlugin("p", &none, nv::TensorRTPhase::kBUILD));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims{1, {4}});
    nv::ITensor* y = network->addPluginV3(&x, 1, nullptr, 0, *plugin)->getOutput(0);
    plugin.reset();
    y->setName("y");
    network->markOutput(*y);
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    std::vector<const char*> paths;
    for (const std::string& library : libraries) paths.push_back(library.c_str());
    config->setPluginsToSerialize(paths.data(), static_cast<int32_t>(paths.size()));
    return use(*builder, *network, *config);
  }
  static std::unique_ptr<nv::IHostMemory> plan(const std::vector<std::string>& libraries) {
    return with_network(libraries, [](auto& builder, auto& network, auto& config) {
      return std::unique_ptr<nv::IHostMemory>(builder.buildSerializedNetwork(network, config));
    });
  }
  static std::unique_ptr<nv::IRuntime> trusting_runtime() {
    std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(g_logger));
    runtime->setEngineHostCodeAllowed(true);
    return runtime;
  }
  static std::unique_ptr<nv::ICudaEngine> load(nv::IRuntime& runtime, const nv::IHostMemory& plan) {
    return std::unique_ptr<nv::ICudaEngine>(runtime.deserializeCudaEngine(plan.data(), plan.size()));
  }
  static void expect_doubles(nv::IExecutionContext& context) {
    float x[] = {1, -2, 3, 0.5}, y[4] = {};
    EXPECT_TRUE(context.setTensorAddress("x", x));
    EXPECT_TRUE(context.setTensorAddress("y", y));
    ASSERT_TRUE(context.enqueueV3(nullptr));
    ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], 2 * x[i]);
  }
  static void expect_doubles(nv::ICudaEngine& engine) {
    const std::unique_ptr<nv::IExecutionContext> context(engine.createExecutionContext());
    expect_doubles(*context);
  }
};

TEST_F(PlanLibraries, LoadWhereTheRuntimeAllowsIt) {
  const auto bytes = plan({file("doubles")});
  ASSERT_TRUE(bytes) << g_logger.take_errors();
  EXPECT_EQ(num_mapped("doubles.so"), 0);  // with the builder
  const auto runtime = trusting_runtime();
  const auto engine = load(*runtime, *bytes);
  ASSERT_TRUE(engine) << g_logger.take_errors();
  EXPECT_EQ(num_mapped(kFromPlan), 1);
  EXPECT_EQ(runtime->getPluginRegistry().getCreator("Doubles", "1", ""), nullptr);
  expect_doubles(*engine);
}

TEST_F(PlanLibraries, AreRefusedByDefault) {
  const auto bytes = plan({file("doubles")});
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(g_logger));
  EXPECT_EQ(load(*runtime, *bytes), nullptr);
  EXPECT_EQ(g_logger.take_errors(),
            "IRuntime::deserializeCudaEngine: the plan holds plugin libraries ('" + file("doubles") +
                "'), whose code would run in this process: if you trust the plan, call "
                "IRuntime::setEngineHostCodeAllowed(true) first (trtexec --versionCompatible)\n");
  // Also where the program has the creators.
  EXPECT_NE(runtime->getPluginRegistry().loadLibrary(file("doubles").c_str()), nullptr);
  EXPECT_EQ(load(*runtime, *bytes), nullptr);
  EXPECT_NE(g_logger.take_errors(), "");
}

TEST_F(PlanLibraries, WithoutThemACreatorIsMissing) {
  const auto bytes = plan({});
  const auto runtime = trusting_runtime();
  EXPECT_EQ(load(*runtime, *bytes), nullptr);
  EXPECT_NE(g_logger.take_errors().find("no creator of plugin 'Doubles' version '1'"), std::string::npos);
}

TEST_F(PlanLibraries, StayUntilTheLastContextIsGone) {
  const auto bytes = plan({file("doubles")});
  auto runtime = trusting_runtime();
  auto engine = load(*runtime, *bytes);
  runtime.reset();
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  engine.reset();
  EXPECT_EQ(num_mapped(kFromPlan), 1);
  expect_doubles(*context);
}

TEST_F(PlanLibraries, AreSharedByEnginesAndThreads) {
  const auto bytes = plan({file("doubles")});
  const auto runtime = trusting_runtime();
  std::vector<std::unique_ptr<nv::ICudaEngine>> engines(8);
  std::vector<std::thread> threads;
  for (auto& engine : engines) threads.emplace_back([&] { engine = load(*runtime, *bytes); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_mapped(kFromPlan), 1);
  for (auto& engine : engines) {
    ASSERT_TRUE(engine);
    expect_doubles(*engine);
    engine.reset();
  }
  EXPECT_EQ(num_mapped(kFromPlan), 0);
  const auto again = load(*runtime, *bytes);
  ASSERT_TRUE(again);
  expect_doubles(*again);
}

TEST_F(PlanLibraries, ComeFromTheFilesThatAreAllowed) {
  const auto bytes = plan({file("doubles")});
  const fs::path folder = fs::path(::testing::TempDir()) / "plan_libraries";
  fs::create_directories(folder);
  const auto runtime = trusting_runtime();
  runtime->setTemporaryDirectory(folder.c_str());
  runtime->setTempfileControlFlags(1U << static_cast<int>(nv::TempfileControlFlag::kALLOW_TEMPORARY_FILES));
  auto engine = load(*runtime, *bytes);
  ASSERT_TRUE(engine) << g_logger.take_errors();
  EXPECT_EQ(num_mapped(folder), 1);
  EXPECT_TRUE(fs::is_empty(folder));  // nothing is left, whatever becomes of the process
  expect_doubles(*engine);
  engine.reset();
  EXPECT_EQ(num_mapped(folder), 0);

  runtime->setTemporaryDirectory((folder / "missing").c_str());
  EXPECT_EQ(load(*runtime, *bytes), nullptr);
  const std::string told = g_logger.take_errors();
  EXPECT_NE(told.find("plugin library '" + file("doubles") + "' of the plan: " + (folder / "missing").string()),
            std::string::npos)
      << told;
  EXPECT_NE(told.find("No such file or directory"), std::string::npos) << told;

  runtime->setTempfileControlFlags(0);
  EXPECT_EQ(load(*runtime, *bytes), nullptr);
  EXPECT_NE(g_logger.take_errors().find("setTempfileControlFlags allows neither files in memory nor temporary ones"),
            std::string::npos);
}

TEST_F(PlanLibraries, GoBeforeCreatorsOfTheProgram) {
  const auto bytes = plan({file("doubles")});
  struct Other final : nv::IPluginCreatorV3One {
    nv::IPluginV3* createPlugin(char const*, nv::PluginFieldCollection const*, nv::TensorRTPhase) noexcept override {
      return nullptr;
    }
    nv::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
    char const* getPluginName() const noexcept override { return "Doubles"; }
    char const* getPluginVersion() const noexcept override { return "1"; }
    char const* getPluginNamespace() const noexcept override { return ""; }
  } other;
  const auto runtime = trusting_runtime();
  ASSERT_TRUE(runtime->getPluginRegistry().registerCreator(other, ""));
  const auto engine = load(*runtime, *bytes);
  ASSERT_TRUE(engine) << g_logger.take_errors();
  expect_doubles(*engine);
}

TEST_F(PlanLibraries, AreInThePlanOfTheirEngine) {
  const auto bytes = plan({file("doubles")});
  const auto runtime = trusting_runtime();
  const std::unique_ptr<nv::IHostMemory> again(load(*runtime, *bytes)->serialize());
  ASSERT_EQ(again->size(), bytes->size());
  EXPECT_EQ(std::memcmp(again->data(), bytes->data(), bytes->size()), 0);
}

TEST_F(PlanLibraries, AnEngineOfTheBuilderUsesTheCreatorsThatItHas) {
  const auto engine = with_network({file("doubles")}, [](auto& builder, auto& network, auto& config) {
    return std::unique_ptr<nv::ICudaEngine>(builder.buildEngineWithConfig(network, config));
  });
  ASSERT_TRUE(engine) << g_logger.take_errors();
  EXPECT_EQ(num_mapped(kFromPlan), 0);
  EXPECT_EQ(num_mapped("doubles.so"), 1);  // though the builder is gone, whose registry loaded it
  expect_doubles(*engine);
}

TEST_F(PlanLibraries, EnginesKeepTheLibraryThatTheirRuntimeLoaded) {
  const auto bytes = plan({});
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(g_logger));
  void* handle = runtime->getPluginRegistry().loadLibrary(file("doubles").c_str());
  auto engine = load(*runtime, *bytes);
  ASSERT_TRUE(engine) << g_logger.take_errors();
  runtime->getPluginRegistry().deregisterLibrary(handle);
  runtime.reset();
  EXPECT_EQ(num_mapped("doubles.so"), 1);
  expect_doubles(*engine);
}

/// The error of a build with these libraries.
std::string error_of(const std::vector<std::string>& libraries) {
  EXPECT_EQ(PlanLibraries::plan(libraries), nullptr);
  return g_logger.take_errors();
}

TEST_F(PlanLibraries, ABuildRefusesWhatNoRuntimeCouldLoad) {
  const std::string call = "IBuilder::buildSerializedNetwork: setPluginsToSerialize: ";
  EXPECT_EQ(error_of({"/no/such/library.so"}),
            call + "'/no/such/library.so': library '/no/such/library.so': No such file or directory\n");
  const std::string text = ::testing::TempDir() + "no_library.so";
  std::ofstream(text) << "This is no library, though its name says so. It is longer than the header of one.";
  EXPECT_NE(error_of({text}).find("'" + text + "': it is no shared library"), std::string::npos);
  EXPECT_NE(error_of({file("doubles"), file("no_entry")}).find("it exports neither getCreators nor getPluginCreators"),
            std::string::npos);
  ::setenv("KILN_TEST_NO_LICENCE", "1", 1);
  EXPECT_NE(error_of({file("throws_when_loaded")}).find("its initialiser threw: no licence"), std::string::npos);
  ::unsetenv("KILN_TEST_NO_LICENCE");
  const std::string again = ::testing::TempDir() + "brings_doubles_again.so";
  fs::copy_file(file("doubles"), again, fs::copy_options::overwrite_existing);
  EXPECT_EQ(error_of({file("doubles"), again}), call + "'" + again + "': it brings plugin 'Doubles' version '1', as '" +
                                                    file("doubles") + "' does; one library of a plan may bring it\n");
  const auto bytes = plan({file("doubles"), file("doubles")});
  EXPECT_TRUE(bytes);
  EXPECT_EQ(g_logger.take_errors(), "IBuilderConfig::setPluginsToSerialize: '" + file("doubles") + "' stands twice\n");
}

}  // namespace
