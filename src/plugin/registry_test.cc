#include "plugin/registry.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace kiln::plugin {
namespace {

class Logger final : public nvinfer1::ILogger {
 public:
  void log(Severity, nvinfer1::AsciiChar const* message) noexcept override { last = message; }
  std::string last;
};

/// Keeps the last error, and does what a test wants done while it is told.
class Recorder final : public nvinfer1::IErrorRecorder {
 public:
  int32_t getNbErrors() const noexcept override { return count; }
  nvinfer1::ErrorCode getErrorCode(int32_t) const noexcept override { return code; }
  ErrorDesc getErrorDesc(int32_t) const noexcept override { return last.c_str(); }
  bool hasOverflowed() const noexcept override { return false; }
  void clear() noexcept override { count = 0; }
  bool reportError(nvinfer1::ErrorCode which, ErrorDesc text) noexcept override {
    ++count, code = which, last = text;
    if (when_told) when_told();
    return true;
  }
  RefCount incRefCount() noexcept override { return ++references; }
  RefCount decRefCount() noexcept override { return --references; }

  int32_t count = 0, references = 0;
  nvinfer1::ErrorCode code{};
  std::string last;
  std::function<void()> when_told;
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
    namespace_ = given = plugin_namespace;
    if (when_named) when_named();
  }
  nvinfer1::AsciiChar const* getPluginNamespace() const noexcept override { return namespace_.c_str(); }
  std::function<void()> when_named;
  nvinfer1::AsciiChar const* given = nullptr;

 private:
  std::string namespace_;
};

TEST(Registry, FindsCreatorsByNameVersionAndNamespace) {
  Registry registry;
  Creator creator("Blur");
  OldCreator old;
  EXPECT_TRUE(registry.registerCreator(creator, "mine"));
  const char* const yours = "yours";
  EXPECT_TRUE(registry.registerCreator(old, yours));
  EXPECT_EQ(old.given, yours);  // creators may keep the pointer
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

/// As before the process has a builder or a runtime, whose logger it is told.
TEST(Registry, TellsStandardErrorWhereNobodyElseIs) {
  const std::string words = "IPluginRegistry::loadLibrary: library '/nope.so': No such file or directory";
  Registry registry;
  const auto said = [&] {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(registry.loadLibrary("/nope.so"), nullptr);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(), words + '\n');
  Recorder recorder;
  registry.setErrorRecorder(&recorder);
  EXPECT_EQ(said(), "");
  EXPECT_EQ(recorder.last, words);
  registry.setErrorRecorder(nullptr);
  Logger logger;
  registry.set_logger(&logger);
  EXPECT_EQ(said(), "");
  EXPECT_EQ(logger.last, words);
}

TEST(Registry, RefusesSecondsAndNulls) {
  Logger logger;
  Registry registry;
  registry.set_logger(&logger);
  Creator first("Blur"), second("Blur"), nameless(nullptr), empty("");
  EXPECT_TRUE(registry.registerCreator(first, ""));
  EXPECT_FALSE(registry.registerCreator(second, ""));
  EXPECT_EQ(logger.last,
            "IPluginRegistry::registerCreator: there is a creator of 'Blur' version '1' in namespace '' already");
  EXPECT_FALSE(registry.registerCreator(nameless, ""));
  EXPECT_EQ(logger.last, "IPluginRegistry::registerCreator: the creator's name is null");
  EXPECT_FALSE(registry.registerCreator(empty, ""));
  EXPECT_EQ(logger.last, "IPluginRegistry::registerCreator: the creator's name is empty");
  EXPECT_EQ(registry.loadLibrary(""), nullptr);
  EXPECT_EQ(logger.last, "IPluginRegistry::loadLibrary: library '': the path is empty");
  EXPECT_FALSE(registry.registerCreator(second, std::string(1024, 'n').c_str()));
  EXPECT_EQ(logger.last,
            "IPluginRegistry::registerCreator: a name, version or namespace of 1024 characters is longer than 1023: '" +
                std::string(32, 'n') + "...'");
  EXPECT_EQ(registry.getCreator("Blur", nullptr, ""), nullptr);
  EXPECT_EQ(logger.last, "IPluginRegistry::getCreator: the version is null");
  EXPECT_FALSE(registry.deregisterCreator(second));
  EXPECT_EQ(logger.last,
            "IPluginRegistry::deregisterCreator: creator 'Blur' version '1' in namespace '' is not registered here");
}

class CreatorOfNoKind final : public nvinfer1::IPluginCreatorInterface {
 public:
  explicit CreatorOfNoKind(const char* kind) : kind_(kind) {}
  nvinfer1::InterfaceInfo getInterfaceInfo() const noexcept override { return {kind_, 1, 0}; }

 private:
  const char* kind_;
};
TEST(Registry, RefusesCreatorsOfNoKind) {
  Logger logger;
  Registry registry;
  registry.set_logger(&logger);
  CreatorOfNoKind null(nullptr), other("PLUGIN CREATOR_V9");
  EXPECT_FALSE(registry.registerCreator(null, ""));
  EXPECT_EQ(logger.last, "IPluginRegistry::registerCreator: the creator's kind '' is not one that Kiln knows");
  EXPECT_FALSE(registry.registerCreator(other, ""));
  EXPECT_EQ(logger.last,
            "IPluginRegistry::registerCreator: the creator's kind 'PLUGIN CREATOR_V9' is not one that Kiln knows");
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

TEST(Registry, EndsWhereParentsFormARing) {
  Registry first, second(&first);
  first.set_parent(&second);
  Creator creator("Above");
  EXPECT_TRUE(first.registerCreator(creator, ""));
  EXPECT_EQ(second.getCreator("Above", "1", ""), &creator);
  EXPECT_EQ(second.getCreator("Nowhere", "1", ""), nullptr);
  int32_t count = 0;
  EXPECT_EQ(second.getAllCreatorsRecursive(&count)[0], &creator);
  EXPECT_EQ(count, 1);
  first.set_parent(&first);
  EXPECT_EQ(first.getCreator("Nowhere", "1", ""), nullptr);
}

TEST(Registry, ListsStayWhenOthersChangeIt) {
  Registry parent, child(&parent);
  int32_t count = 7;
  EXPECT_EQ(child.getAllCreators(&count), nullptr);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(child.getPluginCreatorList(&count), nullptr);
  EXPECT_EQ(child.getAllCreatorsRecursive(&count), nullptr);
  EXPECT_EQ(child.getAllCreators(nullptr), nullptr);
  Creator above("Above"), here("Here");
  EXPECT_TRUE(parent.registerCreator(above, ""));
  EXPECT_TRUE(child.registerCreator(here, ""));
  const auto* list = child.getAllCreators(&count);
  const auto* recursive = child.getAllCreatorsRecursive(&count);
  EXPECT_EQ(child.getCreator("Above", "1", ""), &above);
  EXPECT_EQ(child.getAllCreators(&count), list);
  EXPECT_EQ(child.getAllCreatorsRecursive(&count), recursive);
  EXPECT_EQ(recursive[0], &here);
  EXPECT_EQ(recursive[1], &above);
  EXPECT_TRUE(parent.deregisterCreator(above));
  EXPECT_TRUE(child.deregisterCreator(here));
  EXPECT_EQ(child.getAllCreatorsRecursive(&count), nullptr);
  EXPECT_EQ(list[0], &here);
  EXPECT_EQ(recursive[1], &above);
}

TEST(Registry, CodeOfTheProgramMayComeBack) {
  Recorder recorder;
  Registry registry;
  OldCreator old;
  int named = 0;
  old.when_named = [&] { named += registry.getPluginCreator("Old", "2", "mine") == nullptr; };
  EXPECT_TRUE(registry.registerCreator(old, "mine"));
  EXPECT_EQ(named, 1);  // nobody finds a creator before it has its namespace
  registry.setErrorRecorder(&recorder);
  nvinfer1::IPluginCreator* found = nullptr;
  recorder.when_told = [&] { found = registry.getPluginCreator("Old", "2", "mine"); };
  EXPECT_FALSE(registry.registerCreator(old, "mine"));
  EXPECT_EQ(found, &old);
  EXPECT_EQ(recorder.last,
            "IPluginRegistry::registerCreator: there is a creator of 'Old' version '2' in namespace 'mine' already");
}

TEST(Registry, HasARecorderOfItsOwn) {
  Registry parent;
  Recorder of_parent, of_child;
  parent.setErrorRecorder(&of_parent);
  {
    Registry child(&parent);
    EXPECT_EQ(child.getErrorRecorder(), nullptr);
    child.setErrorRecorder(&of_child);
    EXPECT_EQ(child.getErrorRecorder(), &of_child);
    EXPECT_EQ(child.releasePluginResource("key"), -1);
    EXPECT_EQ(of_child.references, 1);
  }
  EXPECT_EQ(of_child.references, 0);
  EXPECT_EQ(of_child.count, 1);
  EXPECT_EQ(of_child.code, nvinfer1::ErrorCode::kINVALID_ARGUMENT);
  EXPECT_EQ(of_parent.count, 0);
  parent.setErrorRecorder(nullptr);
  EXPECT_EQ(of_parent.references, 0);
}

TEST(Registry, HoldsARecorderWhileItIsTold) {
  Recorder recorder;
  Registry registry;
  registry.setErrorRecorder(&recorder);
  int32_t references = 0;
  recorder.when_told = [&] {
    registry.setErrorRecorder(nullptr);  // as another thread may at that time
    references = recorder.references;
  };
  EXPECT_EQ(registry.releasePluginResource("key"), -1);
  EXPECT_EQ(references, 1);
  EXPECT_EQ(recorder.references, 0);
}

}  // namespace
}  // namespace kiln::plugin
