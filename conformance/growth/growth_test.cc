/// A network twice as large costs about twice as much: allocations, and the bytes that they ask for, are counted while
/// networks of two sizes are built and used through the API. Loops over all of a network for each of its parts copy or
/// name what they walk over, sooner or later, and so show here; time would show them too, and much else.
#include <NvInfer.h>
#include <cuda_runtime_api.h>

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
std::atomic<long> allocations{0}, allocated_bytes{0};
void count(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated_bytes.fetch_add(static_cast<long>(bytes), std::memory_order_relaxed);
}
}  // namespace

// operator new comes through malloc.
extern "C" {
void* malloc(size_t size) { return count(size), __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return count(n * size), __libc_calloc(n, size); }
void* realloc(void* p, size_t size) { return count(size), __libc_realloc(p, size); }
void* memalign(size_t align, size_t size) { return count(size), __libc_memalign(align, size); }
void* aligned_alloc(size_t align, size_t size) { return count(size), __libc_memalign(align, size); }
int posix_memalign(void** out, size_t align, size_t size) {
  count(size);
  *out = __libc_memalign(align, size);
  return *out ? 0 : ENOMEM;
}
}

namespace {

using namespace nvinfer1;
template <class T>
using Owned = std::unique_ptr<T>;

class Logger final : public ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kERROR) std::fprintf(stderr, "%s\n", text);
  }
};
Logger logger;

struct Counts {
  long allocations, bytes;
};
Counts now() { return {allocations.load(), allocated_bytes.load()}; }
Counts since(const Counts& start) { return {now().allocations - start.allocations, now().bytes - start.bytes}; }

constexpr int kWidth = 8;
const float kWeights[kWidth * kWidth] = {0.5f};

ITensor* weights(INetworkDefinition& network, int rows) {
  return network.addConstant(Dims2{rows, kWidth}, {DataType::kFLOAT, kWeights, rows * kWidth})->getOutput(0);
}

/// tanh(x W + h U + b)
ITensor* cell(INetworkDefinition& network, ITensor& x, ITensor& h, ITensor& w, ITensor& u, ITensor& b) {
  constexpr auto kNone = MatrixOperation::kNONE;
  ITensor* a = network.addMatrixMultiply(x, kNone, w, kNone)->getOutput(0);
  ITensor* r = network.addMatrixMultiply(h, kNone, u, kNone)->getOutput(0);
  ITensor* s = network.addElementWise(*a, *r, ElementWiseOperation::kSUM)->getOutput(0);
  ITensor* z = network.addElementWise(*s, b, ElementWiseOperation::kSUM)->getOutput(0);
  return network.addActivation(*z, ActivationType::kTANH)->getOutput(0);
}

/// A recurrent network as exporters unroll it: slices of one input, states joined to one output.
void unrolled(INetworkDefinition& network, int steps) {
  ITensor* x = network.addInput("x", DataType::kFLOAT, Dims2{steps, kWidth});
  ITensor *w = weights(network, kWidth), *u = weights(network, kWidth), *b = weights(network, 1);
  ITensor* h = weights(network, 1);
  std::vector<ITensor*> states;
  for (int t = 0; t < steps; ++t) {
    ITensor* part = network.addSlice(*x, Dims2{t, 0}, Dims2{1, kWidth}, Dims2{1, 1})->getOutput(0);
    states.push_back(h = cell(network, *part, *h, *w, *u, *b));
  }
  ITensor* y = network.addConcatenation(states.data(), steps)->getOutput(0);
  y->setName("y");
  network.markOutput(*y);
}

/// The same with an input and an output a step.
void fed_by_step(INetworkDefinition& network, int steps) {
  ITensor *w = weights(network, kWidth), *u = weights(network, kWidth), *b = weights(network, 1);
  ITensor* h = weights(network, 1);
  for (int t = 0; t < steps; ++t) {
    ITensor* x = network.addInput(("x" + std::to_string(t)).c_str(), DataType::kFLOAT, Dims2{1, kWidth});
    h = cell(network, *x, *h, *w, *u, *b);
    ITensor* y = network.addActivation(*h, ActivationType::kRELU)->getOutput(0);
    y->setName(("y" + std::to_string(t)).c_str());
    network.markOutput(*y);
  }
}

using Make = void (*)(INetworkDefinition&, int);

/// Builds with the timings that `cache` has, and leaves there what it timed.
Owned<IHostMemory> build(Make make, int steps, int level, std::vector<char>& cache) {
  const Owned<IBuilder> builder(createInferBuilder(logger));
  const Owned<INetworkDefinition> network(builder->createNetworkV2(0));
  make(*network, steps);
  const Owned<IBuilderConfig> config(builder->createBuilderConfig());
  config->setBuilderOptimizationLevel(level);
  const Owned<ITimingCache> timings(config->createTimingCache(cache.data(), cache.size()));
  config->setTimingCache(*timings, true);
  Owned<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  const Owned<IHostMemory> timed(timings->serialize());
  const char* bytes = static_cast<const char*>(timed->data());
  cache.assign(bytes, bytes + timed->size());
  return plan;
}

/// Counts a build whose timings are known: else what is timed, and how often, is chance.
Counts count_build(Make make, int steps, int level) {
  std::vector<char> cache;
  if (!build(make, steps, level, cache)) return {0, 0};
  const Counts start = now();
  const auto plan = build(make, steps, level, cache);
  return plan ? since(start) : Counts{0, 0};
}

/// Counts the calls that programs make for every tensor: shapes, addresses, formats.
Counts count_use(Make make, int steps) {
  std::vector<char> cache;
  const auto plan = build(make, steps, 0, cache);
  if (!plan) return {0, 0};
  const Owned<IRuntime> runtime(createInferRuntime(logger));
  const Owned<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  const Owned<IExecutionContext> context(engine->createExecutionContext());
  std::vector<float> memory(kWidth);
  const Counts start = now();
  for (int i = 0; i < engine->getNbIOTensors(); ++i) {
    const char* name = engine->getIOTensorName(i);
    const bool is_input = engine->getTensorIOMode(name) == TensorIOMode::kINPUT;
    bool done = !is_input || context->setInputShape(name, engine->getTensorShape(name));
    done = done && context->setTensorAddress(name, memory.data()) && context->getTensorShape(name).nbDims == 2;
    if (!done) return {0, 0};
  }
  const Counts used = since(start);
  return used.allocations > 0 ? used : Counts{1, 1};
}

/// Whether twice as large costs at most about twice as much, of either count.
bool check(const char* what, const Counts& once, const Counts& twice) {
  constexpr double kMost = 2.25;
  const double more = static_cast<double>(twice.allocations) / static_cast<double>(once.allocations),
               larger = static_cast<double>(twice.bytes) / static_cast<double>(once.bytes);
  const bool good = once.allocations > 0 && twice.allocations > 0 && more <= kMost && larger <= kMost;
  std::printf("%s %s: %ld allocations of %ld bytes, %ld of %ld where it is twice as large: %.2f and %.2f times\n",
              good ? "ok  " : "FAIL", what, once.allocations, once.bytes, twice.allocations, twice.bytes, more, larger);
  return good;
}

}  // namespace

int main() {
  constexpr int kSteps = 300;
  bool good = true;
  for (const int level : {0, 3}) {
    const std::string at = " at level " + std::to_string(level);
    good &= check(("building an unrolled network" + at).c_str(), count_build(unrolled, kSteps, level),
                  count_build(unrolled, 2 * kSteps, level));
    good &= check(("building a network fed by step" + at).c_str(), count_build(fed_by_step, kSteps, level),
                  count_build(fed_by_step, 2 * kSteps, level));
  }
  good &= check("using many inputs and outputs", count_use(fed_by_step, kSteps), count_use(fed_by_step, 2 * kSteps));
  return good ? 0 : 1;
}
