// A program that chooses tactics itself: it reads the log of a build, changes the cache, builds again and reads the
// inspector.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

/// Keeps verbose lines.
class Listener final : public nv::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity == Severity::kVERBOSE) lines.emplace_back(message);
    if (severity <= Severity::kERROR) errors += std::string(message) + "\n";
  }
  std::vector<std::string> lines;
  std::string errors;
};

struct Row {
  std::string kernel;
  uint64_t tactic = 0;
};
struct Autotuned {
  std::string key;
  std::vector<Row> rows;
  uint64_t selected = 0;
};

/// Finds an op by the patterns that such programs have: fields end at commas and brackets.
std::optional<Autotuned> find_op(const std::vector<std::string>& lines, const std::string& op) {
  Autotuned found;
  size_t i = 0;
  char text[129], key[129];
  for (; i < lines.size() && found.key.empty(); ++i)
    if (std::sscanf(lines[i].c_str(), "Autotuning op %128[^(](key: %128[^)])", text, key) == 2 && op == text)
      found.key = key;
  while (i < lines.size() && lines[i].find("tactic_id, cost(in ms), cost/fastest_cost") == std::string::npos) ++i;
  for (++i; i < lines.size(); ++i) {
    if (std::sscanf(lines[i].c_str(), " %*d, %*f, %*f, %*f, %128[^,], %128[^,]", text, key) != 2) break;
    found.rows.push_back({text, std::strtoull(key, nullptr, 16)});
  }
  if (i >= lines.size() ||
      std::sscanf(lines[i].c_str(), "The selected tactic is (tactic hash, cost(in ms)):%128[^,]", text) != 1)
    return std::nullopt;
  found.selected = std::strtoull(text, nullptr, 16);
  return found;
}

/// The tactic of the layer whose name begins so.
std::string kernel_of(const nv::ICudaEngine& engine, const std::string& op) {
  const std::unique_ptr<nv::IEngineInspector> inspector(engine.createEngineInspector());
  for (int32_t i = 0; i < engine.getNbLayers(); ++i) {
    const char* line = inspector->getLayerInformation(i, nv::LayerInformationFormat::kONELINE);
    const char *name = std::strstr(line, "Name: "), *kernel = std::strstr(line, "TacticName: ");
    char layer[129], tactic[129];
    if (!name || !kernel || std::sscanf(name + 6, "%128[^,]", layer) != 1 ||
        std::sscanf(kernel + 12, "%128[^,]", tactic) != 1)
      ADD_FAILURE() << line;
    else if (std::string(layer).starts_with(op))
      return tactic;
  }
  return {};
}

nv::TimingCacheKey parse_key(const std::string& text) {
  nv::TimingCacheKey key{};
  EXPECT_EQ(text.size(), 34U) << text;
  for (size_t i = 0; i < 16; ++i) key.data[i] = static_cast<uint8_t>(std::stoi(text.substr(2 + 2 * i, 2), nullptr, 16));
  return key;
}

class EditableTimingCache : public ::testing::Test {
 protected:
  EditableTimingCache()
      : builder(nv::createInferBuilder(listener)),
        network(
            builder->createNetworkV2(1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED))),
        config(builder->createBuilderConfig()),
        runtime(nv::createInferRuntime(listener)) {
    const auto input = [&](const char* name) { return network->addInput(name, nv::DataType::kFLOAT, dims({32, 32})); };
    constexpr auto kNone = nv::MatrixOperation::kNONE;
    nv::IMatrixMultiplyLayer* first = network->addMatrixMultiply(*input("x"), kNone, *input("w1"), kNone);
    nv::ISoftMaxLayer* softmax = network->addSoftMax(*first->getOutput(0));
    nv::IMatrixMultiplyLayer* second = network->addMatrixMultiply(*softmax->getOutput(0), kNone, *input("w2"), kNone);
    first->setName("first");
    softmax->setName("softmax");
    second->setName("second");
    network->markOutput(*second->getOutput(0));
    config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
    config->setFlag(nv::BuilderFlag::kEDITABLE_TIMING_CACHE);
    cache.reset(config->createTimingCache(nullptr, 0));
    EXPECT_TRUE(config->setTimingCache(*cache, true));
  }
  std::unique_ptr<nv::ICudaEngine> build() {
    listener.lines.clear();
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    return std::unique_ptr<nv::ICudaEngine>(plan ? runtime->deserializeCudaEngine(plan->data(), plan->size())
                                                 : nullptr);
  }

  Listener listener;
  std::unique_ptr<nv::IBuilder> builder;
  std::unique_ptr<nv::INetworkDefinition> network;
  std::unique_ptr<nv::IBuilderConfig> config;
  std::unique_ptr<nv::ITimingCache> cache;
  std::unique_ptr<nv::IRuntime> runtime;
};

TEST_F(EditableTimingCache, ChangesTheTacticOfOneLayer) {
  const auto before = build();
  ASSERT_NE(before, nullptr) << listener.errors;
  const auto first = find_op(listener.lines, "first"), second = find_op(listener.lines, "second");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->key, second->key);
  ASSERT_GE(first->rows.size(), 2U);
  const auto is_selected = [&](const Row& row) { return row.tactic == first->selected; };
  const auto selected = std::ranges::find_if(first->rows, is_selected);
  ASSERT_NE(selected, first->rows.end());
  EXPECT_EQ(kernel_of(*before, "first"), selected->kernel);
  EXPECT_EQ(cache->query(parse_key(first->key)).tacticHash, first->selected);

  const Row& other = *std::ranges::find_if_not(first->rows, is_selected);
  ASSERT_TRUE(cache->update(parse_key(first->key), {other.tactic, 1.0F}));
  const auto after = build();
  ASSERT_NE(after, nullptr) << listener.errors;
  EXPECT_EQ(kernel_of(*after, "first"), other.kernel);
  EXPECT_EQ(kernel_of(*after, "second"), kernel_of(*before, "second"));
  EXPECT_EQ(kernel_of(*after, "softmax"), kernel_of(*before, "softmax"));

  ASSERT_TRUE(cache->update(parse_key(first->key), {first->selected, 1.0F}));
  const auto again = build();
  ASSERT_NE(again, nullptr) << listener.errors;
  EXPECT_EQ(kernel_of(*again, "first"), selected->kernel);
}

TEST_F(EditableTimingCache, WhatCannotRunALayerIsAnErrorOfTheBuild) {
  ASSERT_NE(build(), nullptr) << listener.errors;
  const auto first = find_op(listener.lines, "first");
  ASSERT_TRUE(first);
  ASSERT_TRUE(cache->update(parse_key(first->key), {4711, 1.0F}));
  EXPECT_EQ(build(), nullptr);
  EXPECT_NE(listener.errors.find("layer 'first': the timing cache assigns it tactic 0x1267"), std::string::npos)
      << listener.errors;
  ASSERT_TRUE(cache->update(parse_key(first->key), {4711, std::numeric_limits<float>::quiet_NaN()}));  // forget it
  EXPECT_NE(build(), nullptr) << listener.errors;
}

/// Other builds neither write such entries nor heed them.
TEST_F(EditableTimingCache, IsForBuildsThatAskForIt) {
  config->clearFlag(nv::BuilderFlag::kEDITABLE_TIMING_CACHE);
  ASSERT_NE(build(), nullptr) << listener.errors;
  EXPECT_FALSE(find_op(listener.lines, "first"));
  const int64_t plain = cache->queryKeys(nullptr, 0);
  config->setFlag(nv::BuilderFlag::kEDITABLE_TIMING_CACHE);
  ASSERT_NE(build(), nullptr) << listener.errors;
  const auto first = find_op(listener.lines, "first");
  ASSERT_TRUE(first);
  EXPECT_GT(cache->queryKeys(nullptr, 0), plain);
  ASSERT_TRUE(cache->update(parse_key(first->key), {4711, 1.0F}));
  config->clearFlag(nv::BuilderFlag::kEDITABLE_TIMING_CACHE);
  EXPECT_NE(build(), nullptr) << listener.errors;
}

}  // namespace
}  // namespace kiln::api::testing
