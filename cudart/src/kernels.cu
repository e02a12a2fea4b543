// What a .cu file can ask of the runtime: kernels, variables of devices, managed and constant ones, attributes. nvcc's
// host code calls the runtime, and code_test.cc calls this.
#include "kernels.h"

namespace kiln_test {

__device__ int factor = 2;
__constant__ int offsets[4] = {1, 2, 3, 4};
__managed__ int calls = 5;

/// y = x * factor + offsets[i % 4]
__global__ void scale(const int* x, int* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i == 0) ++calls;
  if (i < n) y[i] = x[i] * factor + offsets[i % 4];
}

template <class T>
__global__ void fill(T* y, long value) {
  y[threadIdx.x] = static_cast<T>(value);
}

/// Turns a block's values around, through memory that the launch gives.
__global__ void reverse(int* y) {
  extern __shared__ int held[];
  held[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

}  // namespace kiln_test

using namespace kiln_test;

cudaError_t launch_scale(const int* x, int* y, long n, unsigned threads, cudaStream_t stream) {
  scale<<<static_cast<unsigned>((n + 31) / 32), threads, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
cudaError_t launch_fill(int* y, unsigned n, long value) {
  fill<<<1, n>>>(y, value);
  return cudaGetLastError();
}
cudaError_t launch_fill(float* y, unsigned n, long value) {
  fill<<<1, n>>>(y, value);
  return cudaGetLastError();
}
cudaError_t launch_reverse(int* y, unsigned n, size_t shared, cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = n, config.dynamicSmemBytes = shared, config.stream = stream;
  return cudaLaunchKernelEx(&config, reverse, y);
}
cudaError_t allow_shared(int bytes) {
  return cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
cudaError_t attributes_of_scale(cudaFuncAttributes* found) { return cudaFuncGetAttributes(found, scale); }
cudaError_t occupancy_of_scale(int* blocks, int threads) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, scale, threads, 0);
}
cudaError_t kernel_of_scale(cudaKernel_t* kernel) { return cudaGetKernel(kernel, scale); }
cudaError_t set_factor(int value) { return cudaMemcpyToSymbol(factor, &value, sizeof value); }
cudaError_t get_factor(int* value) { return cudaMemcpyFromSymbol(value, factor, sizeof *value); }
cudaError_t get_offset(int index, int* value) {
  return cudaMemcpyFromSymbol(value, offsets, sizeof *value, index * sizeof *value);
}
cudaError_t size_of_offsets(size_t* bytes) { return cudaGetSymbolSize(bytes, offsets); }
int* calls_of_scale() { return &calls; }
