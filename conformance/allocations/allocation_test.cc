/// After the first enqueue at a shape, an enqueue allocates nothing: malloc, its relatives, operator new and mmap are
/// counted in all threads while networks run.
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

#include "onnx/test_model.h"

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

/// A model of a file, or one in memory.
struct Model {
  std::string name, path;
  kiln::onnx::test::Proto bytes = {};
};

bool parse(nvonnxparser::IParser& parser, const Model& model) {
  if (!model.path.empty()) return parser.parseFromFile(model.path.c_str(), 0);
  return parser.parse(model.bytes.bytes.data(), model.bytes.bytes.size(), nullptr);
}

Owned<nvinfer1::ICudaEngine> build(const Model& model, Logger& logger) {
  Owned<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger));
  Owned<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  Owned<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, logger));
  if (!parse(*parser, model)) return nullptr;
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
long count_enqueues(const Model& model) {
  Logger logger;
  const auto engine = build(model, logger);
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

using namespace kiln::onnx::test;
constexpr int64_t kFloat = 1, kInt64 = 7, kBool = 9;

Proto scalar(const char* name, int64_t number) {
  return tensor(name, kInt64, {}).text(kiln::onnx::field::tensor::kRawData, Proto().append_raw(number).bytes);
}

/// Eight times v = relu(v w + x), each v stacked.
Model for_loop() {
  const Proto body = graph({{node("Identity", {"go"}, {"on"}), node("MatMul", {"v", "w"}, {"vw"}),
                             node("Add", {"vw", "x"}, {"s"}), node("Relu", {"s"}, {"v1"}), node("Neg", {"v1"}, {"t"})},
                            {value("i", kInt64), value("go", kBool), value("v", kFloat, {4, 4})},
                            {value("on", kBool), value("v1", kFloat, {4, 4}), value("t", kFloat, {4, 4})},
                            {}},
                           "body");
  const std::vector<float> weights(16, 0.125F);
  Proto raw;
  for (const float weight : weights) raw.append_raw(weight);
  const Proto w = tensor("w", kFloat, {4, 4}).text(kiln::onnx::field::tensor::kRawData, raw.bytes);
  return {"a loop", "",
          model(graph({{node("Loop", {"eight", "", "x"}, {"y", "all"}, "loop", {graph_attribute("body", body)})},
                       {value("x", kFloat, {4, 4})},
                       {value("y", kFloat, {4, 4}), value("all", kFloat, {8, 4, 4})},
                       {scalar("eight", 8), w}}))};
}

/// Eight times the places where v has a cosine, which are all of them: data decides how many, and there are always as
/// many. What they select is carried and stacked.
Model loop_of_sizes() {
  const Proto body = graph(
      {{node("Identity", {"go"}, {"on"}), node("Cos", {"v"}, {"c"}), node("NonZero", {"c"}, {"rows"}),
        node("Transpose", {"rows"}, {"places"}), node("GatherND", {"v", "places"}, {"v1"}), node("Neg", {"v1"}, {"t"})},
       {value("i", kInt64), value("go", kBool), value("v", kFloat, {-1})},
       {value("on", kBool), value("v1", kFloat, {-1}), value("t", kFloat, {-1})},
       {}},
      "body");
  return {"a loop of sizes that data decides", "",
          model(graph({{node("Loop", {"eight", "", "x"}, {"v", "slices"}, "loop", {graph_attribute("body", body)}),
                        node("ReduceSum", {"v"}, {"y"}), node("ReduceSum", {"slices"}, {"all"})},
                       {value("x", kFloat, {16})},
                       {value("y", kFloat, {1}), value("all", kFloat, {1, 1})},
                       {scalar("eight", 8)}}))};
}

/// A branch by data, of products or of none.
Model branches() {
  const Proto then = graph({{node("MatMul", {"x", "x"}, {"a"})}, {}, {value("a", kFloat, {4, 4})}, {}}, "then");
  const Proto otherwise = graph({{node("Neg", {"x"}, {"b"})}, {}, {value("b", kFloat, {4, 4})}, {}}, "else");
  return {"a branch", "",
          model(graph({{node("ReduceMax", {"x"}, {"m"}, "", {int_attribute("keepdims", 0)}),
                        node("Cast", {"m"}, {"c"}, "", {int_attribute("to", kBool)}),
                        node("If", {"c"}, {"y"}, "if",
                             {graph_attribute("then_branch", then), graph_attribute("else_branch", otherwise)})},
                       {value("x", kFloat, {4, 4})},
                       {value("y", kFloat, {4, 4})},
                       {}}))};
}

}  // namespace

int main() {
  std::vector<Model> models{for_loop(), loop_of_sizes(), branches()};
  const char* folder = std::getenv("KILN_MODELS_DIR");
  if (folder)
    for (const char* name : {"mnist", "squeezenet", "yolox-nano", "magika", "vittrack", "dtln1"})
      models.push_back({name, std::string(folder) + "/" + name + "/model.onnx"});
  int failures = 0;
  for (const Model& model : models) {
    const long found = count_enqueues(model);
    std::printf("%s: %ld allocations in ten enqueues\n", model.name.c_str(), found);
    failures += found != 0;
  }
  if (!folder) std::puts("KILN_MODELS_DIR is not set: real networks are left out");
  return failures;
}
