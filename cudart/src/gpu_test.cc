// The CUDA runtime's functions over a driver: a GPU's where there is one, or the stand-in that KILN_CUDA_DRIVER names.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"
#include "stream_of.h"

namespace {

class CudartGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t found = cudaGetDeviceCount(&count);
    if (found != cudaSuccess) GTEST_SKIP() << cudaGetErrorString(found);
    int version = 0;
    ASSERT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
    if (version == 0) GTEST_SKIP() << "the device is the CPU";
    ASSERT_GE(count, 1);
    ASSERT_EQ(cudaMalloc(&device, kBytes), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    if (stream) cudaStreamDestroy(stream);
    EXPECT_EQ(cudaFree(device), cudaSuccess);
    cudaGetLastError();
  }

  static constexpr size_t kBytes = 1 << 20;
  void* device = nullptr;
  cudaStream_t stream = nullptr;
};

TEST_F(CudartGpu, DescribesTheDevice) {
  cudaDeviceProp prop;
  ASSERT_EQ(cudaGetDeviceProperties(&prop, 0), cudaSuccess);
  EXPECT_NE(std::string(prop.name), "");
  EXPECT_GE(prop.major, 8);
  EXPECT_GT(prop.totalGlobalMem, size_t{1} << 30);
  EXPECT_GE(prop.sharedMemPerBlockOptin, size_t{48} << 10);
  EXPECT_EQ(prop.warpSize, 32);
  int value = 0, device_number = -1;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, prop.multiProcessorCount);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device_number), cudaSuccess);
  EXPECT_EQ(device_number, 0);
  EXPECT_EQ(cudaSetDevice(4096), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(&prop, -1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_GE(value, 12000);
  size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_GT(free, size_t{0});
  EXPECT_LE(free, total);
}

TEST_F(CudartGpu, CopiesAndFills) {
  std::vector<unsigned char> to(kBytes), back(kBytes);
  for (size_t i = 0; i < kBytes; ++i) to[i] = static_cast<unsigned char>(i * 31);
  ASSERT_EQ(cudaMemcpy(device, to.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back.data(), device, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(to, back);
  ASSERT_EQ(cudaMemsetAsync(device, 7, 100, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(back.data(), device, 200, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(back[99], 7);
  EXPECT_EQ(back[100], to[100]);
  // Three rows of five bytes out of rows of eight.
  ASSERT_EQ(cudaMemcpy2D(device, 16, to.data(), 8, 5, 3, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(back.data(), 5, device, 16, 5, 3, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t row = 0; row < 3; ++row) EXPECT_EQ(std::memcmp(&back[row * 5], &to[row * 8], 5), 0);
  ASSERT_EQ(cudaMemset2D(device, 16, 9, 2, 2), cudaSuccess);
  ASSERT_EQ(cudaMemcpy_ptds(back.data(), device, 18, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back[0], 9);
  EXPECT_EQ(back[17], 9);
  EXPECT_EQ(back[2], to[2]);
  EXPECT_EQ(cudaMemcpy(device, to.data(), 1, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(nullptr, to.data(), 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST_F(CudartGpu, KnowsMemory) {
  cudaPointerAttributes known;
  ASSERT_EQ(cudaPointerGetAttributes(&known, device), cudaSuccess);
  EXPECT_EQ(known.type, cudaMemoryTypeDevice);
  EXPECT_EQ(known.device, 0);
  EXPECT_EQ(known.devicePointer, device);
  int local = 0;
  ASSERT_EQ(cudaPointerGetAttributes(&known, &local), cudaSuccess);
  EXPECT_EQ(known.type, cudaMemoryTypeUnregistered);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 4096), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&known, pinned), cudaSuccess);
  EXPECT_EQ(known.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  void* none = &local;
  EXPECT_EQ(cudaMalloc(&none, 0), cudaSuccess);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&none, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocAsync(&none, 512, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(none, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST_F(CudartGpu, CallsHostFunctions) {
  int calls = 0;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void* n) { ++*static_cast<int*>(n); }, &calls),
            cudaSuccess);
  ASSERT_EQ(
      cudaStreamAddCallback(
          stream, [](cudaStream_t, cudaError_t status, void* n) { *static_cast<int*>(n) += status == 0 ? 10 : 0; },
          &calls, 0),
      cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(CudartGpu, TimesBetweenEvents) {
  cudaEvent_t start = nullptr, end = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device, 1, kBytes, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(cudaStreamPerThread, end, 0), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(end), cudaSuccess);
  float ms = -1;
  ASSERT_EQ(cudaEventElapsedTime(&ms, start, end), cudaSuccess);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(cudaEventRecord(nullptr, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
}

TEST_F(CudartGpu, ReplaysCaptures) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device, 3, 64, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device, 0, 64, stream), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  unsigned char byte = 0;
  ASSERT_EQ(cudaMemcpyAsync(&byte, device, 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(byte, 3);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

}  // namespace
