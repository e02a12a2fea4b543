// Engines on two devices of one process, each used by a thread of its own and by the other's: over the stand-in, and
// on two real GPUs, where values are compared.
#include <algorithm>
#include <mutex>
#include <thread>

#include "program.h"
#include "promises/recorded.h"

namespace kiln::fake_cuda {
namespace {

/// Gives memory of the current device and keeps where it was asked and what it gave.
class Places final : public nv::IGpuAllocator {
 public:
  void* allocate(uint64_t size, uint64_t, nv::AllocatorFlags) noexcept override {
    void* memory = nullptr;
    if (cudaMalloc(&memory, size) != cudaSuccess) return nullptr;
    cudaPointerAttributes of{};
    EXPECT_EQ(cudaPointerGetAttributes(&of, memory), cudaSuccess);
    const std::lock_guard lock(mutex_);
    devices_.push_back(of.device);
    return memory;
  }
  bool deallocate(void* memory) noexcept override { return cudaFree(memory) == cudaSuccess; }
  /// How often it was asked, and whether always for this device.
  size_t all_on(int device) const {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(std::ranges::all_of(devices_, [&](int of) { return of == device; })) << "on device " << device;
    return devices_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> devices_;
};

/// An engine on a device with what a program needs to run it there.
class Seat {
 public:
  Seat(Logger& logger, int device, const nv::IHostMemory& plan)
      : device_(device), runtime_(nv::createInferRuntime(logger)) {
    EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
    runtime_->setGpuAllocator(&places_);
    engine_.reset(runtime_->deserializeCudaEngine(plan.data(), plan.size()));
    EXPECT_TRUE(engine_) << logger.all();
    if (engine_) context_.reset(engine_->createExecutionContext());
    EXPECT_TRUE(context_) << logger.all();
    EXPECT_EQ(cudaMalloc(&x_, sizeof(float) * 8 * 64), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&y_, sizeof(float) * 8 * 32), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    EXPECT_TRUE(context_ && context_->setTensorAddress("x", x_) && context_->setTensorAddress("y", y_));
  }
  ~Seat() {
    context_.reset(), engine_.reset(), runtime_.reset();
    cudaSetDevice(device_);
    cudaStreamDestroy(stream_), cudaFree(x_), cudaFree(y_);
    EXPECT_GT(places_.all_on(device_), 0u);
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  /// Enqueues `times` runs from this thread, whatever device is current; that stays so. With values, where kernels have
  /// them: y is 32 x for x the same in all elements.
  void run(int times, bool has_values) {
    int before = -1, after = -1;
    ASSERT_EQ(cudaGetDevice(&before), cudaSuccess);
    for (int i = 0; i < times; ++i) {
      const float value = static_cast<float>(1 + i % 7) + 8 * static_cast<float>(device_);
      const std::vector<float> in(8 * 64, value);
      std::vector<float> out(8 * 32);
      ASSERT_EQ(cudaMemcpyAsync(x_, in.data(), in.size() * 4, cudaMemcpyHostToDevice, stream_), cudaSuccess);
      ASSERT_TRUE(context_->enqueueV3(stream_));
      ASSERT_EQ(cudaMemcpyAsync(out.data(), y_, out.size() * 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
      if (has_values) {
        for (const float element : out) ASSERT_EQ(element, 32 * value) << "run " << i << " on device " << device_;
      }
    }
    ASSERT_EQ(cudaGetDevice(&after), cudaSuccess);
    EXPECT_EQ(after, before);
  }

 private:
  const int device_;
  Places places_;
  std::unique_ptr<nv::IRuntime> runtime_;
  std::unique_ptr<nv::ICudaEngine> engine_;
  std::unique_ptr<nv::IExecutionContext> context_;
  void *x_ = nullptr, *y_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// A plan of device 0 on both, side by side; then each engine with the other's device current; then a build on
/// device 1.
void check_two_devices(bool has_values) {
  Logger logger;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  std::thread threads[2];
  Logger loggers[2];
  for (int device : {0, 1})
    threads[device] = std::thread([&, device] {
      Seat seat(loggers[device], device, *plan);
      seat.run(100, has_values);
      Seat other(loggers[device], 1 - device, *plan);  // one process, two engines on each
      ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
      other.run(20, has_values);
      seat.run(20, has_values);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Logger& each : loggers) EXPECT_TRUE(each.errors.empty()) << each.all();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  Places places;
  const auto second = build(logger, &places);
  ASSERT_TRUE(second) << logger.all();
  EXPECT_GT(places.all_on(1), 0u);
  {
    Seat seat(logger, 1, *second);
    seat.run(10, has_values);
  }
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(FakeCudaProgram, TwoDevicesInTwoThreads) {
  control().set_devices(2, 9, 0);
  check_two_devices(false);
  EXPECT_EQ(live_bytes(), 0);
}

/// Engines on two devices, without an allocator of the program's: what the plugin of each gets is memory of its device.
void check_memory_of_plugins() {
  Logger logger;
  promises::Behaviour behaviour;
  promises::Journal journal;
  std::vector<int> devices;
  behaviour.attach = [&](nv::IPluginResourceContext* context) {
    nv::IGpuAllocator* const allocator = context->getGpuAllocator();
    void* const memory = allocator->allocateAsync(1000, 256, 0, nullptr);
    cudaPointerAttributes of{};
    EXPECT_EQ(cudaPointerGetAttributes(&of, memory), cudaSuccess);
    devices.push_back(of.device);
    EXPECT_TRUE(allocator->deallocateAsync(memory, nullptr));
  };
  const promises::RecordedCreator creator(behaviour, journal);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
  promises::Recorded plugin(behaviour, journal);
  nv::IPluginV3Layer* layer = network->addPluginV3(&x, 1, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << logger.all();
  layer->getOutput(0)->setName("y");
  network->markOutput(*layer->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  ASSERT_TRUE(plan) << logger.all();
  devices.clear();
  for (const int device : {0, 1, 0}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    const Session session(logger, *plan);
    ASSERT_TRUE(session) << logger.all();
  }
  EXPECT_EQ(devices, (std::vector{0, 1, 0}));
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(FakeCudaProgram, PluginsOfTwoDevicesGetMemoryOfTheirs) {
  control().set_devices(2, 9, 0);
  check_memory_of_plugins();
  EXPECT_EQ(live_bytes(), 0);
}

/// Needs two GPUs.
TEST_F(GpuProgram, PluginsOfTwoDevicesGetMemoryOfTheirs) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  if (count < 2) GTEST_SKIP() << "there is " << count << " GPU";
  check_memory_of_plugins();
}

/// Needs two GPUs.
TEST_F(GpuProgram, TwoDevices) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  if (count < 2) GTEST_SKIP() << "there is " << count << " GPU";
  check_two_devices(true);
}

}  // namespace
}  // namespace kiln::fake_cuda
