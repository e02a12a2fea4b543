/// Calls of kernels.cu, which nvcc compiles where it is installed. Each returns what the runtime said.
#pragma once

#include <cuda_runtime_api.h>

cudaError_t launch_scale(const int* x, int* y, long n, unsigned threads, cudaStream_t stream);
cudaError_t launch_fill(int* y, unsigned n, long value);
cudaError_t launch_fill(float* y, unsigned n, long value);
cudaError_t launch_reverse(int* y, unsigned n, size_t shared, cudaStream_t stream);
cudaError_t allow_shared(int bytes);
cudaError_t attributes_of_scale(cudaFuncAttributes* found);
cudaError_t occupancy_of_scale(int* blocks, int threads);
cudaError_t kernel_of_scale(cudaKernel_t* kernel);
cudaError_t set_factor(int value);
cudaError_t get_factor(int* value);
cudaError_t get_offset(int index, int* value);
cudaError_t size_of_offsets(size_t* bytes);
/// The address of a managed variable that counts the calls, from 5 on.
int* calls_of_scale();
