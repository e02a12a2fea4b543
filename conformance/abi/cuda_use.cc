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

int shadow[4];
void kernel(int, float) {}

__attribute__((unused)) cudaError_t kernels(cudaStream_t stream) {
  cudaFuncAttributes attributes;
  cudaKernel_t handle = nullptr;
  cudaLaunchConfig_t config = {};
  int blocks = 0;
  config.gridDim = dim3(1, 2);
  config.stream = stream;
  const auto function = reinterpret_cast<const void*>(kernel);
  cudaFuncGetAttributes(&attributes, function);
  cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16);
  cudaFuncSetCacheConfig(function, cudaFuncCachePreferL1);
  cudaGetKernel(&handle, function);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0);
  cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(32), nullptr);
  cudaLaunchKernelExC(&config, function, nullptr);
  return cudaLaunchKernelEx(&config, kernel, 1, 2);
}

__attribute__((unused)) cudaError_t symbols(cudaStream_t stream) {
  void* address = nullptr;
  size_t size = 0;
  int values[4] = {};
  cudaGetSymbolAddress(&address, shadow);
  cudaGetSymbolSize(&size, shadow);
  cudaMemcpyToSymbol(shadow, values, 16);
  cudaMemcpyFromSymbol(values, shadow, 8, 8);
  cudaMemcpyToSymbolAsync(shadow, values, 16, 0, cudaMemcpyHostToDevice, stream);
  return cudaMemcpyFromSymbolAsync(values, shadow, 16, 0, cudaMemcpyDeviceToHost, stream);
}

__attribute__((unused)) float4 vectors() {
  const int2 two = make_int2(1, 2);
  const uchar4 bytes = make_uchar4(1, 2, 3, 4);
  return make_float4(static_cast<float>(two.x), bytes.w, 0, make_double2(1, 2).y > 1 ? 1 : 0);
}

}  // namespace
