// Built with CUDA_API_PER_THREAD_DEFAULT_STREAM: the calls are those with a suffix, and stream 0 is the thread's own.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

TEST(CudartPerThread, Stream0IsTheThreadsOwn) {
  std::atomic<bool> open{false};
  const auto pass = [](void* flag) {
    while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
  };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, pass, &open), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  std::thread([] {  // not held up by the other thread's
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  })
      .join();
  open = true;
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  cudaGetLastError();
}

TEST(CudartPerThread, EveryCall) {
  int *device = nullptr, *host = nullptr;
  ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&device), 16, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), 16), cudaSuccess);
  EXPECT_EQ(cudaMemset(device, 1, 16), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(device, 2, 4, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(device + 1, 8, 3, 4, 1), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host, device, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host[0], 0x02020202);
  EXPECT_EQ(host[1], 0x03030303);
  EXPECT_EQ(host[2], 0x01010101);
  EXPECT_EQ(cudaMemcpy2D(device, 8, host, 4, 4, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DAsync(host, 4, device, 8, 4, 2, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(host + 2, device, 8, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(device, nullptr), cudaSuccess);
  unsigned int flags = 7;
  int priority = 7;
  EXPECT_EQ(cudaStreamGetFlags(nullptr, &flags), cudaSuccess);
  EXPECT_EQ(cudaStreamGetPriority(nullptr, &priority), cudaSuccess);
  EXPECT_EQ(flags + static_cast<unsigned>(priority), 0u);
  int called = 0;
  EXPECT_EQ(cudaStreamAddCallback(
                nullptr, [](cudaStream_t, cudaError_t, void* data) { ++*static_cast<int*>(data); }, &called, 0),
            cudaSuccess);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(event, nullptr, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(nullptr, dim3(), dim3(), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

TEST(CudartPerThread, ItCanBeCaptured) {
  int runs = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ASSERT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(cudaLaunchHostFunc(
                nullptr, [](void* data) { ++*static_cast<int*>(data); }, &runs),
            cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(nullptr, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace
