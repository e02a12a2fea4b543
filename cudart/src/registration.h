/// What nvcc's host code calls: a .cu file registers itself when it is loaded, and `kernel<<<...>>>(...)` leaves a
/// configuration that the kernel's stub takes. Names and arguments are nvcc's.
#pragma once

#include "cuda_runtime_api.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device_function, const char* name, int thread_limit,
                            uint3* thread, uint3* block, dim3* block_extents, dim3* grid_extents, int* warp_size);
void __cudaRegisterVar(void** handle, char* shadow, char* device_address, const char* name, int is_external,
                       size_t size, int is_constant, int is_global);
void __cudaRegisterManagedVar(void** handle, void** host_pointer, char* device_address, const char* name,
                              int is_external, size_t size, int is_constant, int is_global);
void __cudaRegisterHostVar(void** handle, const char* name, char* variable, size_t size);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                    cudaStream_t stream);
}
