// Compiled where CUDA's toolkit is installed, with our headers before NVIDIA's on the include path: ours come first,
// and what NVIDIA's other headers want of them is there. Libraries of the toolkit that are not installed are left out.
#include <NvInfer.h>
#include <cuda_runtime.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cublas_v2.h>
#endif
#if __has_include(<cufft.h>)
#include <cufft.h>
#endif
#if __has_include(<curand.h>)
#include <curand.h>
#endif
#if __has_include(<cusparse.h>)
#include <cusparse.h>
#endif
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <device_launch_parameters.h>
#include <texture_types.h>

#ifndef KILN_CUDART_DEFAULT
#error "the runtime's header is not ours"
#endif
#if !KILN_TOOLKIT_FLOATS
#error "the small floats are not NVIDIA's"
#endif

namespace {

__host__ __device__ __forceinline__ float twice(float x) { return x + x; }

}  // namespace

// Never called.
cudaError_t use_both(cudaStream_t stream) {
  const __half half(twice(1.0f));
  const int4 vector = make_int4(1, 2, 3, 4);
  return static_cast<float>(half) > 1 && vector.w == 4 ? cudaStreamSynchronize(stream) : cudaErrorUnknown;
}
