// Calls of the API that find no memory: an error that is told, never the end of the process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "plugin/quick_plugin.h"
#include "plugin/registry.h"
#include "plugin/shape_expressions.h"

// Allocations that the calling thread may still make; -1: any number.
static thread_local int64_t allocations_left = -1;
[[gnu::noinline]] void* operator new(size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return allocations_left == 0 ? nullptr : std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace kiln::plugin {
namespace {

/// What `call` returns where it may make so many allocations.
template <class F>
auto with_allocations(int64_t count, F call) {
  const int64_t before = std::exchange(allocations_left, count);
  const auto result = call();
  allocations_left = before;
  return result;
}

class CountingLogger final : public nvinfer1::ILogger {
 public:
  void log(Severity, nvinfer1::AsciiChar const*) noexcept override { ++count; }
  int count = 0;
};

constexpr const char* kName = "a name that is too long for what a string has in itself";

class Creator final : public nvinfer1::IPluginCreatorV3One {
 public:
  nvinfer1::IPluginV3* createPlugin(nvinfer1::AsciiChar const*, nvinfer1::PluginFieldCollection const*,
                                    nvinfer1::TensorRTPhase) noexcept override {
    return nullptr;
  }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  nvinfer1::AsciiChar const* getPluginName() const noexcept override { return kName; }
  nvinfer1::AsciiChar const* getPluginVersion() const noexcept override { return "1"; }
  nvinfer1::AsciiChar const* getPluginNamespace() const noexcept override { return ""; }
};

class Resource final : public nvinfer1::IPluginResource {
 public:
  int32_t release() noexcept override { return 0; }
  IPluginResource* clone() noexcept override {
    return with_allocations(-1, [] { return new Resource; });  // the test's own code has memory
  }
};

/// A quick plugin of one input and one output, whose own code has memory.
class Quick final : public nvinfer1::IPluginV3,
                    public nvinfer1::IPluginV3QuickCore,
                    public nvinfer1::IPluginV3QuickBuild,
                    public nvinfer1::IPluginV3QuickRuntime {
 public:
  using Desc = nvinfer1::PluginTensorDesc;
  using Dynamic = nvinfer1::DynamicPluginTensorDesc;
  nvinfer1::IPluginCapability* getCapabilityInterface(nvinfer1::PluginCapabilityType type) noexcept override {
    using Type = nvinfer1::PluginCapabilityType;
    if (type == Type::kCORE) return static_cast<nvinfer1::IPluginV3QuickCore*>(this);
    if (type == Type::kRUNTIME) return static_cast<nvinfer1::IPluginV3QuickRuntime*>(this);
    return static_cast<nvinfer1::IPluginV3QuickBuild*>(this);
  }
  nvinfer1::IPluginV3* clone() noexcept override {
    return with_allocations(-1, [] { return new Quick; });
  }
  const char* getPluginName() const noexcept override { return kName; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nvinfer1::DataType*, int32_t, const nvinfer1::DataType*, const int32_t*,
                             int32_t) const noexcept override {
    return 0;
  }
  int32_t getOutputShapes(const nvinfer1::DimsExprs*, int32_t, const nvinfer1::DimsExprs*, int32_t,
                          nvinfer1::DimsExprs*, int32_t, nvinfer1::IExprBuilder&) noexcept override {
    return 0;
  }
  int32_t configurePlugin(const Dynamic*, int32_t, const Dynamic*, int32_t) noexcept override { return 0; }
  int32_t getNbSupportedFormatCombinations(const Dynamic*, int32_t, int32_t) noexcept override { return 1; }
  int32_t getSupportedFormatCombinations(const Dynamic*, int32_t, int32_t, Desc*, int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(const Desc*, const Desc*, const void* const*, void* const*, const nvinfer1::Dims*,
                  const nvinfer1::Dims*, int32_t, int32_t, cudaStream_t) noexcept override {
    return 0;
  }
  const nvinfer1::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }
};

class NoMemory : public ::testing::Test {
 protected:
  NoMemory() { registry.set_logger(&logger); }
  /// Makes the call with no memory, with one allocation, and so on, until it succeeds. Each failure is told once.
  template <class F>
  void check_failures_of(F call) {
    int64_t failures = 0;
    while (!with_allocations(failures, call)) {
      ASSERT_EQ(logger.count, ++failures);
      ASSERT_LT(failures, 100);
    }
    EXPECT_GT(failures, 0) << "the call needs no memory";
    EXPECT_EQ(logger.count, failures);
    logger.count = 0;
  }

  CountingLogger logger;
  Registry registry;
  Creator creator;
  Resource resource;
};

TEST_F(NoMemory, IsAnErrorOfARegistry) {
  check_failures_of([&] { return registry.registerCreator(creator, kName); });
  check_failures_of([&] { return registry.getCreator(kName, "1", kName) == &creator; });
  check_failures_of([&] { return registry.getAllCreators(nullptr) != nullptr; });
  int32_t count = 7;
  with_allocations(0, [&] { return registry.getAllCreatorsRecursive(&count); });
  EXPECT_EQ(count, 0);
  logger.count = 0;
  EXPECT_TRUE(registry.deregisterCreator(creator));
}

TEST_F(NoMemory, IsAnErrorOfResources) {
  check_failures_of([&] { return registry.acquirePluginResource(kName, &resource) != nullptr; });
  EXPECT_EQ(registry.releasePluginResource(kName), 0);
  EXPECT_EQ(with_allocations(0, [&] { return registry.releasePluginResource(kName); }), -1);
  EXPECT_EQ(logger.count, 1);
}

/// A quick plugin within an adapter of ours, whose functions are noexcept: an exception would end the process.
class NoMemoryOfQuickPlugins : public ::testing::Test {
 protected:
  /// The number of times that the call failed before it had the memory that it needs.
  template <class F>
  static int64_t failures_of(F call) {
    int64_t failures = 0;
    while (failures < 100 && !with_allocations(failures, call)) ++failures;
    return failures;
  }
  std::unique_ptr<nvinfer1::IPluginV3> adapter =
      as_v3(std::make_unique<Quick>(), nvinfer1::TensorRTPhase::kBUILD).value();
};

TEST_F(NoMemoryOfQuickPlugins, IsNoClone) {
  tell_ranks(*adapter, {2});
  std::unique_ptr<nvinfer1::IPluginV3> clone;
  const int64_t failures = failures_of([&] {
    clone.reset(adapter->clone());
    return clone != nullptr;
  });
  EXPECT_EQ(failures, 2) << "the adapter and its ranks";
}

TEST_F(NoMemoryOfQuickPlugins, IsNoFormat) {
  auto& build = static_cast<nvinfer1::IPluginV3OneBuild&>(*static_cast<nvinfer1::IPluginV3OneBuildV2*>(
      adapter->getCapabilityInterface(nvinfer1::PluginCapabilityType::kBUILD)));
  const nvinfer1::DynamicPluginTensorDesc tensors[2]{};
  const int64_t failures = failures_of([&] {
    if (build.supportsFormatCombination(0, tensors, 1, 1)) return true;
    const Status why = listing_failure(*adapter);
    EXPECT_TRUE(!why && why.error().code == Code::kOutOfMemory && why.error().message == "out of memory");
    return false;
  });
  EXPECT_GT(failures, 0);
  EXPECT_LT(failures, 100);
  EXPECT_TRUE(listing_failure(*adapter));
}

TEST_F(NoMemoryOfQuickPlugins, IsAFailureOfShapes) {
  auto& runtime = *static_cast<nvinfer1::IPluginV3OneRuntime*>(
      adapter->getCapabilityInterface(nvinfer1::PluginCapabilityType::kRUNTIME));
  const nvinfer1::PluginTensorDesc one{};
  const int64_t failures = failures_of([&] { return runtime.onShapeChange(&one, 1, &one, 1) == 0; });
  EXPECT_GT(failures, 0);
  EXPECT_LT(failures, 100);
}

TEST_F(NoMemory, IsAnErrorOfExpressions) {
  sym::Table table;
  InferContext cx(table, {}, 1);
  ShapeExpressions expressions(cx, 1);
  const nvinfer1::IDimensionExpr* last = expressions.constant(1);
  ASSERT_NE(last, nullptr);
  allocations_left = 0;
  for (int i = 0; last && i < 10'000; ++i) last = expressions.constant(i);
  allocations_left = -1;
  EXPECT_EQ(last, nullptr);
  ASSERT_FALSE(expressions.failure());
  EXPECT_EQ(expressions.failure().error().message, "out of memory");
  EXPECT_EQ(expressions.failure().error().code, Code::kOutOfMemory);
}

}  // namespace
}  // namespace kiln::plugin
