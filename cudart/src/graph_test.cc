#include <gtest/gtest.h>

#include <vector>

#include "cuda_runtime_api.h"

namespace {

class CudartGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), 8), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 8), cudaSuccess);
    host[0] = host[1] = 0;
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(device), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
  }
  static void increment(void* at) { ++*static_cast<int*>(at); }
  /// host[0] grows by one, and host[1] becomes it by way of the device.
  cudaGraph_t capture() {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(cudaLaunchHostFunc(stream, increment, host), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(device, host, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(host + 1, device, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    return graph;
  }

  cudaStream_t stream = nullptr;
  int *host = nullptr, *device = nullptr;
};

TEST_F(CudartGraph, RecordsAndReplays) {
  const cudaGraph_t graph = capture();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(host[0], 0);  // nothing ran
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);  // the other handle stays
  EXPECT_EQ(cudaGraphUpload(exec, stream), cudaSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(host[0], 4);
  EXPECT_EQ(host[1], 4);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidResourceHandle);
}

TEST_F(CudartGraph, DestroyedWhileQueuedItStillRuns) {
  const cudaGraph_t graph = capture();
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(host[1], 1);
}

TEST_F(CudartGraph, HasNodes) {
  const cudaGraph_t graph = capture();
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 3u);
  std::vector<cudaGraphNode_t> nodes(5, nullptr);
  count = nodes.size();
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  EXPECT_EQ(count, 3u);
  EXPECT_TRUE(nodes[0] && nodes[1] && nodes[2] && nodes[0] != nodes[1] && nodes[1] != nodes[2]);
  EXPECT_EQ(nodes[3], nullptr);
  cudaGraph_t empty = nullptr;
  ASSERT_EQ(cudaGraphCreate(&empty, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphGetNodes(empty, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cudaGraphDestroy(empty), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CudartGraph, UpdatesToTheSameShape) {
  const cudaGraph_t graph = capture();
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  int other = 10;
  cudaGraph_t same = nullptr, shorter = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaLaunchHostFunc(stream, increment, &other), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &same), cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&shorter, 0), cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  EXPECT_EQ(cudaGraphExecUpdate(exec, shorter, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecUpdate(exec, same, &info), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(other, 13);
  EXPECT_EQ(host[0], 0);
  for (cudaGraph_t g : {graph, same, shorter}) EXPECT_EQ(cudaGraphDestroy(g), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(CudartGraph, ACaptureAcrossStreams) {
  cudaStream_t side = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(cudaStreamCreate(&side), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(side, increment, host), cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ASSERT_EQ(cudaStreamIsCapturing(side, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(side, &graph), cudaErrorStreamCaptureUnmatched);
  ASSERT_EQ(cudaEventRecord(join, side), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(join), cudaErrorCapturedEvent);
  ASSERT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (cudaEvent_t event : {fork, join}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(side), cudaSuccess);
}

TEST_F(CudartGraph, WhatACaptureForbids) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(cudaMemset(device, 0, 4), cudaErrorStreamCaptureImplicit);  // on the legacy stream
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ASSERT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
}

}  // namespace
