// A process that has two CUDA runtimes, as Python with PyTorch has: `two_runtimes OURS OTHER ours|other [LIBRARY]`
// loads both for all to see, the one named first, and demands that ours works all the same. LIBRARY is loaded before.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "cuda_runtime_api.h"

namespace {

bool failed = false;

void* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) std::printf("%s\n", dlerror()), failed = true;
  return library;
}

/// The function of a library, not of the first that has the name.
template <class F>
F* find(void* library, const char* name, F*) {
  void* function = dlsym(library, name);
  if (!function) std::printf("no %s: %s\n", name, dlerror()), failed = true;
  return reinterpret_cast<F*>(function);
}
#define FIND(library, name) find(library, #name, static_cast<decltype(&name)>(nullptr))

void expect(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::printf("%s returned %d\n", call, static_cast<int>(result));
  failed = true;
}

/// Calls that ours passes on to other calls of its own.
void use(void* ours) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* memory = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  expect(FIND(ours, cudaStreamCreate)(&stream), "cudaStreamCreate");
  expect(FIND(ours, cudaStreamCreateWithFlags)(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  expect(FIND(ours, cudaEventCreate)(&event), "cudaEventCreate");
  expect(FIND(ours, cudaMallocHost)(&memory, 16), "cudaMallocHost");
  expect(FIND(ours, cudaGraphCreate)(&graph, 0), "cudaGraphCreate");
  expect(FIND(ours, cudaGraphInstantiateWithFlags)(&exec, graph, 0), "cudaGraphInstantiateWithFlags");
  expect(FIND(ours, cudaEventRecord)(event, stream), "cudaEventRecord");
  expect(FIND(ours, cudaStreamSynchronize)(stream), "cudaStreamSynchronize");
  expect(FIND(ours, cudaFreeHost)(memory), "cudaFreeHost");
  const cudaError_t launched = FIND(ours, cudaLaunchKernel)("not registered", 1, 1, nullptr, 0, stream);
  if (launched != cudaErrorInvalidDeviceFunction) expect(launched, "cudaLaunchKernel");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (argc > 4) load(argv[4]);
  const bool ours_first = std::strcmp(argv[3], "ours") == 0;
  void* first = load(argv[ours_first ? 1 : 2]);
  void* second = load(argv[ours_first ? 2 : 1]);
  if (failed) return 1;
  void *ours = ours_first ? first : second, *other = ours_first ? second : first;
  if (FIND(ours, cudaStreamCreate) == FIND(other, cudaStreamCreate)) {
    std::printf("they are one library\n");
    return 1;
  }
  use(ours);
  return failed;
}
