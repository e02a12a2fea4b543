// Calls of the API that find no memory: an error that is told, never the end of the process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <utility>

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
