// Kernels are code for a GPU, registered with the runtime that a program was linked with: this one takes none. The host
// has none to run.
#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;

cudaError_t cudaLaunchKernel(const void* function, dim3, dim3, void**, size_t, cudaStream_t) {
  return call(
      [&](const KilnPrivateEntry&) { return function ? cudaErrorNotSupported : cudaErrorInvalidDeviceFunction; });
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                  cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared, per_thread(stream));
}
