/// After the first enqueue at a shape, an enqueue allocates nothing: malloc, its relatives, operator new and mmap are
/// counted in all threads while real networks run.
#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// glibc's own entries: what the names below would be without this program.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {
std::atomic<bool> counting{false};
std::atomic<long> allocations{0};
void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

// operator new comes through malloc.
extern "C" {
void* malloc(size_t size) { return count(), __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return count(), __libc_calloc(n, size); }
void* realloc(void* p, size_t size) { return count(), __libc_realloc(p, size); }
void* memalign(size_t align, size_t size) { return count(), __libc_memalign(align, size); }
void* aligned_alloc(size_t align, size_t size) { return count(), __libc_memalign(align, size); }
int posix_memalign(void** out, size_t align, size_t size) {
  count();
  *out = __libc_memalign(align, size);
  return *out ? 0 : ENOMEM;
}
void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  count();
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
}
}

namespace {

class Logger final : public nvinfer1::ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kERROR) std::fprintf(stderr, "%s\n", text);
  }
};

template <class T>
using Owned = std::unique_ptr<T>;

/// Every dynamic axis at 2: a shape that is nobody's default.
nvinfer1::Dims fixed(nvinfer1::Dims dims) {
  for (int i = 0; i < dims.nbDims; ++i)
    if (dims.d[i] < 0) dims.d[i] = 2;
  return dims;
}

Owned<nvinfer1::ICudaEngine> build(const std::string& path, Logger& logger) {
  Owned<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger));
  Owned<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  Owned<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, logger));
  if (!parser->parseFromFile(path.c_str(), 0)) return nullptr;
  Owned<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  nvinfer1::IOptimizationProfile* profile = builder->createOptimizationProfile();
  for (int i = 0; i < network->getNbInputs(); ++i) {
    const nvinfer1::Dims dims = fixed(network->getInput(i)->getDimensions());
    for (const auto select :
         {nvinfer1::OptProfileSelector::kMIN, nvinfer1::OptProfileSelector::kOPT, nvinfer1::OptProfileSelector::kMAX})
      profile->setDimensions(network->getInput(i)->getName(), select, dims);
  }
  config->addOptimizationProfile(profile);
  return Owned<nvinfer1::ICudaEngine>(builder->buildEngineWithConfig(*network, *config));
}

/// Allocations of ten enqueues after the first; -1 if the network does not run.
long count_enqueues(const std::string& path) {
  Logger logger;
  const auto engine = build(path, logger);
  if (!engine) return -1;
  Owned<nvinfer1::IExecutionContext> context(engine->createExecutionContext());
  std::vector<void*> buffers;
  for (int i = 0; i < engine->getNbIOTensors(); ++i) {
    const char* name = engine->getIOTensorName(i);
    if (engine->getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT)
      context->setInputShape(name, fixed(engine->getTensorShape(name)));
  }
  for (int i = 0; i < engine->getNbIOTensors(); ++i) {
    const char* name = engine->getIOTensorName(i);
    const nvinfer1::Dims dims = context->getTensorShape(name);
    size_t bytes = 8;
    for (int axis = 0; axis < dims.nbDims; ++axis) bytes *= static_cast<size_t>(dims.d[axis]);
    buffers.push_back(std::calloc(bytes, 1));
    context->setTensorAddress(name, buffers.back());
  }
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  bool ran = context->enqueueV3(stream) && cudaStreamSynchronize(stream) == cudaSuccess;
  allocations = 0;
  counting = true;
  for (int i = 0; i < 10 && ran; ++i) ran = context->enqueueV3(stream) && cudaStreamSynchronize(stream) == cudaSuccess;
  counting = false;
  cudaStreamDestroy(stream);
  for (void* buffer : buffers) std::free(buffer);
  return ran ? allocations.load() : -1;
}

}  // namespace

int main() {
  const char* models = std::getenv("KILN_MODELS_DIR");
  if (!models) return std::puts("skipped: KILN_MODELS_DIR is not set"), 77;
  int failures = 0;
  for (const char* name : {"mnist", "squeezenet", "yolox-nano", "magika", "vittrack", "dtln1"}) {
    const long found = count_enqueues(std::string(models) + "/" + name + "/model.onnx");
    std::printf("%s: %ld allocations in ten enqueues\n", name, found);
    failures += found != 0;
  }
  return failures;
}
