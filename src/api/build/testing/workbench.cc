#include "api/build/testing/workbench.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln::api::testing {

void Logger::log(Severity severity, const char* message) noexcept {
  if (severity <= Severity::kERROR) errors.emplace_back(message);
  if (severity == Severity::kWARNING) warnings.emplace_back(message);
  if (severity == Severity::kINFO) infos.emplace_back(message);
  if (severity == Severity::kVERBOSE) details.emplace_back(message);
}

bool Recorder::reportError(nv::ErrorCode code, ErrorDesc description) noexcept {
  codes.push_back(code);
  texts.emplace_back(description);
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
nv::Weights weights(const std::vector<float>& values) {
  return {nv::DataType::kFLOAT, values.data(), static_cast<int64_t>(values.size())};
}

Workbench::Workbench(nv::NetworkDefinitionCreationFlags flags) {
  builder.reset(nv::createInferBuilder(logger));
  builder->setErrorRecorder(&recorder);
  network.reset(builder->createNetworkV2(flags));
  config.reset(builder->createBuilderConfig());
  config->setBuilderOptimizationLevel(0);
}

void Workbench::mark(nv::ITensor* tensor, const char* name) {
  ASSERT_NE(tensor, nullptr);
  tensor->setName(name);
  network->markOutput(*tensor);
}

std::string Workbench::take_error() {
  std::string last = recorder.texts.empty() ? "" : recorder.texts.back();
  recorder.clear();
  logger.errors.clear();
  return last;
}

std::vector<float> Workbench::run(const std::map<std::string, Feed>& inputs) {
  const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  EXPECT_NE(plan, nullptr) << take_error();
  if (!plan) return {};
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  EXPECT_NE(engine, nullptr);
  if (!engine) return {};
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  std::map<std::string, Shared<float>> places;
  for (const auto& [name, feed] : inputs) {
    nv::Dims shape{static_cast<int32_t>(feed.extents.size()), {}};
    std::copy(feed.extents.begin(), feed.extents.end(), shape.d);
    EXPECT_TRUE(context->setInputShape(name.c_str(), shape));
    places[name].assign(feed.values.begin(), feed.values.end());
    EXPECT_TRUE(context->setTensorAddress(name.c_str(), places[name].data()));
  }
  const char* const output = engine->getIOTensorName(engine->getNbIOTensors() - 1);
  const nv::Dims shape = context->getTensorShape(output);
  int64_t count = 1;
  for (int i = 0; i < shape.nbDims; ++i) count *= shape.d[i];
  EXPECT_GE(count, 0) << "the shape of '" << output << "' is not known";
  Shared<float> result(static_cast<size_t>(std::max<int64_t>(count, 0)));
  EXPECT_TRUE(context->setTensorAddress(output, result.data()));
  std::vector<void*> bindings;
  for (int i = 0; i < engine->getNbIOTensors(); ++i)
    bindings.push_back(const_cast<void*>(context->getTensorAddress(engine->getIOTensorName(i))));
  EXPECT_TRUE(context->executeV2(bindings.data()));
  return {result.begin(), result.end()};
}

Running::Running(Workbench& w) {
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  if (!w.logger.errors.empty()) error = w.logger.errors.back();
  w.take_error();
  if (!plan) return;
  runtime.reset(nv::createInferRuntime(logger));
  engine.reset(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  if (engine) context.reset(engine->createExecutionContext());
  if (context && is_on_gpu()) context->setDebugSync(true);
}

void Running::set_address(const char* name, void* memory, nv::TensorLocation where) {
  EXPECT_EQ(engine->getTensorLocation(name), where) << "'" << name << "' is given memory of another place";
  EXPECT_TRUE(context->setTensorAddress(name, memory));
}

bool Running::run() {
  std::vector<void*> bindings;
  for (int i = 0; i < engine->getNbIOTensors(); ++i)
    bindings.push_back(const_cast<void*>(context->getTensorAddress(engine->getIOTensorName(i))));
  return context->executeV2(bindings.data());
}

}  // namespace kiln::api::testing
