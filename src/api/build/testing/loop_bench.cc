#include "api/build/testing/loop_bench.h"

#include <algorithm>

#include "api/build/testing/shared_memory.h"
#include "base/str.h"

namespace kiln::api::testing {
namespace {

nv::Dims dims_of(const std::vector<int64_t>& extents) {
  nv::Dims result{static_cast<int32_t>(extents.size()), {}};
  std::copy(extents.begin(), extents.end(), result.d);
  return result;
}

size_t element_bytes(nv::DataType type) {
  return type == nv::DataType::kBOOL ? 1 : type == nv::DataType::kINT64 ? 8 : 4;
}

/// Keeps what a run gives.
class Output final : public nv::IOutputAllocator {
 public:
  void* reallocateOutputAsync(char const*, void*, uint64_t size, uint64_t, cudaStream_t) override {
    return memory.reserve(size);
  }
  void notifyShape(char const*, nv::Dims const& dims) noexcept override { shape = list(dims); }
  SharedMemory memory;
  std::vector<int64_t> shape;
};

}  // namespace

nv::ITensor* LoopBench::keep(Bytes tensor, nv::DataType type) {
  const Bytes& kept = *kept_.emplace_back(std::make_unique<Bytes>(std::move(tensor)));
  const auto count = static_cast<int64_t>(kept.bytes.size() / element_bytes(type));
  return network->addConstant(dims_of(kept.extents), {type, kept.bytes.data(), count})->getOutput(0);
}
nv::ITensor* LoopBench::ints(std::vector<int64_t> extents, std::vector<int32_t> values) {
  return keep(tensor_of(std::move(extents), std::move(values)), nv::DataType::kINT32);
}
nv::ITensor* LoopBench::constant(std::vector<int64_t> extents, std::vector<float> values) {
  return keep(tensor_of(std::move(extents), std::move(values)), nv::DataType::kFLOAT);
}

nv::ITensor* LoopBench::extent(nv::ITensor* x, int32_t axis) {
  nv::ITensor* shape = network->addShape(*x)->getOutput(0);
  return network->addGather(*shape, *number(axis), 0)->getOutput(0);
}

void LoopBench::profile(const char* input, std::initializer_list<int64_t> least, std::initializer_list<int64_t> best,
                        std::initializer_list<int64_t> most) {
  nv::IOptimizationProfile* profile = builder->createOptimizationProfile();
  profile->setDimensions(input, nv::OptProfileSelector::kMIN, dims(least));
  profile->setDimensions(input, nv::OptProfileSelector::kOPT, dims(best));
  profile->setDimensions(input, nv::OptProfileSelector::kMAX, dims(most));
  config->addOptimizationProfile(profile);
}

nv::ITensor* LoopBench::stack(nv::ILoop* loop, nv::ITensor* value, nv::ITensor* length, nv::LoopOutput kind,
                              int32_t axis) {
  nv::ILoopOutputLayer* layer = loop->addLoopOutput(*value, kind, axis);
  layer->setInput(1, *length);
  return layer->getOutput(0);
}

LoopRun::LoopRun(LoopBench& bench) {
  const std::unique_ptr<nv::IHostMemory> plan(bench.builder->buildSerializedNetwork(*bench.network, *bench.config));
  if (!plan) {
    error = bench.take_error();
    return;
  }
  runtime_.reset(nv::createInferRuntime(logger_));
  engine_.reset(runtime_->deserializeCudaEngine(plan->data(), plan->size()));
  if (!engine_) error = logger_.errors.empty() ? "no engine" : logger_.errors.back();
}

std::map<std::string, Bytes> LoopRun::operator()(std::map<std::string, Bytes> inputs) {
  if (!engine_) return {};
  error.clear();
  logger_.errors.clear();
  const std::unique_ptr<nv::IExecutionContext> context(engine_->createExecutionContext());
  std::map<std::string, SharedMemory> places;
  for (auto& [name, tensor] : inputs) {
    context->setInputShape(name.c_str(), dims_of(tensor.extents));
    const bool is_shape = engine_->getTensorLocation(name.c_str()) == nv::TensorLocation::kHOST;
    tensor.bytes.resize(std::max<size_t>(tensor.bytes.size(), 1));
    std::byte* const place = is_shape ? tensor.bytes.data() : places[name].reserve(tensor.bytes.size());
    std::ranges::copy(tensor.bytes, place);
    context->setTensorAddress(name.c_str(), place);
  }
  std::map<std::string, Output> outputs;
  for (int i = 0; i < engine_->getNbIOTensors(); ++i)
    if (const char* name = engine_->getIOTensorName(i); engine_->getTensorIOMode(name) == nv::TensorIOMode::kOUTPUT)
      context->setOutputAllocator(name, &outputs[name]);
  context->setDebugSync(true);
  if (profiler) context->setProfiler(profiler);
  std::map<std::string, Bytes> result;
  const int runs = is_on_gpu() && !profiler ? 4 : 1;  // a GPU records what comes again
  for (int run = 0; run < runs; ++run) {
    if (!context->enqueueV3(nullptr) || !logger_.errors.empty()) {
      error = logger_.errors.empty() ? "the run failed" : logger_.errors.back();
      return {};
    }
    std::map<std::string, Bytes> latest;
    for (auto& [name, output] : outputs) {
      size_t bytes = element_bytes(engine_->getTensorDataType(name.c_str()));
      for (const int64_t extent : output.shape) bytes *= static_cast<size_t>(extent);
      std::byte* const first = output.memory.data();
      latest[name] = {output.shape, std::vector<std::byte>(first, first + bytes)};
      std::fill_n(first, bytes, std::byte{0x7f});
    }
    if (run > 0 && latest != result) {
      error = str("run ", run, " gives other results than the first");
      return {};
    }
    result = std::move(latest);
  }
  return result;
}

}  // namespace kiln::api::testing
