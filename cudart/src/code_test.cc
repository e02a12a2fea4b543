// .cu files on the host: what they register is known, and every use of it says that there is no GPU.
#include <gtest/gtest.h>

#include <string>

#include "registration.h"
#include "stream_of.h"
#ifdef KILN_NVCC
#include "kernels.h"
#endif

namespace {

void stub() {}
void other_stub() {}
int shadow = 0;
const void* const kStub = reinterpret_cast<const void*>(&stub);

/// A fat binary that nvcc might have made; nothing may read it without a GPU.
struct Registered {
  int wrapper[6] = {};
  void** handle = __cudaRegisterFatBinary(wrapper);
  Registered() {
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&stub), nullptr, "_Z4stubv", -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, reinterpret_cast<char*>(&shadow), nullptr, "shadow", 0, sizeof shadow, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Registered() { __cudaUnregisterFatBinary(handle); }
};

/// `stub<<<grid, 32>>>()`, as nvcc writes it.
cudaError_t call_stub(unsigned grid) {
  if (const unsigned refused = __cudaPushCallConfiguration(grid, 32, 0, nullptr))
    return static_cast<cudaError_t>(refused);
  cudaKernel_t kernel = nullptr;
  if (const cudaError_t unknown = __cudaGetKernel(&kernel, kStub)) return unknown;
  dim3 blocks, threads;
  size_t shared = 1;
  cudaStream_t stream = cudaStreamPerThread;
  EXPECT_EQ(__cudaPopCallConfiguration(&blocks, &threads, &shared, &stream), cudaSuccess);
  EXPECT_EQ(blocks.x, grid);
  EXPECT_EQ(stream, nullptr);
  return __cudaLaunchKernel(kernel, blocks, threads, nullptr, shared, stream);
}

TEST(CudartCode, ALaunchSaysThatThereIsNoDevice) {
  const Registered registered;
  cudaGetLastError();
  EXPECT_EQ(call_stub(1), cudaErrorNoDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_NE(std::string(cudaGetErrorString(cudaErrorNoDevice)).find("GPU"), std::string::npos);
  cudaLaunchConfig_t config{};
  EXPECT_EQ(cudaLaunchKernel(kStub, 1, 1, nullptr, 0, nullptr), cudaErrorNoDevice);
  EXPECT_EQ(cudaLaunchKernel_ptsz(kStub, 1, 1, nullptr, 0, nullptr), cudaErrorNoDevice);
  EXPECT_EQ(cudaLaunchKernelExC(&config, kStub, nullptr), cudaErrorNoDevice);
  EXPECT_EQ(cudaLaunchCooperativeKernel(kStub, 1, 1, nullptr, 0, nullptr), cudaErrorNoDevice);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, kStub, nullptr), cudaErrorInvalidValue);
  cudaFuncAttributes attributes;
  int blocks = 0;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kStub), cudaErrorNoDevice);
  EXPECT_EQ(cudaFuncSetAttribute(kStub, cudaFuncAttributeMaxDynamicSharedMemorySize, 1), cudaErrorNoDevice);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kStub, 32, 0), cudaErrorNoDevice);
  const char* name = nullptr;
  EXPECT_EQ(cudaFuncGetName(&name, kStub), cudaSuccess);
  EXPECT_STREQ(name, "_Z4stubv");
  cudaGetLastError();
}

TEST(CudartCode, WhatIsNotRegisteredIsUnknown) {
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(&other_stub), 1, 1, nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, kStub), cudaErrorInvalidDeviceFunction);
  int value = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, &value, sizeof value), cudaErrorInvalidSymbol);
  { const Registered registered; }
  EXPECT_EQ(cudaLaunchKernel(kStub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

TEST(CudartCode, TwoFilesMayRegisterOneFunction) {
  const Registered first;
  { const Registered second; }
  EXPECT_EQ(call_stub(1), cudaErrorNoDevice);
  cudaGetLastError();
}

TEST(CudartCode, ConfigurationsNest) {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMissingConfiguration);
  EXPECT_EQ(__cudaPushCallConfiguration({1, 2, 3}, {4, 5, 6}, 7, cudaStreamPerThread), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration(8, 9, 0, nullptr), 0u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 8u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(block.y, 5u);
  EXPECT_EQ(shared, 7u);
  EXPECT_EQ(stream, cudaStreamPerThread);
}

TEST(CudartCode, VariablesSayThatThereIsNoDevice) {
  const Registered registered;
  void* address = &shadow;
  size_t size = 0;
  int value = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, &value, sizeof value), cudaErrorNoDevice);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &shadow, sizeof value), cudaErrorNoDevice);
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, &value, sizeof value, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &shadow), cudaErrorNoDevice);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(cudaGetSymbolSize(&size, &shadow), cudaErrorNoDevice);
  cudaGetLastError();
}

TEST(CudartCode, ManagedVariablesAreZerosWithoutADevice) {
  const Registered registered;
  static int* managed = nullptr;
  __cudaRegisterManagedVar(registered.handle, reinterpret_cast<void**>(&managed), nullptr, "managed", 0, sizeof(int), 0,
                           0);
  EXPECT_EQ(__cudaInitModule(registered.handle), 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
  ASSERT_NE(managed, nullptr);
  EXPECT_EQ(*managed, 0);
}

TEST(CudartCode, NvccsCallsSayThatThereIsNoDevice) {
#ifdef KILN_NVCC
  cudaFuncAttributes attributes;
  int data[4] = {}, blocks = 0;
  EXPECT_EQ(launch_scale(data, data, 4, 32, nullptr), cudaErrorNoDevice);
  EXPECT_EQ(launch_fill(data, 4, 1), cudaErrorNoDevice);
  EXPECT_EQ(launch_reverse(data, 4, 16, nullptr), cudaErrorNoDevice);
  EXPECT_EQ(attributes_of_scale(&attributes), cudaErrorNoDevice);
  EXPECT_EQ(occupancy_of_scale(&blocks, 32), cudaErrorNoDevice);
  EXPECT_EQ(set_factor(3), cudaErrorNoDevice);
  EXPECT_EQ(*calls_of_scale(), 0);
  cudaGetLastError();
#else
  GTEST_SKIP() << "nvcc is not installed";
#endif
}

}  // namespace
