// Compiled where CUDA's toolkit is installed, with our headers before NVIDIA's on the include path: ours come first,
// and what NVIDIA's other headers want of them is there.
#include <NvInfer.h>
#include <cuda_runtime.h>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>
#include <device_launch_parameters.h>
#include <texture_types.h>

#ifndef KILN_CUDART_DEFAULT
#error "the runtime's header is not ours"
#endif

namespace {

__host__ __device__ __forceinline__ float twice(float x) { return x + x; }

}  // namespace

// Types of both, in one function. Never called.
cudaError_t use_both(cublasHandle_t blas, curandGenerator_t random, cufftHandle plan, cudaStream_t stream) {
  const __half half(twice(1.0f));
  const int4 vector = make_int4(1, 2, 3, 4);
  const bool done = cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS &&
                    curandSetStream(random, stream) == CURAND_STATUS_SUCCESS &&
                    cufftSetStream(plan, stream) == CUFFT_SUCCESS;
  return done && static_cast<float>(half) > 1 && vector.w == 4 ? cudaStreamSynchronize(stream) : cudaErrorUnknown;
}
