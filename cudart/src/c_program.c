// A C program on the header: a copy through a stream with a host function between. With an argument it expects that
// libnvinfer is not there, and that it is told so.
#include <stdio.h>
#include <string.h>

#include "cuda_profiler_api.h"
#include "cuda_runtime_api.h"

#define TRY_CALL(call)                                                                 \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      fprintf(stderr, "%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error)); \
      return 1;                                                                        \
    }                                                                                  \
  } while (0)

static void CUDART_CB increment(void* data) { ++*(int*)data; }

static int without_libnvinfer(void) {
  int count = -1;
  void* memory = NULL;
  if (cudaGetDeviceCount(&count) != cudaErrorInitializationError || count != 0) return 1;
  if (cudaMalloc(&memory, 16) != cudaErrorInitializationError || memory) return 2;
  if (cudaGetLastError() != cudaErrorInitializationError) return 3;
  puts(cudaGetErrorString(cudaErrorInitializationError));
  return strstr(cudaGetErrorString(cudaErrorInitializationError), "libnvinfer.so.10") ? 0 : 4;
}

int main(int argc, char** argv) {
  struct cudaDeviceProp prop;
  cudaStream_t stream;
  int *device, *host;
  (void)argv;
  if (argc > 1) return without_libnvinfer();
  TRY_CALL(cudaGetDeviceProperties(&prop, 0));
  TRY_CALL(cudaStreamCreate(&stream));
  TRY_CALL(cudaMalloc((void**)&device, sizeof *device));
  TRY_CALL(cudaMallocHost((void**)&host, sizeof *host));
  *host = 41;
  TRY_CALL(cudaProfilerStart());
  TRY_CALL(cudaLaunchHostFunc(stream, increment, host));
  TRY_CALL(cudaMemcpyAsync(device, host, sizeof *host, cudaMemcpyHostToDevice, stream));
  TRY_CALL(cudaStreamSynchronize(stream));
  *host = 0;
  TRY_CALL(cudaMemcpy(host, device, sizeof *host, cudaMemcpyDeviceToHost));
  TRY_CALL(cudaProfilerStop());
  printf("%s: %d\n", prop.name, *host);
  if (*host != 42) return 1;
  TRY_CALL(cudaFree(device));
  TRY_CALL(cudaFreeHost(host));
  TRY_CALL(cudaStreamDestroy(stream));
  return 0;
}
