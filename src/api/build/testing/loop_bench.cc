#include "api/build/testing/loop_bench.h"

#include <algorithm>

#include "api/run/testing/repeated_runs.h"

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
  const std::unique_ptr<nv::IExecutionContext> context(engine_->createExecutionContext());
  std::map<std::string, Shared<std::byte>> places;
  for (auto& [name, tensor] : inputs) {
    context->setInputShape(name.c_str(), dims_of(tensor.extents));
    const bool is_shape = engine_->getTensorLocation(name.c_str()) == nv::TensorLocation::kHOST;
    tensor.bytes.resize(std::max<size_t>(tensor.bytes.size(), 1));
    if (!is_shape) places[name].assign(tensor.bytes.begin(), tensor.bytes.end());
    context->setTensorAddress(name.c_str(), is_shape ? tensor.bytes.data() : places[name].data());
  }
  std::map<std::string, OutputMemory> outputs;
  for (int i = 0; i < engine_->getNbIOTensors(); ++i)
    if (const char* name = engine_->getIOTensorName(i); engine_->getTensorIOMode(name) == nv::TensorIOMode::kOUTPUT)
      context->setOutputAllocator(name, &outputs[name]);
  if (profiler) context->setProfiler(profiler);
  if (listener) context->setDebugListener(listener), context->setAllTensorsDebugState(true);
  error = profiler || listener ? run_repeatedly(*context, outputs, logger_.errors, 1)
                               : run_repeatedly(*context, outputs, logger_.errors);
  std::map<std::string, Bytes> result;
  if (!error.empty()) return result;
  for (const auto& [name, output] : outputs) {
    size_t bytes = element_bytes(engine_->getTensorDataType(name.c_str()));
    for (const int64_t extent : output.shape) bytes *= static_cast<size_t>(extent);
    result[name] = {output.shape, {output.memory.begin(), output.memory.begin() + static_cast<ptrdiff_t>(bytes)}};
  }
  return result;
}

}  // namespace kiln::api::testing
