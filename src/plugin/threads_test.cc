// A registry and its parent, used by eight threads at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "plugin/registry.h"

namespace kiln::plugin {
namespace {

class Creator final : public nvinfer1::IPluginCreatorV3One {
 public:
  explicit Creator(std::string name) : name_(std::move(name)) {}
  nvinfer1::IPluginV3* createPlugin(nvinfer1::AsciiChar const*, nvinfer1::PluginFieldCollection const*,
                                    nvinfer1::TensorRTPhase) noexcept override {
    return nullptr;
  }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  nvinfer1::AsciiChar const* getPluginName() const noexcept override { return name_.c_str(); }
  nvinfer1::AsciiChar const* getPluginVersion() const noexcept override { return "1"; }
  nvinfer1::AsciiChar const* getPluginNamespace() const noexcept override { return ""; }

 private:
  std::string name_;
};

class Resource final : public nvinfer1::IPluginResource {
 public:
  explicit Resource(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~Resource() noexcept override { --alive_; }
  int32_t release() noexcept override { return 0; }
  IPluginResource* clone() noexcept override { return new Resource(alive_); }

 private:
  std::atomic<int>& alive_;
};

TEST(Registry, ServesEightThreads) {
  Registry parent, child(&parent);
  std::atomic<int> alive = 0, failures = 0;
  Resource original(alive);
  const auto work = [&](int index) {
    Creator mine("Mine" + std::to_string(index)), shared("Shared");
    for (int i = 0; i < 300; ++i) {
      Registry& registry = i % 2 ? child : parent;
      failures += !registry.registerCreator(mine, "");
      failures += child.getCreator(mine.getPluginName(), "1", "") != &mine;
      if (registry.registerCreator(shared, "")) failures += !registry.deregisterCreator(shared);
      int32_t count = 0;
      const auto* list = child.getAllCreatorsRecursive(&count);
      failures += std::find(list, list + count, &mine) == list + count;
      failures += child.acquirePluginResource("key", &original) == nullptr;
      failures += !registry.deregisterCreator(mine);
      failures += child.releasePluginResource("key") != 0;
      child.setParentSearchEnabled(true);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(alive, 1);
  int32_t count = -1;
  EXPECT_EQ(child.getAllCreatorsRecursive(&count), nullptr);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace kiln::plugin
