#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

TEST(CudartMemory, IsAlignedAndFreedOnce) {
  std::vector<void*> all;
  for (size_t size : {1, 7, 256, 1000, 1 << 20}) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, size), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
    std::memset(memory, 1, size);
    all.push_back(memory);
  }
  for (void* memory : all) {
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  }
  cudaGetLastError();
}

TEST(CudartMemory, CornersOfAllocating) {
  void* memory = &memory;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&memory, SIZE_MAX / 2), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  int mine = 0;
  EXPECT_EQ(cudaFree(&mine), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&memory, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMallocHost(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);  // the other kind's
  EXPECT_EQ(cudaFreeHost(memory), cudaSuccess);
  size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_GT(free, 0u);
  EXPECT_LE(free, total);
  cudaGetLastError();
}

TEST(CudartMemory, KnowsItsPointers) {
  const auto type = [](const void* at) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, at), cudaSuccess);
    return attributes.type;
  };
  std::byte *device = nullptr, *managed = nullptr, *host = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 100), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed), 100), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&host), 100, cudaHostAllocMapped), cudaSuccess);
  EXPECT_EQ(type(device), cudaMemoryTypeDevice);
  EXPECT_EQ(type(device + 99), cudaMemoryTypeDevice);
  EXPECT_NE(type(device + 100), cudaMemoryTypeDevice);
  EXPECT_EQ(type(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type(host), cudaMemoryTypeHost);
  std::vector<char> mine(100);
  EXPECT_EQ(type(mine.data()), cudaMemoryTypeUnregistered);
  unsigned int flags = 0;
  EXPECT_EQ(cudaHostGetFlags(&flags, host), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaHostAllocMapped});
  EXPECT_EQ(cudaHostGetFlags(&flags, device), cudaErrorInvalidValue);
  void* seen = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&seen, host, 0), cudaSuccess);
  EXPECT_EQ(seen, host);
  for (void* memory : {device, managed}) EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(type(device), cudaMemoryTypeUnregistered);
  cudaGetLastError();
}

TEST(CudartMemory, PinsAProgramsOwn) {
  std::vector<char> mine(1000);
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaErrorHostMemoryNotRegistered);
  ASSERT_EQ(cudaHostRegister(mine.data() + 100, 500, cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(mine.data(), 101, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(mine.data() + 599, 1, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(mine.data(), 100, 0), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(mine.data() + 100), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(nullptr, 1, 0), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(CudartMemory, CopiesAndSets) {
  std::vector<int> from{1, 2, 3, 4, 5, 6}, to(6, 0);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 24), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, from.data(), 24, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(to.data(), device, 24, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(to, from);
  EXPECT_EQ(cudaMemset(device, 0xff, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(to.data(), device, 24, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(to, (std::vector<int>{-1, -1, 3, 4, 5, 6}));
  // Two rows of one int each, three ints apart.
  EXPECT_EQ(cudaMemcpy2D(device, 12, from.data(), 4, 4, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(static_cast<std::byte*>(device) + 4, 12, 0, 4, 2), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(to.data(), device, 24, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(to, (std::vector<int>{1, 0, 3, 2, 0, 6}));
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(CudartMemory, RefusesBadCopies) {
  std::vector<char> mine(64);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 32), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, mine.data(), 33, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(mine.data(), device, 33, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device, 0, 33), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, mine.data(), SIZE_MAX, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, mine.data(), 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, mine.data(), 1, static_cast<cudaMemcpyKind>(5)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy2D(device, 4, mine.data(), 8, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(device, 24, mine.data(), 8, 8, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  cudaGetLastError();
}

TEST(CudartMemory, InTheOrderOfAStream) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  int *device = nullptr, *host = nullptr;
  ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&device), 4, stream), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), 4), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(device, 1, 4, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(host, device, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(device, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*host, 0x01010101);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

// CUDA reads pageable sources before an asynchronous copy returns, and writes pageable destinations too.
TEST(CudartMemory, PageableMemoryIsNotHeldOnTo) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (size_t count : {size_t{1}, size_t{100'000}}) {
    int* device = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), count * 4), cudaSuccess);
    std::vector<int> from(count, 7), to(count, 0);
    EXPECT_EQ(cudaMemcpyAsync(device, from.data(), count * 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
    std::fill(from.begin(), from.end(), 8);
    EXPECT_EQ(cudaMemcpyAsync(to.data(), device, count * 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    EXPECT_EQ(to, std::vector<int>(count, 7));
    EXPECT_EQ(cudaFree(device), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudartMemory, FromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        void* memory = nullptr;
        ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
        int seen = 0;
        const int value = t * 1000 + i;
        ASSERT_EQ(cudaMemcpy(memory, &value, 4, cudaMemcpyHostToDevice), cudaSuccess);
        ASSERT_EQ(cudaMemcpy(&seen, memory, 4, cudaMemcpyDeviceToHost), cudaSuccess);
        ASSERT_EQ(seen, value);
        ASSERT_EQ(cudaFree(memory), cudaSuccess);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
