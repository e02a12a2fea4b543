#include "program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "device_numbers.h"

namespace robustness {

void Logger::log(Severity severity, const char* text) noexcept {
  const std::lock_guard lock(mutex_);
  ++counts_[static_cast<int>(severity)];
  if (severity <= Severity::kERROR) errors_ += std::string(text) + "\n";
}

std::string Logger::take_errors() {
  const std::lock_guard lock(mutex_);
  return std::exchange(errors_, {});
}

bool Recorder::reportError(nv::ErrorCode code, ErrorDesc text) noexcept {
  codes.push_back(code);
  texts.emplace_back(text);
  return true;
}

nv::Dims dims(std::initializer_list<int64_t> extents) {
  nv::Dims result{static_cast<int32_t>(extents.size()), {}};
  std::copy(extents.begin(), extents.end(), result.d);
  return result;
}
std::vector<int64_t> list(const nv::Dims& dims) {
  return dims.nbDims < 0 ? std::vector<int64_t>{-1} : std::vector<int64_t>(dims.d, dims.d + dims.nbDims);
}

Program::Program(nv::NetworkDefinitionCreationFlags flags)
    : builder(nv::createInferBuilder(logger)),
      network(builder->createNetworkV2(flags)),
      config(builder->createBuilderConfig()) {
  config->setBuilderOptimizationLevel(0);
}

void Program::mark(nv::ITensor* tensor, const char* name) {
  ASSERT_NE(tensor, nullptr) << logger.take_errors();
  tensor->setName(name);
  network->markOutput(*tensor);
}

void Program::add_profile(const char* name, nv::Dims min, nv::Dims opt, nv::Dims max) {
  nv::IOptimizationProfile* const profile = builder->createOptimizationProfile();
  profile->setDimensions(name, nv::OptProfileSelector::kMIN, min);
  profile->setDimensions(name, nv::OptProfileSelector::kOPT, opt);
  profile->setDimensions(name, nv::OptProfileSelector::kMAX, max);
  EXPECT_GE(config->addOptimizationProfile(profile), 0) << logger.take_errors();
}

void Program::make_relu() {
  nv::ITensor* const x = input("x", {-1, 4});
  ASSERT_NE(x, nullptr);
  mark(network->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0));
  add_profile("x", dims({1, 4}), dims({2, 4}), dims({8, 4}));
}

std::unique_ptr<nv::IHostMemory> Program::build() {
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

std::unique_ptr<nv::ICudaEngine> load(nv::IRuntime& runtime, const nv::IHostMemory& plan) {
  return std::unique_ptr<nv::ICudaEngine>(runtime.deserializeCudaEngine(plan.data(), plan.size()));
}

bool is_on_gpu() {
  int version = 0;  // of the driver; 0 where the device is the CPU
  return cudaDriverGetVersion(&version) == cudaSuccess && version != 0;
}

bool relu_works(nv::IExecutionContext& context, cudaStream_t stream) {
  Managed<float> x{-1, 2, -3, 4, 5, -6, 7, -8}, y(8);
  const Managed<float> wanted{0, 2, 0, 4, 5, 0, 7, 0};
  return context.setInputShape("x", dims({2, 4})) && context.setTensorAddress("x", x.data()) &&
         context.setTensorAddress("y", y.data()) && context.enqueueV3(stream) &&
         cudaStreamSynchronize(stream) == cudaSuccess && y == wanted;
}

bool process_is_fine() {
  Program p;
  p.make_relu();
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  if (!engine) return false;
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  return context && relu_works(*context, nullptr);
}

}  // namespace robustness
