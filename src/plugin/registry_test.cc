#include "plugin/registry.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln::plugin {
namespace {

class Logger final : public nvinfer1::ILogger {
 public:
  void log(Severity, nvinfer1::AsciiChar const* message) noexcept override { last = message; }
  std::string last;
};

class Creator final : public nvinfer1::IPluginCreatorV3One {
 public:
  explicit Creator(const char* name) : name_(name) {}
  nvinfer1::IPluginV3* createPlugin(nvinfer1::AsciiChar const*, nvinfer1::PluginFieldCollection const*,
                                    nvinfer1::TensorRTPhase) noexcept override {
    return nullptr;
  }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  nvinfer1::AsciiChar const* getPluginName() const noexcept override { return name_; }
  nvinfer1::AsciiChar const* getPluginVersion() const noexcept override { return "1"; }
  nvinfer1::AsciiChar const* getPluginNamespace() const noexcept override { return ""; }

 private:
  const char* name_;
};

class OldCreator final : public nvinfer1::IPluginCreator {
 public:
  nvinfer1::AsciiChar const* getPluginName() const noexcept override { return "Old"; }
  nvinfer1::AsciiChar const* getPluginVersion() const noexcept override { return "2"; }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  nvinfer1::IPluginV2* createPlugin(nvinfer1::AsciiChar const*,
                                    nvinfer1::PluginFieldCollection const*) noexcept override {
    return nullptr;
  }
  nvinfer1::IPluginV2* deserializePlugin(nvinfer1::AsciiChar const*, void const*, size_t) noexcept override {
    return nullptr;
  }
  void setPluginNamespace(nvinfer1::AsciiChar const* plugin_namespace) noexcept override {
    namespace_ = plugin_namespace;
  }
  nvinfer1::AsciiChar const* getPluginNamespace() const noexcept override { return namespace_.c_str(); }

 private:
  std::string namespace_;
};

TEST(Registry, FindsCreatorsByNameVersionAndNamespace) {
  Registry registry;
  Creator creator("Blur");
  OldCreator old;
  EXPECT_TRUE(registry.registerCreator(creator, "mine"));
  EXPECT_TRUE(registry.registerCreator(old, "yours"));
  EXPECT_EQ(registry.getCreator("Blur", "1", "mine"), &creator);
  EXPECT_EQ(registry.getCreator("Blur", "1", ""), nullptr);
  EXPECT_EQ(registry.getCreator("Blur", "2", "mine"), nullptr);
  EXPECT_EQ(registry.getPluginCreator("Blur", "1", "mine"), nullptr);  // not of version 2
  EXPECT_EQ(registry.getPluginCreator("Old", "2", "yours"), &old);
  EXPECT_STREQ(old.getPluginNamespace(), "yours");
  int32_t count = 0;
  EXPECT_NE(registry.getAllCreators(&count), nullptr);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(registry.getPluginCreatorList(&count)[0], &old);
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(registry.deregisterCreator(creator));
  EXPECT_FALSE(registry.deregisterCreator(creator));
  EXPECT_EQ(registry.getCreator("Blur", "1", "mine"), nullptr);
}

TEST(Registry, RefusesSecondsAndNulls) {
  Logger logger;
  Registry registry;
  registry.set_logger(&logger);
  Creator first("Blur"), second("Blur"), nameless(nullptr);
  EXPECT_TRUE(registry.registerCreator(first, ""));
  EXPECT_FALSE(registry.registerCreator(second, ""));
  EXPECT_EQ(logger.last,
            "IPluginRegistry::registerCreator: there is a creator of 'Blur' version '1' in namespace '' already");
  EXPECT_FALSE(registry.registerCreator(nameless, ""));
  EXPECT_EQ(registry.getCreator(nullptr, "1", ""), nullptr);
  EXPECT_EQ(registry.loadLibrary("libmine.so"), nullptr);
  EXPECT_EQ(logger.last, "IPluginRegistry::loadLibrary: not in Kiln yet, asked for 'libmine.so'");
}

TEST(Registry, AsksItsParent) {
  Registry parent, child(&parent);
  Creator above("Above"), here("Here");
  EXPECT_TRUE(parent.registerCreator(above, ""));
  EXPECT_TRUE(child.registerCreator(here, ""));
  EXPECT_EQ(child.getCreator("Above", "1", ""), &above);
  EXPECT_EQ(parent.getCreator("Here", "1", ""), nullptr);
  int32_t count = 0;
  child.getAllCreatorsRecursive(&count);
  EXPECT_EQ(count, 2);
  child.setParentSearchEnabled(false);
  EXPECT_EQ(child.getCreator("Above", "1", ""), nullptr);
}

class Resource final : public nvinfer1::IPluginResource {
 public:
  explicit Resource(int* alive) : alive_(alive) { ++*alive_; }
  int32_t release() noexcept override {
    --*alive_;
    delete this;
    return 0;
  }
  nvinfer1::IPluginResource* clone() noexcept override { return new Resource(alive_); }

 private:
  int* alive_;
};

TEST(Registry, KeepsResourcesWhileSomebodyUsesThem) {
  Registry registry;
  int alive = 0;
  auto* original = new Resource(&alive);
  nvinfer1::IPluginResource* shared = registry.acquirePluginResource("key", original);
  EXPECT_NE(shared, original);
  EXPECT_EQ(registry.acquirePluginResource("key", original), shared);
  original->release();
  EXPECT_EQ(registry.releasePluginResource("key"), 0);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(registry.releasePluginResource("key"), 0);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(registry.releasePluginResource("key"), -1);
}

}  // namespace
}  // namespace kiln::plugin
