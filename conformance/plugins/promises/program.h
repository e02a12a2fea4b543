/// A program that adds recorded plugins to networks, and builds, loads and runs them. Through the public API alone.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <initializer_list>
#include <map>
#include <thread>

#include "recorded.h"

namespace kiln::promises {

struct Logger final : nv::ILogger {
  mutable std::mutex mutex;  // contexts are made by several threads
  std::vector<std::string> errors, warnings, all;
  void log(Severity severity, const char* line) noexcept override {
    const std::lock_guard lock(mutex);
    if (severity <= Severity::kERROR) errors.emplace_back(line);
    if (severity == Severity::kWARNING) warnings.emplace_back(line);
    all.emplace_back(line);
  }
  /// All errors since the last call.
  std::string take_errors() {
    const std::lock_guard lock(mutex);
    std::string result;
    for (const std::string& line : errors) result += line + "\n";
    errors.clear();
    return result;
  }
  bool says(const std::string& part) const {
    const std::lock_guard lock(mutex);
    for (const std::string& line : all)
      if (line.find(part) != line.npos) return true;
    return false;
  }
};

inline nv::Dims dims(std::initializer_list<int64_t> extents) {
  nv::Dims result{static_cast<int32_t>(extents.size()), {}};
  std::copy(extents.begin(), extents.end(), result.d);
  return result;
}

/// A plan loaded, with one context. Tensors are in the host's memory.
struct Loaded {
  Loaded(Logger& logger, const nv::IHostMemory& plan) : logger(logger), runtime(nv::createInferRuntime(logger)) {
    engine.reset(runtime->deserializeCudaEngine(plan.data(), plan.size()));
    if (engine) context.reset(engine->createExecutionContext());
  }
  template <class T>
  void set(const char* name, std::vector<T>& values) {
    EXPECT_TRUE(context->setTensorAddress(name, values.data())) << logger.take_errors();
  }
  bool run() { return context->enqueueV3(nullptr) && cudaStreamSynchronize(nullptr) == cudaSuccess; }

  Logger& logger;
  std::unique_ptr<nv::IRuntime> runtime;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

/// A network, with one kind of plugin and its creator.
struct Program {
  explicit Program(Behaviour chosen = {}) : behaviour(std::move(chosen)), creator(behaviour, journal) {
    config->setBuilderOptimizationLevel(3);  // which times what can be chosen
  }
  nv::ITensor* input(const char* name, std::initializer_list<int64_t> extents,
                     nv::DataType type = nv::DataType::kFLOAT) {
    return network->addInput(name, type, dims(extents));
  }
  /// A plugin of the program's, which the program deletes at once.
  nv::IPluginV3Layer* add(std::vector<nv::ITensor*> inputs, std::vector<nv::ITensor*> shapes = {}) {
    Recorded plugin(behaviour, journal);
    nv::IPluginV3Layer* layer = network->addPluginV3(inputs.data(), static_cast<int32_t>(inputs.size()), shapes.data(),
                                                     static_cast<int32_t>(shapes.size()), plugin);
    if (layer) layer->setName("layer");
    return layer;
  }
  void mark(nv::ITensor* tensor, const char* name = "y") {
    tensor->setName(name);
    network->markOutput(*tensor);
  }
  /// x -> plugin -> y.
  nv::IPluginV3Layer* chain(std::initializer_list<int64_t> extents, nv::DataType type = nv::DataType::kFLOAT) {
    nv::IPluginV3Layer* layer = add({input("x", extents, type)});
    if (layer) mark(layer->getOutput(0));
    return layer;
  }
  void profile(const char* name, std::initializer_list<int64_t> least, std::initializer_list<int64_t> best,
               std::initializer_list<int64_t> most) {
    nv::IOptimizationProfile* made = builder->createOptimizationProfile();
    made->setDimensions(name, nv::OptProfileSelector::kMIN, dims(least));
    made->setDimensions(name, nv::OptProfileSelector::kOPT, dims(best));
    made->setDimensions(name, nv::OptProfileSelector::kMAX, dims(most));
    config->addOptimizationProfile(made);
  }
  std::unique_ptr<nv::IHostMemory> build() {
    return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
  }
  /// The plan's bytes.
  std::string plan() {
    const auto built = build();
    return built ? std::string(static_cast<const char*>(built->data()), built->size()) : "";
  }
  /// Builds and loads; null, with a failure of the test, where that fails.
  std::unique_ptr<Loaded> load() {
    const auto built = build();
    EXPECT_TRUE(built) << logger.take_errors();
    if (!built) return nullptr;
    auto loaded = std::make_unique<Loaded>(logger, *built);
    EXPECT_TRUE(loaded->context) << logger.take_errors();
    return loaded->context ? std::move(loaded) : nullptr;
  }

  Behaviour behaviour;
  Journal journal;
  RecordedCreator creator;
  Logger logger;
  std::unique_ptr<nv::IBuilder> builder{nv::createInferBuilder(logger)};
  std::unique_ptr<nv::INetworkDefinition> network{builder->createNetworkV2(0)};
  std::unique_ptr<nv::IBuilderConfig> config{builder->createBuilderConfig()};
};

/// Five runs of each of eight contexts on each of eight threads, of an engine whose plugin adds to its one element the
/// number of runs before. Returns how many were right, of 320.
inline int right_runs_of_64_contexts(nv::ICudaEngine& engine) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<nv::IExecutionContext>> contexts;
      for (int c = 0; c < 8; ++c) contexts.emplace_back(engine.createExecutionContext());
      for (int run = 0; run < 5; ++run)
        for (int c = 0; c < 8; ++c) {
          float x = static_cast<float>(10 * t + 100 * c), y = 0;
          void* bindings[] = {&x, &y};
          if (contexts[static_cast<size_t>(c)]->executeV2(bindings) && y == x + static_cast<float>(run)) ++right;
        }
    });
  for (std::thread& thread : threads) thread.join();
  return right;
}

/// Makes a context whose plugin, while it is attached, waits until another thread has a context of the same engine:
/// for twenty seconds at most. `attach` is what the plugin does then. Returns whether the other context came.
bool attaching_can_wait(nv::ICudaEngine& engine, auto& attach) {
  std::promise<void> made;
  std::future<void> is_made = made.get_future();
  std::atomic<int> num_attached = 0;
  bool came = false;
  std::thread other;
  attach = [&](auto...) {
    if (num_attached++ > 0) return;
    other = std::thread([&] {
      if (const std::unique_ptr<nv::IExecutionContext> context(engine.createExecutionContext()); context)
        made.set_value();
    });
    came = is_made.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  };
  const std::unique_ptr<nv::IExecutionContext> context(engine.createExecutionContext());
  if (other.joinable()) other.join();
  attach = nullptr;
  return context && came;
}

/// The plugins here compute on the host, whose memory that of a GPU is not, but that of the stand-in for its driver is.
inline bool runs_on_gpu() {
  const char* device = std::getenv("KILN_DEVICE");
  return device && std::string(device) == "cuda" && !std::getenv("KILN_TEST_STAND_IN");
}
class Promises : public testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
};
template <class Row>
class PromiseTable : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (runs_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
};
/// The name of a row's test.
inline std::string row_name(const auto& info) { return info.param.name; }

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace kiln::promises
