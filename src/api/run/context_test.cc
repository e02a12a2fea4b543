#include "api/run/context.h"

#include <cmath>
#include <cstring>
#include <map>
#include <new>
#include <optional>

#include "api/base/convert.h"
#include "api/run/event_table.h"
#include "api/run/stream_table.h"
#include "api/run/testing/runtime_fixture.h"
#include "plan/writer.h"

namespace kiln::api {
namespace {

using nvinfer1::Dims;
using nvinfer1::IExecutionContext;
using Strategy = nvinfer1::ExecutionContextAllocationStrategy;

/// The tensors of a run of small_plan.h, n rows, z with `columns`.
struct Tensors {
  explicit Tensors(int64_t n, int64_t columns = 2) : n(n), shape{n * 4 / columns, columns} {
    x.resize(static_cast<size_t>(n * 4));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) - 2;
    y.assign(x.size(), NAN);
    z.assign(x.size(), NAN);
    picked.assign(4, NAN);
  }
  void give_to(IExecutionContext& context) {
    EXPECT_TRUE(context.setInputShape("x", Dims{2, {n, 4}}));
    EXPECT_TRUE(context.setTensorAddress("x", x.data()));
    EXPECT_TRUE(context.setInputTensorAddress("shape", shape));
    EXPECT_TRUE(context.setTensorAddress("index", &index));
    EXPECT_TRUE(context.setTensorAddress("y", y.data()));
    EXPECT_TRUE(context.setOutputTensorAddress("z", z.data()));
    EXPECT_TRUE(context.setTensorAddress("picked", picked.data()));
  }
  void check() const {
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], std::max(x[i], 0.0f)) << i;
      ASSERT_EQ(z[i], y[i]) << i;
    }
    for (size_t i = 0; i < 4; ++i) ASSERT_EQ(picked[i], x[static_cast<size_t>(index) * 4 + i]);
  }

  int64_t n;
  int64_t shape[2];
  int32_t index = 0;
  std::vector<float> x, y, z, picked;
};

class ContextTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    context.reset(engine->createExecutionContext());
    ASSERT_TRUE(context) << logger.last();
  }
  static bool wait(cudaStream_t stream) {
    return StreamTable::instance().find(stream)->get().synchronize().has_value();
  }

  std::unique_ptr<IExecutionContext> context;
};

TEST_F(ContextTest, RunsOnEveryKindOfStream) {
  void* const made = *StreamTable::instance().create(0, 0);
  for (void* handle : {static_cast<void*>(nullptr), reinterpret_cast<void*>(1), reinterpret_cast<void*>(2), made})
    for (const int64_t n : {3, 4, 1}) {
      Tensors t(n);
      t.index = static_cast<int32_t>(n - 1);
      t.give_to(*context);
      const auto stream = static_cast<cudaStream_t>(handle);
      ASSERT_TRUE(context->enqueueV3(stream)) << logger.last();
      ASSERT_TRUE(wait(stream));
      t.check();
    }
  EXPECT_TRUE(StreamTable::instance().destroy(made));
  EXPECT_FALSE(context->enqueueV3(static_cast<cudaStream_t>(made)));
  EXPECT_NE(logger.last().find("there is no stream"), std::string::npos) << logger.last();
}

TEST_F(ContextTest, ExecutesWithBindings) {
  Tensors t(2);
  EXPECT_TRUE(context->setInputShape("x", Dims{2, {2, 4}}));
  void* bindings[] = {t.x.data(), t.shape, &t.index, t.y.data(), t.z.data(), t.picked.data()};
  ASSERT_TRUE(context->executeV2(bindings)) << logger.last();
  t.check();
  EXPECT_FALSE(context->executeV2(nullptr));
}

/// small_plan.h's, with another kernel for its Activation where n is nearer to 1 than to 3.
TEST_F(ContextTest, RunsTheAlternativeThatTakesTheShapes) {
  const auto plan_of = [](ops::ActivationKind kind) {
    return small_plan(nvinfer1::ProfilingVerbosity::kDETAILED, kind);
  };
  plan::Plan plan = *plan_of(ops::ActivationKind::kRelu);
  const plan::Plan other = *plan_of(ops::ActivationKind::kTanh);
  plan::Step& step = plan.profiles[0].steps[0];
  ASSERT_EQ(step.name, "relu");
  Extents values(plan.symbols.size(), 1);
  plan.profiles[0].tunings = {values, values};
  for (size_t s = 0; s < values.size(); ++s)
    if (plan.symbols[s].name == "n") plan.profiles[0].tunings[0][s] = 3;
  step.alternatives = {{{1}, other.profiles[0].steps[0].step, {}}};
  const std::vector<std::byte> bytes = *plan::write_plan(plan);
  engine.reset(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
  ASSERT_TRUE(engine) << logger.last();
  context.reset(engine->createExecutionContext());
  for (const int64_t n : {4, 1, 3, 2}) {
    Tensors t(n);
    t.give_to(*context);
    ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
    for (size_t i = 0; i < t.x.size(); ++i)
      ASSERT_NEAR(t.y[i], n < 2 ? std::tanh(t.x[i]) : std::max(t.x[i], 0.0f), 1e-6) << n;
  }
}

TEST_F(ContextTest, TwoContextsShareAProfile) {
  const std::unique_ptr<IExecutionContext> other(engine->createExecutionContext());
  ASSERT_TRUE(other);
  Tensors mine(2), others(4);
  mine.give_to(*context);
  others.give_to(*other);
  ASSERT_TRUE(context->enqueueV3(nullptr) && other->enqueueV3(nullptr));
  ASSERT_TRUE(wait(nullptr));
  mine.check();
  others.check();
}

TEST_F(ContextTest, InfersShapes) {
  EXPECT_EQ(text(context->getTensorShape("x")), "[-1, 4]");
  EXPECT_FALSE(context->allInputDimensionsSpecified());
  const char* names[4] = {};
  EXPECT_EQ(context->inferShapes(4, names), 2);
  EXPECT_STREQ(names[0], "x");
  EXPECT_STREQ(names[1], "shape");
  EXPECT_EQ(text(context->getTensorShape("y")), "[-1, 4]");

  EXPECT_TRUE(context->setInputShape("x", Dims{2, {3, 4}}));
  EXPECT_TRUE(context->allInputDimensionsSpecified());
  EXPECT_FALSE(context->allInputShapesSpecified());
  const int64_t shape[2] = {6, 2};
  EXPECT_TRUE(context->setInputTensorAddress("shape", shape));
  EXPECT_EQ(context->inferShapes(0, nullptr), 0);
  EXPECT_EQ(text(context->getTensorShape("y")), "[3, 4]");
  EXPECT_EQ(text(context->getTensorShape("z")), "[6, 2]");
  EXPECT_EQ(text(context->getTensorStrides("y")), "[4, 1]");
  EXPECT_EQ(context->getMaxOutputSize("y"), 48);
  EXPECT_EQ(logger.num_errors(), 0u);
  EXPECT_EQ(context->inferShapes(-1, nullptr), -1);
  EXPECT_EQ(context->getMaxOutputSize("x"), -1);
}

TEST_F(ContextTest, ChangesProfiles) {
  EXPECT_EQ(context->getOptimizationProfile(), 0);
  EXPECT_FALSE(context->setInputShape("x", Dims{2, {6, 4}}));
  EXPECT_EQ(logger.last(),
            "IExecutionContext::setInputShape: input 'x': extent 6 of axis 0 is above profile 0's maximum 4");
  ASSERT_TRUE(context->setOptimizationProfileAsync(1, nullptr));
  EXPECT_EQ(context->getOptimizationProfile(), 1);
  Tensors t(6);
  t.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  ASSERT_TRUE(wait(nullptr));
  t.check();
  EXPECT_FALSE(context->setOptimizationProfileAsync(2, nullptr));
  EXPECT_EQ(context->getOptimizationProfile(), 1);
}

TEST_F(ContextTest, ExplainsBadInput) {
  const auto says = [&](const char* text) { EXPECT_EQ(logger.last(), std::string("IExecutionContext::") + text); };
  EXPECT_FALSE(context->setInputShape("y", Dims{2, {3, 4}}));
  says("setInputShape: 'y' is an output; inputs: 'x', 'shape', 'index'");
  EXPECT_FALSE(context->setInputShape(nullptr, Dims{2, {3, 4}}));
  says("setInputShape: tensorName is null");
  EXPECT_FALSE(context->setInputShape("x", Dims{1, {3}}));
  says("setInputShape: input 'x': [3] has rank 1; the network's has 2");
  EXPECT_FALSE(context->setInputShape("x", Dims{77, {}}));
  says("setInputShape: input 'x': nbDims is 77, outside [0, 8]");
  EXPECT_FALSE(context->setInputShape("x", Dims{2, {-1, 4}}));
  says("setInputShape: input 'x': extent -1 of axis 0 is below profile 0's minimum 1");
  EXPECT_FALSE(context->setInputShape("x", Dims{2, {INT64_MAX, 4}}));
  EXPECT_FALSE(context->setTensorAddress("nothing", nullptr));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  says("enqueueV3: the shape of input 'x' is not set");
  EXPECT_EQ(context->getTensorAddress("nothing"), nullptr);

  Tensors t(3);
  t.give_to(*context);
  EXPECT_TRUE(context->setTensorAddress("y", nullptr));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  says("enqueueV3: output 'y' has no address: call setTensorAddress");
  t.give_to(*context);
  EXPECT_TRUE(context->setTensorAddress("index", nullptr));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  says("enqueueV3: input 'index' has no address: call setTensorAddress");
  t.give_to(*context);
  t.shape[0] = 7;  // 14 elements are not 12
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(context->getTensorShape("z").nbDims, -1);
  EXPECT_EQ(logger.last().find("IExecutionContext::getTensorShape: "), 0u) << logger.last();
  t.shape[0] = 33;
  EXPECT_FALSE(context->enqueueV3(nullptr));
  t.shape[0] = 6;
  EXPECT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  EXPECT_TRUE(wait(nullptr));
  t.check();
}

TEST_F(ContextTest, ReportsWhatFailsAfterEnqueue) {
  Tensors t(3);
  t.give_to(*context);
  t.index = 3;
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  EXPECT_FALSE(wait(nullptr));
  EXPECT_EQ(logger.num_errors(), 1u);
  EXPECT_NE(logger.last().find("pick"), std::string::npos) << logger.last();
  t.index = 2;
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  EXPECT_TRUE(wait(nullptr));
  t.check();

  t.index = -5;
  void* bindings[] = {t.x.data(), t.shape, &t.index, t.y.data(), t.z.data(), t.picked.data()};
  EXPECT_FALSE(context->executeV2(bindings));
  EXPECT_EQ(logger.num_errors(), 2u);
}

/// Gives memory from vectors, by name.
class Allocator final : public nvinfer1::IOutputAllocator {
 public:
  void* reallocateOutputAsync(char const* name, void* at, uint64_t size, uint64_t, cudaStream_t) override {
    current = at;
    if (refuse) return nullptr;
    if (out_of_memory) throw std::bad_alloc();
    memory[name].resize(size);
    return memory[name].data();
  }
  void notifyShape(char const* name, Dims const& dims) noexcept override { shapes[name] = text(dims); }
  std::map<std::string, std::vector<std::byte>> memory;
  std::map<std::string, std::string> shapes;
  void* current = nullptr;
  bool refuse = false, out_of_memory = false;
};

TEST_F(ContextTest, AsksOutputAllocators) {
  Tensors t(3, 4);
  t.give_to(*context);
  Allocator allocator;
  EXPECT_TRUE(context->setTensorAddress("z", nullptr));
  ASSERT_TRUE(context->setOutputAllocator("z", &allocator));
  EXPECT_EQ(context->getOutputAllocator("z"), &allocator);
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  ASSERT_TRUE(wait(nullptr));
  EXPECT_EQ(allocator.shapes["z"], "[3, 4]");
  ASSERT_EQ(allocator.memory["z"].size(), 48u);
  std::memcpy(t.z.data(), allocator.memory["z"].data(), 48);
  t.check();
  allocator.refuse = true;
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(logger.last(), "IExecutionContext::enqueueV3: output 'z': its allocator did not give 48 bytes");
  allocator.refuse = false;
  allocator.out_of_memory = true;
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(logger.last(), "IExecutionContext::enqueueV3: output 'z': its allocator did not give 48 bytes");
  EXPECT_FALSE(context->setOutputAllocator("x", &allocator));
}

TEST_F(ContextTest, WritesToTheAddressAgainWithoutAnAllocator) {
  Tensors t(3, 4);
  t.give_to(*context);
  std::optional<Allocator> allocator(std::in_place);
  ASSERT_TRUE(context->setOutputAllocator("z", &*allocator));
  EXPECT_EQ(context->getTensorAddress("z"), t.z.data());
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  EXPECT_EQ(allocator->current, t.z.data());  // what setTensorAddress said, run after run
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  EXPECT_EQ(allocator->current, t.z.data());
  EXPECT_EQ(context->getOutputTensorAddress("z"), t.z.data());
  EXPECT_TRUE(std::isnan(t.z[0]));
  ASSERT_TRUE(context->setOutputAllocator("z", nullptr));
  EXPECT_EQ(context->getOutputAllocator("z"), nullptr);
  allocator.reset();  // with the memory that it gave
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  t.check();

  // Also where the address was set while the allocator was there.
  allocator.emplace();
  ASSERT_TRUE(context->setOutputAllocator("z", &*allocator));
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  Tensors others(3, 4);
  others.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  EXPECT_EQ(allocator->current, others.z.data());
  ASSERT_TRUE(context->setOutputAllocator("z", nullptr));
  allocator.reset();
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  others.check();
}

TEST_F(ContextTest, ExecutesIntoWhatAllocatorsGive) {
  Tensors t(2);
  Allocator allocator;
  ASSERT_TRUE(context->setInputShape("x", Dims{2, {2, 4}}) && context->setOutputAllocator("z", &allocator));
  void* bindings[] = {t.x.data(), t.shape, &t.index, t.y.data(), t.z.data(), t.picked.data()};
  ASSERT_TRUE(context->executeV2(bindings)) << logger.last();
  EXPECT_TRUE(allocator.current == t.z.data() && std::isnan(t.z[0]));
  ASSERT_TRUE(context->executeV2(bindings)) << logger.last();  // asked again, it may return what it gave
  EXPECT_EQ(allocator.current, allocator.memory["z"].data());
  std::memcpy(t.z.data(), allocator.memory["z"].data(), 32);
  t.check();
}

TEST_F(ContextTest, WithoutAllocatorOrAddressARunIsRefused) {
  Tensors t(3, 4);
  t.give_to(*context);
  Allocator allocator;
  ASSERT_TRUE(context->setTensorAddress("z", nullptr));
  ASSERT_TRUE(context->setOutputAllocator("z", &allocator));
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  ASSERT_TRUE(context->setOutputAllocator("z", nullptr));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_EQ(logger.last(), "IExecutionContext::enqueueV3: output 'z' has no address: call setTensorAddress");
}

TEST_F(ContextTest, WorksInMemoryOfTheProgram) {
  context.reset(engine->createExecutionContext(Strategy::kUSER_MANAGED));
  ASSERT_TRUE(context) << logger.last();
  Tensors t(4);
  t.give_to(*context);
  EXPECT_EQ(text(context->getTensorShape("z")), "[8, 2]");  // shapes need no memory
  const size_t needed = context->updateDeviceMemorySizeForShapes();
  EXPECT_EQ(static_cast<int64_t>(needed), engine->getDeviceMemorySizeForProfileV2(0));
  std::vector<std::byte> memory(needed + 512);
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory.data()) + 255) & ~uintptr_t{255});
  if (needed > 0) {
    EXPECT_FALSE(context->enqueueV3(nullptr));
    context->setDeviceMemoryV2(aligned, static_cast<int64_t>(needed) - 1);
    EXPECT_NE(logger.last().find("below the"), std::string::npos);
  }
  context->setDeviceMemoryV2(aligned + 1, static_cast<int64_t>(needed));
  EXPECT_NE(logger.last().find("aligned"), std::string::npos);
  context->setDeviceMemoryV2(aligned, static_cast<int64_t>(needed));
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  ASSERT_TRUE(wait(nullptr));
  t.check();
}

/// Counts what it gave out.
class GpuAllocator final : public nvinfer1::IGpuAllocator {
 public:
  void* allocate(uint64_t size, uint64_t alignment, nvinfer1::AllocatorFlags) noexcept override {
    ++given;
    return refuse ? nullptr : std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  }
  bool deallocate(void* memory) noexcept override {
    --given;
    std::free(memory);
    return true;
  }
  int given = 0;
  bool refuse = false;
};

TEST_F(ContextTest, TakesMemoryFromTheRuntimesAllocator) {
  GpuAllocator allocator;
  runtime->setGpuAllocator(&allocator);
  const auto bytes = small_plan_bytes();
  const std::unique_ptr<nvinfer1::ICudaEngine> other(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
  ASSERT_TRUE(other);
  for (const Strategy strategy : {Strategy::kSTATIC, Strategy::kON_PROFILE_CHANGE}) {
    const std::unique_ptr<IExecutionContext> with(other->createExecutionContext(strategy));
    ASSERT_TRUE(with) << logger.last();
    ASSERT_TRUE(with->setOptimizationProfileAsync(1, nullptr));
    Tensors t(8);
    t.give_to(*with);
    ASSERT_TRUE(with->enqueueV3(nullptr)) << logger.last();
    ASSERT_TRUE(wait(nullptr));
    t.check();
  }
  EXPECT_EQ(allocator.given, 0);
}

TEST_F(ContextTest, KeepsATemporaryAllocator) {
  GpuAllocator allocator;
  EXPECT_EQ(context->getTemporaryStorageAllocator(), nullptr);
  EXPECT_TRUE(context->setTemporaryStorageAllocator(&allocator));
  EXPECT_EQ(context->getTemporaryStorageAllocator(), &allocator);
  Tensors t(3);
  t.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr)) << logger.last();
  ASSERT_TRUE(wait(nullptr));
  t.check();
  EXPECT_EQ(allocator.given, 0);  // the host reads shape inputs where they are
  EXPECT_TRUE(context->setTemporaryStorageAllocator(nullptr));
  EXPECT_EQ(context->getTemporaryStorageAllocator(), nullptr);
}

TEST_F(ContextTest, SaysWhenInputsAreConsumed) {
  EXPECT_EQ(context->getInputConsumedEvent(), nullptr);
  const auto made = std::make_shared<cpu::HostEvent>(cpu::HostEvent::Timing::kOff);
  const auto event = static_cast<cudaEvent_t>(event_handles().add(made));
  ASSERT_TRUE(context->setInputConsumedEvent(event));
  EXPECT_EQ(context->getInputConsumedEvent(), event);
  const auto stream = static_cast<cudaStream_t>(*StreamTable::instance().create(0, 0));
  Tensors t(3);
  t.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(stream)) << logger.last();
  ASSERT_TRUE(made->synchronize());  // which runs what is in front of it
  const std::vector<float> before = t.x;
  t.x.assign(t.x.size(), 99);
  ASSERT_TRUE(wait(stream));
  t.x = before;
  t.check();
  EXPECT_FALSE(context->setInputConsumedEvent(reinterpret_cast<cudaEvent_t>(uintptr_t{12})));
  EXPECT_NE(logger.last().find("there is no event 12"), std::string::npos) << logger.last();
  EXPECT_EQ(context->getInputConsumedEvent(), event);
  EXPECT_TRUE(context->setInputConsumedEvent(nullptr));
  EXPECT_EQ(context->getInputConsumedEvent(), nullptr);
  event_handles().take(event);
  EXPECT_TRUE(StreamTable::instance().destroy(stream));
}

class Profiler final : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(char const* name, float ms) noexcept override {
    names.emplace_back(name);
    EXPECT_GE(ms, 0);
  }
  std::vector<std::string> names;
};

TEST_F(ContextTest, ReportsToProfilers) {
  Profiler profiler;
  EXPECT_FALSE(context->reportToProfiler());
  context->setProfiler(&profiler);
  Tensors t(3);
  t.give_to(*context);
  EXPECT_TRUE(context->getEnqueueEmitsProfile());
  ASSERT_TRUE(context->enqueueV3(nullptr));
  EXPECT_EQ(profiler.names.size(), static_cast<size_t>(engine->getNbLayers()));
  t.check();  // the call has waited
  context->setEnqueueEmitsProfile(false);
  profiler.names.clear();
  ASSERT_TRUE(context->enqueueV3(nullptr));
  ASSERT_TRUE(wait(nullptr));
  EXPECT_TRUE(profiler.names.empty());
  EXPECT_TRUE(context->reportToProfiler());
  EXPECT_EQ(profiler.names.size(), static_cast<size_t>(engine->getNbLayers()));
}

/// On a host device a run begins when somebody waits for it, so that nothing but the call itself can have done it.
TEST_F(ContextTest, ReportsWaitForTheRun) {
  Profiler profiler;
  context->setEnqueueEmitsProfile(false);
  Tensors before(3);
  before.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr));
  context->setProfiler(&profiler);
  EXPECT_FALSE(context->reportToProfiler());  // that run was not timed
  EXPECT_NE(logger.last().find("no times"), std::string::npos) << logger.last();
  const auto stream = static_cast<cudaStream_t>(*StreamTable::instance().create(0, 0));
  for (const int64_t n : {3, 4, 2, 2, 2, 2, 2}) {
    Tensors t(n);
    t.give_to(*context);
    profiler.names.clear();
    ASSERT_TRUE(context->enqueueV3(stream)) << logger.last();
    ASSERT_TRUE(context->reportToProfiler()) << logger.last();
    EXPECT_EQ(profiler.names.size(), static_cast<size_t>(engine->getNbLayers()));
    t.check();
  }
  profiler.names.clear();
  ASSERT_TRUE(context->setOptimizationProfileAsync(1, nullptr));
  EXPECT_FALSE(context->reportToProfiler());  // no run of this profile
  EXPECT_TRUE(profiler.names.empty());
  EXPECT_TRUE(StreamTable::instance().destroy(stream));
}

TEST_F(ContextTest, AReportOfAFailedRunSaysSoAndLeavesTheFailureToTheStream) {
  Profiler profiler;
  context->setEnqueueEmitsProfile(false);
  context->setProfiler(&profiler);
  Tensors t(3);
  t.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr));
  ASSERT_TRUE(context->reportToProfiler()) << logger.last();
  profiler.names.clear();
  t.index = 3;
  ASSERT_TRUE(context->enqueueV3(nullptr));
  EXPECT_FALSE(context->reportToProfiler());
  EXPECT_NE(logger.last().find("the run failed: "), std::string::npos) << logger.last();
  EXPECT_TRUE(profiler.names.empty());
  EXPECT_FALSE(wait(nullptr));
  EXPECT_FALSE(context->reportToProfiler());  // and not the times of the run before
  EXPECT_TRUE(wait(nullptr));
}

TEST_F(ContextTest, ReportsRunsOfGraphs) {
  Profiler profiler;
  context->setEnqueueEmitsProfile(false);
  context->setProfiler(&profiler);
  Tensors t(2);
  t.give_to(*context);
  void* made = *StreamTable::instance().create(0, 0);
  const auto stream = static_cast<cudaStream_t>(made);
  cpu::HostStream& captured = *StreamTable::instance().find(made);
  ASSERT_TRUE(captured.begin_capture());
  ASSERT_TRUE(context->enqueueV3(stream)) << logger.last();
  EXPECT_FALSE(context->reportToProfiler());
  EXPECT_NE(logger.last().find("is being captured"), std::string::npos) << logger.last();
  const auto graph = captured.end_capture();
  ASSERT_TRUE(graph);
  EXPECT_FALSE(context->reportToProfiler());  // nothing has run
  EXPECT_TRUE(profiler.names.empty());
  ASSERT_TRUE(captured.launch(*graph));
  ASSERT_TRUE(context->reportToProfiler()) << logger.last();
  EXPECT_EQ(profiler.names.size(), static_cast<size_t>(engine->getNbLayers()));
  t.check();

  // Nor does a run wait for the graph of which it becomes a part.
  context->setEnqueueEmitsProfile(true);
  ASSERT_TRUE(captured.begin_capture());
  EXPECT_TRUE(context->enqueueV3(stream)) << logger.last();
  EXPECT_TRUE(captured.end_capture());
  EXPECT_TRUE(context->reportToProfiler());  // does nothing where enqueueV3 reports
  EXPECT_TRUE(StreamTable::instance().destroy(made));
}

/// The program may destroy the stream that it captured, and launch the graph elsewhere.
TEST_F(ContextTest, ReportsRunsOfGraphsWhoseStreamIsGone) {
  Profiler profiler;
  context->setEnqueueEmitsProfile(false);
  context->setProfiler(&profiler);
  Tensors t(2);
  t.give_to(*context);
  StreamTable& table = StreamTable::instance();
  void* const other = *table.create(0, 0);
  for (int round = 0; round < 3; ++round) {  // captures of the same addresses share a run
    void* const made = *table.create(0, 0);
    cpu::HostStream& captured = *table.find(made);
    ASSERT_TRUE(captured.begin_capture());
    ASSERT_TRUE(context->enqueueV3(static_cast<cudaStream_t>(made))) << logger.last();
    const auto graph = captured.end_capture();
    ASSERT_TRUE(graph);
    ASSERT_TRUE(table.destroy(made));
    if (round == 0) {
      EXPECT_FALSE(context->reportToProfiler());  // nothing has run
      EXPECT_NE(logger.last().find("no times"), std::string::npos) << logger.last();
    }
    cpu::HostStream& stream = *table.find(other);
    ASSERT_TRUE(stream.launch(*graph));
    ASSERT_TRUE(stream.synchronize());
    profiler.names.clear();
    ASSERT_TRUE(context->reportToProfiler()) << logger.last();
    EXPECT_EQ(profiler.names.size(), static_cast<size_t>(engine->getNbLayers()));
    t.check();
  }
  EXPECT_TRUE(table.destroy(other));
}

/// A graph captured at shapes that are gone refuses to run, and does nothing else.
TEST_F(ContextTest, GraphsOfEarlierShapesAreRefused) {
  void* const made = *StreamTable::instance().create(0, 0);
  cpu::HostStream& stream = *StreamTable::instance().find(made);
  Tensors before(2), after(3);
  before.give_to(*context);
  ASSERT_TRUE(stream.begin_capture());
  ASSERT_TRUE(context->enqueueV3(static_cast<cudaStream_t>(made))) << logger.last();
  const auto graph = stream.end_capture();
  ASSERT_TRUE(graph);
  after.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(static_cast<cudaStream_t>(made))) << logger.last();
  ASSERT_TRUE(stream.synchronize());
  ASSERT_TRUE(stream.launch(*graph));
  EXPECT_FALSE(stream.synchronize());
  EXPECT_NE(logger.last().find("capture it again"), std::string::npos) << logger.last();
  EXPECT_TRUE(std::isnan(before.y[0]));
  after.check();
  EXPECT_TRUE(StreamTable::instance().destroy(made));
}

TEST_F(ContextTest, KeepsItsSettings) {
  context->setName("mine");
  EXPECT_STREQ(context->getName(), "mine");
  EXPECT_EQ(&context->getEngine(), engine.get());
  EXPECT_EQ(context->getErrorRecorder(), &recorder);
  context->setPersistentCacheLimit(99);
  EXPECT_EQ(context->getPersistentCacheLimit(), 99u);
  EXPECT_TRUE(context->setNvtxVerbosity(nvinfer1::ProfilingVerbosity::kNONE));
  EXPECT_FALSE(context->setNvtxVerbosity(nvinfer1::ProfilingVerbosity::kDETAILED));
  const std::unique_ptr<nvinfer1::IRuntimeConfig> config(engine->createRuntimeConfig());
  config->setExecutionContextAllocationStrategy(Strategy::kON_PROFILE_CHANGE);
  const std::unique_ptr<IExecutionContext> other(engine->createExecutionContext(config.get()));
  ASSERT_TRUE(other);
  const std::unique_ptr<nvinfer1::IRuntimeConfig> copy(other->getRuntimeConfig());
  EXPECT_EQ(copy->getExecutionContextAllocationStrategy(), Strategy::kON_PROFILE_CHANGE);
  EXPECT_FALSE(engine->createExecutionContext(static_cast<nvinfer1::IRuntimeConfig*>(nullptr)));
  EXPECT_FALSE(engine->createExecutionContext(static_cast<Strategy>(12)));
}

class DebugListener final : public nvinfer1::IDebugListener {
 public:
  bool processDebugTensor(void const*, nvinfer1::TensorLocation, nvinfer1::DataType, Dims const&, char const*,
                          cudaStream_t) override {
    ++calls;
    return true;
  }
  int calls = 0;
};

/// Calls as a program does that wants whatever debug tensors there are.
TEST_F(ContextTest, HasNoDebugTensors) {
  DebugListener listener;
  EXPECT_EQ(context->getDebugListener(), nullptr);
  EXPECT_TRUE(context->setAllTensorsDebugState(true));
  EXPECT_TRUE(context->setDebugListener(&listener));
  EXPECT_EQ(context->getDebugListener(), &listener);
  EXPECT_FALSE(context->getUnfusedTensorsDebugState());
  EXPECT_TRUE(context->setUnfusedTensorsDebugState(true));
  EXPECT_TRUE(context->getUnfusedTensorsDebugState());
  EXPECT_FALSE(context->getDebugState("y"));
  EXPECT_FALSE(engine->isDebugTensor("y"));
  EXPECT_EQ(logger.num_errors(), 0u);
  EXPECT_FALSE(context->setTensorDebugState("y", true));
  EXPECT_EQ(logger.last(),
            "IExecutionContext::setTensorDebugState: 'y' was not marked as a debug tensor when the engine was built");
  Tensors t(3);
  t.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr) && wait(nullptr)) << logger.last();
  t.check();
  EXPECT_EQ(listener.calls, 0);
  EXPECT_TRUE(context->setAllTensorsDebugState(false));
  EXPECT_TRUE(context->setDebugListener(nullptr));
  EXPECT_EQ(context->getDebugListener(), nullptr);
}

TEST_F(ContextTest, UsesNoAuxiliaryStreams) {
  EXPECT_EQ(engine->getNbAuxStreams(), 0);
  void* made = *StreamTable::instance().create(0, 0);
  cudaStream_t streams[] = {static_cast<cudaStream_t>(made), nullptr};
  context->setAuxStreams(streams, 2);  // more than are used
  context->setAuxStreams(nullptr, 0);
  EXPECT_EQ(logger.num_errors(), 0u);
  Tensors t(3);
  t.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(nullptr));
  ASSERT_TRUE(wait(nullptr));
  t.check();
  context->setAuxStreams(nullptr, 1);
  EXPECT_EQ(logger.last(), "IExecutionContext::setAuxStreams: auxStreams is null, or nbStreams, 1, is negative");
  EXPECT_TRUE(StreamTable::instance().destroy(made));
  context->setAuxStreams(streams, 1);
  EXPECT_NE(logger.last().find("there is no stream"), std::string::npos) << logger.last();
}

TEST_F(ContextTest, RunsOfACaptureAreReplayed) {
  Tensors tensors(2);
  tensors.give_to(*context);
  void* made = *StreamTable::instance().create(0, 0);
  const auto stream = static_cast<cudaStream_t>(made);
  cpu::HostStream& captured = *StreamTable::instance().find(made);
  ASSERT_TRUE(captured.begin_capture());
  ASSERT_TRUE(context->enqueueV3(stream)) << logger.last();
  const auto graph = captured.end_capture();
  ASSERT_TRUE(graph);
  EXPECT_TRUE(wait(stream));
  EXPECT_TRUE(std::isnan(tensors.y[0]));  // nothing ran

  // Other addresses and a run in between change nothing for the graph.
  Tensors others(2);
  others.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(stream));
  for (float& x : tensors.x) x += 1;
  cpu::HostStream& legacy = *StreamTable::instance().find(nullptr);
  for (cpu::HostStream* replayed : {&captured, &legacy}) {
    ASSERT_TRUE(replayed->launch(*graph));
    ASSERT_TRUE(replayed->synchronize());
    tensors.check();
    tensors.x[0] = 5;
  }
  ASSERT_TRUE(wait(stream));
  others.check();

  Tensors larger(4);
  larger.give_to(*context);
  ASSERT_TRUE(context->enqueueV3(stream));
  ASSERT_TRUE(wait(stream));
  larger.check();
  ASSERT_TRUE(captured.launch(*graph));
  EXPECT_FALSE(wait(stream));  // its shapes are gone
  EXPECT_NE(logger.last().find("captured before the context's shapes, profile or memory changed"), std::string::npos);
  EXPECT_TRUE(StreamTable::instance().destroy(made));
}

}  // namespace
}  // namespace kiln::api
