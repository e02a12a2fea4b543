// .cu files on a GPU, or on the stand-in for its driver, where kernels do what the tests say.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "backend/cuda/device/testing/fake_cuda.h"
#include "registration.h"
#include "stream_of.h"
#ifdef KILN_NVCC
#include "kernels.h"
#endif

namespace {

/// The stand-in's controls; null where the driver is real.
const kiln::fake_cuda::Control* stand_in() {
  const char* path = std::getenv("KILN_CUDA_DRIVER");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  void* found = library ? dlsym(library, "kiln_fake_cuda") : nullptr;
  return found ? reinterpret_cast<decltype(&kiln_fake_cuda)>(found)() : nullptr;
}

class CudartCodeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    int version = 0, count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) GTEST_SKIP() << cudaGetErrorString(cudaGetLastError());
    ASSERT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
    if (version == 0) GTEST_SKIP() << "the device is the CPU";
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    cudaGetLastError();
  }
  void TearDown() override {
    if (stream) {
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
    cudaGetLastError();
  }
  cudaStream_t stream = nullptr;
};

// --- As nvcc's host code registers and launches, by hand, on the stand-in

long launches = 0, latest = 0;
void count_launch(const kiln::cuda::LaunchConfig& config, void** arguments) {
  ++launches;
  latest = *static_cast<long*>(arguments[0]) + config.grid[0];
}
void stub() {}
int shadow = 0;
const void* const kStub = reinterpret_cast<const void*>(&stub);

struct Wrapper {
  int magic = 0x466243b1, version = 1;
  const char* data = "FAKE kernel shadow managed";
  void* prelinked = nullptr;
};

class CudartByHandGpu : public CudartCodeGpu {
 protected:
  void SetUp() override {
    CudartCodeGpu::SetUp();
    if (IsSkipped()) return;
    fake = stand_in();
    if (!fake) GTEST_SKIP() << "a real driver does not take this test's image";
    fake->define_kernel("kernel", &count_launch, 1);
    launches = latest = 0;
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&stub), nullptr, "kernel", -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, reinterpret_cast<char*>(&shadow), nullptr, "shadow", 0, 64, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  void TearDown() override {
    __cudaUnregisterFatBinary(handle);
    CudartCodeGpu::TearDown();
  }
  const kiln::fake_cuda::Control* fake = nullptr;
  Wrapper wrapper;
  void** handle = nullptr;
  long argument = 40;
  void* arguments[1] = {&argument};
};

TEST_F(CudartByHandGpu, LoadsWhatIsUsedAndOnlyOnce) {
  const int64_t objects = fake->live_objects(), loads = fake->num_calls("cuLibraryLoadData");
  EXPECT_EQ(cudaLaunchKernel(kStub, 2, 32, arguments, 0, stream), cudaSuccess);
  EXPECT_EQ(latest, 42);
  argument = 50;
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, kStub), cudaSuccess);
  std::thread([&] { EXPECT_EQ(__cudaLaunchKernel(kernel, 3, 32, arguments, 0, stream), cudaSuccess); }).join();
  EXPECT_EQ(latest, 53);
  EXPECT_EQ(__cudaLaunchKernel_ptsz(kernel, 4, 32, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(launches, 3);
  EXPECT_EQ(fake->num_calls("cuLibraryLoadData") - loads, 1);
  __cudaUnregisterFatBinary(handle);
  handle = nullptr;
  EXPECT_EQ(fake->live_objects(), objects);
  EXPECT_EQ(cudaLaunchKernel(kStub, 2, 32, arguments, 0, stream), cudaErrorInvalidDeviceFunction);
}

TEST_F(CudartByHandGpu, LaunchesInAllWays) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  const cudaLaunchConfig_t config{
      .gridDim = 5, .blockDim = 32, .dynamicSmemBytes = 0, .stream = stream, .attrs = &attribute, .numAttrs = 1};
  EXPECT_EQ(cudaLaunchKernelExC(&config, kStub, arguments), cudaSuccess);
  EXPECT_EQ(latest, 45);
  EXPECT_EQ(cudaLaunchKernelExC_ptsz(&config, kStub, arguments), cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(kStub, 6, 32, arguments, 0, stream), cudaSuccess);
  EXPECT_EQ(latest, 46);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaGetKernel(&kernel, kStub), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 7, 32, arguments, 0, stream), cudaSuccess);
  EXPECT_EQ(latest, 47);
  EXPECT_EQ(launches, 4);
}

TEST_F(CudartByHandGpu, SaysWhatIsWrongWithALaunch) {
  EXPECT_EQ(cudaLaunchKernel(kStub, 0, 32, arguments, 0, stream), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(kStub, 1, 1025, arguments, 0, stream), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(kStub, {1, 65536}, 1, arguments, 0, stream), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(kStub, 1, 1, arguments, 64 << 10, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kStub, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kStub, 1, 1, arguments, 64 << 10, stream), cudaSuccess);
  Wrapper wrapper_of_another;
  void** another = __cudaRegisterFatBinary(&wrapper_of_another);
  static const char absent[] = "the address of a stub";
  __cudaRegisterFunction(another, absent, nullptr, "absent", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  fake->fail("cuLibraryLoadData", 1, kiln::cuda::kNoBinaryForGpu);
  EXPECT_EQ(cudaLaunchKernel(absent, 1, 1, nullptr, 0, stream), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(cudaLaunchKernel(absent, 1, 1, nullptr, 0, stream), cudaErrorInvalidDeviceFunction);  // loaded, not there
  __cudaUnregisterFatBinary(another);
}

TEST_F(CudartByHandGpu, ReplaysLaunches) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kStub, 2, 32, arguments, 0, stream), cudaSuccess);  // loads it, too
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(launches, 0);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(launches, 1);
  EXPECT_EQ(latest, 42);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CudartByHandGpu, CopiesToAndFromVariables) {
  const int to[2] = {7, 8};
  int from[2] = {};
  void* address = nullptr;
  size_t size = 0;
  EXPECT_EQ(cudaGetSymbolSize(&size, &shadow), cudaSuccess);
  EXPECT_EQ(size, 64u);
  ASSERT_EQ(cudaGetSymbolAddress(&address, &shadow), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, to, sizeof to, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(from, &shadow, sizeof from, 8), cudaSuccess);
  EXPECT_EQ(from[0], 8);
  EXPECT_EQ(static_cast<int*>(address)[1], 7);
  EXPECT_EQ(cudaMemcpyToSymbolAsync(&shadow, to, 4, 60, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbolAsync_ptsz(from, &shadow, 4, 60, cudaMemcpyDefault, nullptr), cudaSuccess);
  EXPECT_EQ(from[0], 7);
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, to, 8, 60), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, to, 8, ~size_t{0}), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(from, &shadow, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
}

TEST_F(CudartByHandGpu, ManagedVariablesHaveMemoryBeforeTheirFirstUse) {
  static int* managed = nullptr;
  managed = nullptr;
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&managed), nullptr, "managed", 0, sizeof(int), 0, 0);
  EXPECT_EQ(__cudaInitModule(handle), 1);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_NE(managed, nullptr);
  const int value = 9;
  EXPECT_EQ(cudaMemcpyToSymbol(managed, &value, sizeof value), cudaSuccess);  // by the address of its memory
  EXPECT_EQ(*managed, 9);
}

TEST_F(CudartByHandGpu, AnswersAboutKernels) {
  cudaFuncAttributes attributes;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kStub), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.numRegs, 32);
  const cudaLaunchConfig_t config{
      .gridDim = 1, .blockDim = 32, .dynamicSmemBytes = 0, .stream = stream, .attrs = nullptr, .numAttrs = 0};
  int number = 0;
  size_t bytes = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, kStub, 256, 0), cudaSuccess);
  EXPECT_EQ(number, 8);
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&number, kStub, &config), cudaSuccess);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&number, kStub, &config), cudaSuccess);
  EXPECT_EQ(number, 8);
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kStub, 2, 32), cudaSuccess);
  EXPECT_EQ(bytes, size_t{227} << 9);
  cudaFunction_t function = nullptr;
  EXPECT_EQ(cudaGetFuncBySymbol(&function, kStub), cudaSuccess);
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(cudaFuncSetCacheConfig(kStub, cudaFuncCachePreferShared), cudaSuccess);
}

// --- What nvcc made

#ifdef KILN_NVCC
/// kernels.cu's scale, with its first factor, for the stand-in.
void scale_on_host(const kiln::cuda::LaunchConfig&, void** arguments) {
  const int* x = *static_cast<const int**>(arguments[0]);
  int* y = *static_cast<int**>(arguments[1]);
  for (long i = 0; i < *static_cast<long*>(arguments[2]); ++i) y[i] = x[i] * 2 + 1 + static_cast<int>(i % 4);
}

class CudartNvccGpu : public CudartCodeGpu {
 protected:
  void SetUp() override {
    CudartCodeGpu::SetUp();
    if (IsSkipped()) return;
    if ((fake = stand_in())) fake->define_kernel("_ZN9kiln_test5scaleE", &scale_on_host, 3);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), kCount * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&y), kCount * sizeof(int)), cudaSuccess);
    std::vector<int> values(kCount);
    std::iota(values.begin(), values.end(), -50);
    ASSERT_EQ(cudaMemcpy(x, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
  }
  void TearDown() override {
    cudaFree(x), cudaFree(y);
    CudartCodeGpu::TearDown();
  }
  std::vector<int> result() {
    std::vector<int> values(kCount);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(values.data(), y, kCount * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }
  void expect_scaled(int factor) {
    const std::vector<int> found = result();
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(found[static_cast<size_t>(i)], (i - 50) * factor + 1 + i % 4) << i;
  }

  static constexpr int kCount = 100;
  const kiln::fake_cuda::Control* fake = nullptr;
  int *x = nullptr, *y = nullptr;
};

TEST_F(CudartNvccGpu, KernelsRun) {
  EXPECT_EQ(launch_scale(x, y, kCount, 32, stream), cudaSuccess);
  expect_scaled(2);
  EXPECT_EQ(launch_scale(x, y, kCount, 2000, stream), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch_scale(x, y, 0, 32, stream), cudaErrorInvalidConfiguration);  // a grid of no blocks
  EXPECT_EQ(launch_fill(y, 4, 17), cudaSuccess);
  EXPECT_EQ(launch_fill(reinterpret_cast<float*>(y) + 4, 4, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  if (fake) return;
  const std::vector<int> found = result();
  EXPECT_EQ(found[3], 17);
  EXPECT_EQ(found[4], 0x3f800000);
  EXPECT_EQ(found[8], (8 - 50) * 2 + 1);
}

TEST_F(CudartNvccGpu, LaunchesWithAConfiguration) {
  EXPECT_EQ(launch_scale(x, y, kCount, 32, stream), cudaSuccess);
  EXPECT_EQ(launch_reverse(y, kCount, 64 << 10, stream), cudaErrorInvalidValue);
  EXPECT_EQ(allow_shared(64 << 10), cudaSuccess);
  EXPECT_EQ(launch_reverse(y, kCount, 64 << 10, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  if (!fake) {
    EXPECT_EQ(result()[0], (kCount - 1 - 50) * 2 + 1 + (kCount - 1) % 4);
  }
}

TEST_F(CudartNvccGpu, VariablesAreReadAndWritten) {
  int value = 0;
  size_t bytes = 0;
  EXPECT_EQ(set_factor(3), cudaSuccess);
  EXPECT_EQ(get_factor(&value), cudaSuccess);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(size_of_offsets(&bytes), cudaSuccess);
  EXPECT_EQ(bytes, 4 * sizeof(int));
  EXPECT_EQ(get_offset(2, &value), cudaSuccess);
  EXPECT_EQ(get_offset(4, &value), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  int* calls = calls_of_scale();
  ASSERT_NE(calls, nullptr);
  const int before = *calls;
  EXPECT_EQ(launch_scale(x, y, kCount, 32, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  if (!fake) {
    EXPECT_GE(before, 5);
    EXPECT_EQ(*calls, before + 1);
    expect_scaled(3);
    EXPECT_EQ(get_offset(2, &value), cudaSuccess);
    EXPECT_EQ(value, 3);
  }
  EXPECT_EQ(set_factor(2), cudaSuccess);
}

TEST_F(CudartNvccGpu, KernelsDescribeThemselves) {
  cudaFuncAttributes attributes;
  ASSERT_EQ(attributes_of_scale(&attributes), cudaSuccess);
  EXPECT_GE(attributes.maxThreadsPerBlock, 256);
  EXPECT_GT(attributes.numRegs, 0);
  if (!fake) {
    EXPECT_GE(attributes.binaryVersion, 80);
  }
  int blocks = 0;
  EXPECT_EQ(occupancy_of_scale(&blocks, 256), cudaSuccess);
  EXPECT_GE(blocks, 4);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(kernel_of_scale(&kernel), cudaSuccess);
  EXPECT_NE(kernel, nullptr);
}

TEST_F(CudartNvccGpu, LaunchesOnEveryDevice) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  if (count < 2) GTEST_SKIP() << "there is one device";
  for (int device = count - 1; device >= 0; --device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    int *from = nullptr, *to = nullptr, value = 20, found = 0;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&from), sizeof value), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&to), sizeof value), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(from, &value, sizeof value, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(launch_scale(from, to, 1, 32, nullptr), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(&found, to, sizeof found, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(found, 41);
    cudaFree(from), cudaFree(to);
  }
}
#else
TEST(CudartNvccGpu, KernelsRun) { GTEST_SKIP() << "nvcc is not installed"; }
#endif

}  // namespace
