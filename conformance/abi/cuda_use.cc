// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The C++ overloads of the CUDA runtime's host API, called in the ways in which programs call them.

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

static_assert(CUDA_VERSION >= 13000, "the version of the driver API");

namespace {

void CUDART_CB on_host(void*) {}

__attribute__((unused)) cudaError_t memory(cudaStream_t stream) {
  float* typed = nullptr;
  void* bytes = nullptr;
  cudaMalloc(&typed, 16);
  cudaMalloc(&bytes, 16);
  cudaMallocHost(&typed, 16);
  cudaMallocHost(&bytes, 16);
  cudaMallocHost(&bytes, 16, cudaHostAllocMapped);
  cudaHostAlloc(&typed, 16, cudaHostAllocDefault);
  cudaHostGetDevicePointer(&typed, bytes, 0);
  cudaMallocManaged(&typed, 16);
  cudaMallocAsync(&typed, 16, stream);
  cudaMemcpyAsync(typed, bytes, 16, cudaMemcpyDefault);
  cudaMemcpyAsync(typed, bytes, 16, cudaMemcpyHostToDevice, stream);
  return cudaFreeAsync(typed, stream);
}

__attribute__((unused)) cudaError_t work(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  cudaEventCreate(&event, cudaEventDisableTiming);
  cudaEventRecord(event);
  cudaStreamWaitEvent(stream, event);
  cudaLaunchHostFunc(stream, on_host, nullptr);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed);
  cudaStreamEndCapture(cudaStreamPerThread, &graph);
  cudaGraphInstantiate(&ready, graph);
  cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0);
  cudaLaunchKernel(&on_host, dim3(1, 2), dim3(32), nullptr);
  cudaProfilerStart();
  return cudaGraphLaunch(ready, cudaStreamLegacy);
}

}  // namespace
