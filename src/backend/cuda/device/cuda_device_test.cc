#include "backend/cuda/device/cuda_device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/compile/nvrtc.h"
#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/fault_word.h"
#include "backend/cuda/device/testing/fake_driver.h"
#include "base/str.h"
#include "device/async.h"

namespace kiln::cuda {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
// The stand-in's image of a module; its end is a 0.
const std::string_view kImage("FAKE scale\0", 11);

/// y[i] = 2 x[i] for n numbers: what the stand-in does for kernel `scale`.
void scale(const LaunchConfig&, void** arguments) {
  const auto* x = *static_cast<const float**>(arguments[0]);
  auto* y = *static_cast<float**>(arguments[1]);
  for (int64_t i = 0; i < *static_cast<int64_t*>(arguments[2]); ++i) y[i] = 2 * x[i];
}

TEST(Driver, SaysWhatIsMissing) {
  const auto none = load_driver("/no/such/libcuda.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_NE(none.error().message.find("there is no NVIDIA driver (/no/such/libcuda.so.1"), std::string::npos);
  EXPECT_NE(none.error().message.find("use KILN_DEVICE=cpu"), std::string::npos);
  fake_cuda_control().set_version(11040);
  const auto old = load_driver(fake_driver_path());
  fake_cuda_control().reset();
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, Code::kVersion);
  EXPECT_NE(old.error().message.find("supports CUDA 11.4; Kiln needs CUDA 12.0 (driver 525) or later"),
            std::string::npos)
      << old.error().message;
  const auto other = load_driver("libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kVersion);
}

TEST(CudaDevice, DescribesItself) {
  const auto device = make_fake_device();
  EXPECT_EQ(device->identity(), "cuda Fake GPU sm_90, 132 SMs, driver 13.0");
  EXPECT_EQ(device->properties().arch, "sm_90a");
  EXPECT_EQ(compiler_of(*device).arch(), "sm_90a");
  EXPECT_NEAR(device->properties().memory_bytes_per_second, 4.9e12, 1e11);
  EXPECT_EQ(device->executor("cuda").error().code, Code::kVersion);
  EXPECT_EQ(CudaDevice::create(1, fake_driver()).error().message, "there is no CUDA device 1; the driver has 1");
  fake_cuda_control().set_devices(1, 7, 5);
  const auto old = CudaDevice::create(0, fake_driver());
  fake_cuda_control().reset();
  EXPECT_EQ(old.error().message,
            "GPU 'Fake GPU' has compute capability 7.5; Kiln needs 8.0 or later: use KILN_DEVICE=cpu");
}

TEST(CudaDevice, CopiesThroughItsMemory) {
  const auto device = make_fake_device();
  {
    const auto stream = *device->create_stream();
    const Buffer there = *device->allocate(16);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(there.data()) % 256, 0u);
    const char text[16] = "to the GPU";
    char back[16] = {};
    ASSERT_TRUE(device->copy_from_host(there.data(), text, 16, *stream));
    ASSERT_TRUE(device->copy_to_host(back, there.data(), 16, *stream));
    EXPECT_STREQ(back, text);
    EXPECT_TRUE(device->allocate(0)->data());
    EXPECT_EQ(fake_cuda_control().live_bytes(), 16);
    EXPECT_EQ(device->allocate(int64_t{1} << 50).error().code, Code::kOutOfMemory);
    EXPECT_EQ(device->allocate(-1).error().code, Code::kOutOfMemory);
  }
  EXPECT_EQ(fake_cuda_control().live_bytes(), 0);
  EXPECT_EQ(fake_cuda_control().live_objects(), 0);
}

TEST(CudaDevice, LeavesTheProgramsContext) {
  const Driver& driver = fake_driver();  // which resets the stand-in when it is first asked for
  fake_cuda_control().set_devices(2, 9, 0);
  const auto made = CudaDevice::create(0, driver), made_second = CudaDevice::create(1, driver);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(made_second) << made_second.error().message;
  const CudaDevice *const first = made->get(), *const second = made_second->get();
  ASSERT_NE(first->context(), second->context());
  ASSERT_EQ(fake_driver().ctx_set_current(second->context()), 0);
  EXPECT_TRUE((*made)->allocate(8));
  ContextHandle now = nullptr;
  fake_driver().ctx_get_current(&now);
  EXPECT_EQ(now, second->context());
  ASSERT_EQ(fake_driver().ctx_set_current(nullptr), 0);
  fake_cuda_control().reset();
}

TEST(CudaDevice, SharesConstants) {
  const auto device = make_fake_device();
  auto first = *device->upload(bytes_of("weights"));
  const auto second = *device->upload(bytes_of("weights"));
  const auto other = *device->upload(bytes_of("Weights"));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_EQ(std::memcmp(first->data(), "weights", 7), 0);
  EXPECT_EQ(fake_cuda_control().live_bytes(), 14);
  const auto empty = device->upload({});
  EXPECT_TRUE(empty && (*empty)->data());
}

/// Gives the device's memory and counts.
class CountingMemory final : public Allocator {
 public:
  CountingMemory(CudaDevice& device, const void* source) : device_(device), source_(source) {}
  Result<Buffer> allocate(int64_t size_bytes) override {
    ++asked;
    if (refuses) return error(Code::kOutOfMemory, "no");
    return device_.allocate(size_bytes);
  }
  const void* source() const override { return source_; }
  int asked = 0;
  bool refuses = false;

 private:
  CudaDevice& device_;
  const void* source_;
};

TEST(CudaDevice, SharesConstantsOfTheSameMemory) {
  const auto device = make_fake_device();
  const int one = 1, two = 2;
  CountingMemory first(*device, &one), again(*device, &one), other(*device, &two);
  const auto own = *device->upload(bytes_of("weights"));
  const auto given = *device->upload(bytes_of("weights"), &first);
  EXPECT_NE(own, given);
  EXPECT_EQ(*device->upload(bytes_of("weights"), &again), given);
  EXPECT_NE(*device->upload(bytes_of("weights"), &other), given);
  EXPECT_EQ(*device->upload(bytes_of("weights")), own);
  EXPECT_EQ(first.asked + again.asked, 1);
  EXPECT_TRUE(device->upload({}, &first));  // which is not asked for nothing
  EXPECT_EQ(first.asked, 1);
  other.refuses = true;
  EXPECT_EQ(device->upload(bytes_of("others"), &other).error().code, Code::kOutOfMemory);
}

/// Asks the device for something else whenever it is asked, as a program's allocator may that loads an engine of its
/// own.
class AskingMemory final : public Allocator {
 public:
  AskingMemory(CudaDevice& device, void (*ask)(CudaDevice&)) : device_(device), ask_(ask) {}
  Result<Buffer> allocate(int64_t size_bytes) override {
    ask_(device_);
    return device_.allocate(size_bytes);
  }
  const void* source() const override { return this; }

 private:
  CudaDevice& device_;
  void (*ask_)(CudaDevice&);
};

TEST(CudaDevice, LetsAnAllocatorAskInTurn) {
  const auto device = make_fake_device();
  AskingMemory uploads(*device, [](CudaDevice& d) { EXPECT_TRUE(d.upload(bytes_of("other weights"))); });
  {
    const auto given = device->upload(bytes_of("weights"), &uploads);
    ASSERT_TRUE(given) << given.error().message;
    EXPECT_EQ(*device->upload(bytes_of("weights"), &uploads), *given);
  }
  AskingMemory gives_up(*device, [](CudaDevice& d) { d.give_up("a kernel did not end"); });
  const auto none = device->upload(bytes_of("others"), &gives_up);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kDevice);
}

TEST(CudaDevice, LaunchesKernels) {
  const auto device = make_fake_device();
  fake_cuda_control().define_kernel("scale", &scale, 3);
  const auto module = *device->load(bytes_of(kImage));
  EXPECT_EQ(*device->load(bytes_of(kImage)), module);
  EXPECT_EQ(fake_cuda_control().num_calls("cuModuleLoadData"), 1);
  EXPECT_EQ(module->function("other").error().message, "the cubin has no kernel 'other'");
  const Function function = *module->function("scale");
  const auto stream = *device->create_stream();
  const float x[3] = {1, 2, 3};
  const auto from = *device->upload(std::as_bytes(std::span(x)));
  const Buffer to = *device->allocate(sizeof x);
  const void* in = from->data();
  void* out = to.data();
  int64_t n = 3;
  void* arguments[] = {&in, &out, &n, nullptr};
  ASSERT_TRUE(launch(*stream, function, {.block = {32, 1, 1}, .pdl = true}, arguments));
  float y[3] = {};
  ASSERT_TRUE(device->copy_to_host(y, out, sizeof y, *stream));
  EXPECT_EQ(y[2], 6);
  ASSERT_TRUE(launch(*stream, function, {.grid = {0, 1, 1}}, arguments));  // no work
  EXPECT_EQ(fake_cuda_control().num_calls("cuLaunchKernelEx"), 1);
  // More than 48 KiB of shared memory is asked for once, beforehand.
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(launch(*stream, function, {.block = {32, 1, 1}, .shared_bytes = 100 << 10}, arguments));
  EXPECT_EQ(fake_cuda_control().num_calls("cuFuncSetAttribute"), 1);
  const Status refused = launch(*stream, function, {.block = {2048, 1, 1}}, arguments);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with(
      "launching kernel 'scale' of 1 x 1 x 1 blocks of 2048 threads: CUDA_ERROR_INVALID_VALUE (1)"));
}

TEST(CudaDevice, RefusesOtherModules) {
  const auto device = make_fake_device();
  EXPECT_EQ(device->load(bytes_of(std::string_view("what is this\0", 13))).error().code, Code::kVersion);
  EXPECT_EQ(device->load(std::span<const std::byte>()).error().code, Code::kCorrupt);
  EXPECT_EQ(device->load(bytes_of("a text without an end")).error().code, Code::kCorrupt);
  fake_cuda_control().fail("cuModuleLoadData", 1, kNoBinaryForGpu);
  const auto other = device->load(bytes_of(kImage));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kVersion);
  EXPECT_NE(other.error().message.find("build the engine on this device"), std::string::npos);
  EXPECT_TRUE(device->load(bytes_of(kImage)));
}

TEST(CudaDevice, SurvivesWantOfMemoryEverywhere) {
  const auto device = make_fake_device();
  for (int64_t nth = 1;; ++nth) {
    fake_cuda_control().fail("cuMemAlloc_v2", nth, kOutOfDeviceMemory);
    const auto done = [&]() -> Status {
      const Buffer buffer = TRY(device->allocate(100));
      TRY(device->upload(bytes_of("constant")));
      TRY(device->allocate(200));
      return {};
    }();
    EXPECT_EQ(fake_cuda_control().live_bytes(), 0);
    if (done) {
      EXPECT_EQ(nth, 4);
      break;
    }
    EXPECT_EQ(done.error().code, Code::kOutOfMemory);
    EXPECT_NE(done.error().message.find("bytes on 'Fake GPU': CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"),
              std::string::npos);
  }
}

TEST(CudaDevice, AllocatesBesideACapture) {
  const auto device = make_fake_device();
  EXPECT_TRUE(device->allocate(8));
  EXPECT_EQ(fake_cuda_control().num_calls("cuThreadExchangeStreamCaptureMode"), 4);  // there and back, twice
}

constexpr double kLimitUs = 5e6;

TEST(CudaDevice, MeasuresByGraphs) {
  const auto device = make_fake_device();
  int runs = 0;
  const TimedWork count = [](void* argument, Stream* stream) {
    ++*static_cast<int*>(argument);
    return stream->launch_host([](void*) {}, nullptr);
  };
  {
    const auto measurement = *device->measure(count, &runs, kLimitUs);
    const int captured = runs;
    EXPECT_GT(captured, 1);
    EXPECT_GT(*measurement->turn_us(), 0);
    EXPECT_EQ(runs, captured);  // a replay calls nothing
  }
  EXPECT_EQ(fake_cuda_control().live_objects(), 0);
  const TimedWork failing = [](void*, Stream*) -> Status { return error(Code::kDevice, "no launch"); };
  EXPECT_EQ(device->measure(failing, nullptr, kLimitUs).error().message, "no launch");
  const TimedWork uncapturable = [](void*, Stream* stream) { return stream->synchronize(); };
  EXPECT_GT(*(*device->measure(uncapturable, nullptr, kLimitUs))->turn_us(), 0);
  EXPECT_EQ(fake_cuda_control().live_objects(), 0);
}

/// Launches kernel `scale`, whose work is not done.
Status launch_scale(void* device, Stream* stream) {
  CudaDevice& gpu = *static_cast<CudaDevice*>(device);
  static auto& modules = *new std::vector<std::shared_ptr<const Module>>;  // what was launched needs them
  const auto& module = modules.emplace_back(TRY(gpu.load(bytes_of(kImage))));
  return launch(*stream, TRY(module->function("scale")), {}, nullptr);
}

TEST(CudaDevice, IsGivenUpWhereAKernelDoesNotEnd) {
  const auto device = make_fake_device();
  auto memory = device->allocate(8);
  ASSERT_TRUE(memory);
  fake_cuda_control().misbehave("scale", fake_cuda::Fault::kEndless, 0);
  const auto measured = device->measure(launch_scale, device.get(), 1000);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().message, "kernel 'scale' did not end within 0.001 s");
  const std::string why =
      "this process can use CUDA device 0 no more, since kernel 'scale' did not end within 0.001 s: start it again";
  EXPECT_EQ(device->usable().error().message, why);
  EXPECT_EQ(device->allocate(8).error().message, why);
  EXPECT_EQ(device->create_stream().error().message, why);
  EXPECT_EQ(device->upload(bytes_of("constant")).error().message, why);
  EXPECT_EQ(device->load(bytes_of("FAKE other")).error().message, why);
  const auto address = reinterpret_cast<DevicePointer>(memory->data());
  memory = Buffer();  // freed by nobody, which would wait for the kernel
  EXPECT_EQ(fake_cuda_control().num_calls("cuMemFree_v2"), 0);
  fake_cuda_control().reset();
  const CurrentContext current(*device);
  EXPECT_EQ(fake_driver().mem_free(address), 0);
}

TEST(CudaDevice, KnowsThatAKernelBrokeItsContext) {
  const auto device = make_fake_device();
  EXPECT_TRUE(device->usable());
  fake_cuda_control().misbehave("scale", fake_cuda::Fault::kTrap, kIllegalAddress);
  const auto measured = device->measure(launch_scale, device.get(), kLimitUs);
  ASSERT_FALSE(measured);
  EXPECT_TRUE(measured.error().message.contains("CUDA_ERROR_ILLEGAL_ADDRESS (700)")) << measured.error().message;
  const Status left = device->usable();
  ASSERT_FALSE(left);
  EXPECT_TRUE(
      left.error().message.starts_with("this process can use CUDA device 0 no more, start it again: a kernel "
                                       "broke its context: CUDA_ERROR_ILLEGAL_ADDRESS (700)"))
      << left.error().message;
}

TEST(CudaStream, WrapsTheProgramsStreams) {
  const auto device = make_fake_device();
  for (const uintptr_t number : {uintptr_t{0}, kLegacyStream, kPerThreadStream}) {
    CudaStream stream(*device, reinterpret_cast<StreamHandle>(number));
    int done = 0;
    ASSERT_TRUE(stream.launch_host([](void* n) { ++*static_cast<int*>(n); }, &done));
    EXPECT_TRUE(stream.synchronize());
    EXPECT_EQ(done, 1);
    EXPECT_FALSE(stream.capturing());
  }
  CudaStream own(*device, reinterpret_cast<StreamHandle>(kPerThreadStream));
  ASSERT_EQ(fake_driver().stream_begin_capture(own.handle(), kCaptureRelaxed), 0);
  EXPECT_TRUE(own.capturing());
  GraphHandle graph = nullptr;
  ASSERT_EQ(fake_driver().stream_end_capture(own.handle(), &graph), 0);
  EXPECT_FALSE(own.capturing());
  fake_driver().graph_destroy(graph);
  EXPECT_EQ(fake_cuda_control().live_objects(), 0);  // none was ours
}

TEST(CudaEvent, KnowsAStreamFromALaterOneOfItsHandle) {
  const auto device = make_fake_device();
  const auto event = device->create_event(EventTiming::kOff);
  ASSERT_TRUE(event);
  auto stream = device->create_stream();
  const auto handle_of = [](const auto& made) { return static_cast<const CudaStream&>(**made).handle(); };
  const StreamHandle first = handle_of(stream);
  ASSERT_TRUE((*event)->record(**stream));
  ASSERT_TRUE((*event)->wait(**stream));
  EXPECT_EQ(fake_cuda_control().num_calls("cuStreamWaitEvent"), 0);  // in order as it is
  stream->reset();                                                   // what was queued may still run
  stream = device->create_stream();
  ASSERT_EQ(handle_of(stream), first);
  ASSERT_TRUE((*event)->wait(**stream));
  EXPECT_EQ(fake_cuda_control().num_calls("cuStreamWaitEvent"), 1);
}

TEST(CudaStream, ReturnsAFaultOnce) {
  const auto device = make_fake_device();
  const auto stream = *device->create_stream();
  stream->fault({Code::kDevice, "first"});
  stream->fault({Code::kDevice, "second"});
  EXPECT_TRUE(stream->faulted());
  EXPECT_EQ(stream->synchronize().error().message, "first");
  EXPECT_FALSE(stream->faulted());
  EXPECT_TRUE(stream->synchronize());
}

/// A kernel on a real GPU.
struct GpuKernel {
  std::unique_ptr<CudaDevice> device;
  std::shared_ptr<const Module> module;
  static Result<GpuKernel> make(std::string text, std::string entry) {
    GpuKernel made;
    made.device = TRY(CudaDevice::create(0));
    TRY(Nvrtc::instance());
    const auto cubin = TRY(compiler_of(*made.device).compile({.prelude = std::move(text), .entry = std::move(entry)}));
    made.module = TRY(made.device->load(cubin));
    return made;
  }
};

TEST(GpuDevice, IsGivenUpWhereAKernelDoesNotEnd) {
  auto made = GpuKernel::make(
      "extern \"C\" __global__ void wait(const volatile long long* word) {\n"
      "  long long start, now;\n"
      "  asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(start));\n"
      "  do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now)); while (*word == 0 && now - start < "
      "10000000000);\n"
      "}\n",
      "wait");
  if (!made) GTEST_SKIP() << made.error().message;
  const auto start = std::chrono::steady_clock::now();
  struct Run {
    Function function;
    FaultWord word;
  } run{*made->module->function("wait"), *FaultWord::create(*made->device)};
  {
    auto memory = made->device->allocate(8);
    ASSERT_TRUE(memory);
    const auto measured = made->device->measure(
        [](void* argument, Stream* stream) {
          Run& run = *static_cast<Run*>(argument);
          const int64_t* word = run.word.address();
          void* arguments[] = {&word};
          return launch(*stream, run.function, {}, arguments);
        },
        &run, 3e5);
    ASSERT_FALSE(measured);
    EXPECT_EQ(measured.error().message, "kernel 'wait' did not end within 0.3 s");
  }
  EXPECT_FALSE(made->device->usable());
  EXPECT_FALSE(made->device->allocate(8));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));  // nothing has waited for the kernel
  std::atomic_ref(*run.word.address()).store(1);
  const CurrentContext current(*made->device);
  EXPECT_EQ(made->device->driver().ctx_synchronize(), 0);
}

/// Runs in a process of its own, whose context it breaks.
TEST(GpuDevice, KnowsThatAKernelBrokeItsContext) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (const auto device = CudaDevice::create(0); !device) GTEST_SKIP() << device.error().message;
  if (const auto nvrtc = Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  const auto trap = [] {
    auto made = GpuKernel::make("extern \"C\" __global__ void trap(int* at) { *at = 1; }\n", "trap");
    if (!made) std::exit(1);
    const TimedWork run = [](void* argument, Stream* stream) {
      int* nowhere = nullptr;
      void* arguments[] = {&nowhere};
      return launch(*stream, *static_cast<Function*>(argument), {}, arguments);
    };
    Function function = *made->module->function("trap");
    const auto measured = made->device->measure(run, &function, kLimitUs);
    if (measured) std::exit(2);
    std::cerr << measured.error().message << "; ";
    if (const Status left = made->device->usable(); !left) std::cerr << left.error().message << '\n';
    made = {};
    std::exit(0);
  };
  EXPECT_EXIT(trap(), ::testing::ExitedWithCode(0),
              "kernel 'trap': CUDA_ERROR_ILLEGAL_ADDRESS .*; this process can use CUDA device 0 no more, start it "
              "again: a kernel broke its context: CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(GpuDevice, ComputesWhatItShould) {
  auto made = CudaDevice::create(0);
  if (!made) GTEST_SKIP() << made.error().message;
  if (const auto nvrtc = Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  CudaDevice& device = **made;
  const auto cubin = compiler_of(device).compile(
      {.prelude = "extern \"C\" __global__ void scale(const float* x, float* y, long long n) {\n"
                  "  extern __shared__ float shared[];\n"
                  "  shared[threadIdx.x] = x[threadIdx.x];\n"
                  "  if (threadIdx.x < n) y[threadIdx.x] = 2 * shared[threadIdx.x];\n}\n",
       .entry = "scale"});
  ASSERT_TRUE(cubin) << cubin.error().message;
  const auto module = *device.load(*cubin);
  const Function function = *module->function("scale");
  EXPECT_GT(*function.attribute(kFunctionRegisters), 0);
  const auto stream = *device.create_stream();
  float x[32], y[32] = {};
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  const auto from = *device.upload(std::as_bytes(std::span(x)));
  const Buffer to = *device.allocate(sizeof x);
  const void* in = from->data();
  void* out = to.data();
  int64_t n = 32;
  void* arguments[] = {&in, &out, &n};
  for (const LaunchShape& shape :
       {LaunchShape{.block = {32, 1, 1}, .shared_bytes = 128},
        LaunchShape{.block = {32, 1, 1}, .shared_bytes = 200 << 10},
        LaunchShape{.grid = {2, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 128, .cluster = 2},
        LaunchShape{.block = {32, 1, 1}, .shared_bytes = 128, .pdl = true}}) {
    if ((shape.cluster > 1 && device.properties().compute_major < 9) ||
        shape.shared_bytes > device.properties().shared_bytes_per_block)
      continue;
    std::memset(y, 0, sizeof y);
    ASSERT_TRUE(device.copy_from_host(out, y, sizeof y, *stream));
    const Status launched = launch(*stream, function, shape, arguments);
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(device.copy_to_host(y, out, sizeof y, *stream));
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], 2 * x[i]);
  }
  struct Run {
    const Function& function;
    void** arguments;
  } run{function, arguments};
  const auto measurement = device.measure(
      [](void* argument, Stream* stream) {
        const Run& run = *static_cast<Run*>(argument);
        return launch(*stream, run.function, {.block = {32, 1, 1}, .shared_bytes = 128}, run.arguments);
      },
      &run, kLimitUs);
  ASSERT_TRUE(measurement) << measurement.error().message;
  const double us = *(*measurement)->turn_us();
  EXPECT_GT(us, 0.2);
  EXPECT_LT(us, 100);
}

}  // namespace
}  // namespace kiln::cuda
