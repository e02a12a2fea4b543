// ONNX models with bodies, as programs build and run them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/onnx/create.h"
#include "api/onnx/parser.h"
#include "api/run/stream_table.h"
#include "onnx/test_import.h"

namespace kiln::api::bodies {

using namespace onnx::test;
namespace nv = nvinfer1;
using Floats = std::vector<float>;
using Numbers = std::vector<int64_t>;

struct Logger final : nv::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) errors.emplace_back(message);
  }
  std::vector<std::string> errors;
};

inline Numbers list(const nv::Dims& dims) { return {dims.d, dims.d + dims.nbDims}; }

/// Gives memory from a vector, or none.
class Allocator final : public nv::IOutputAllocator {
 public:
  void* reallocateOutputAsync(char const*, void*, uint64_t size, uint64_t, cudaStream_t) override {
    memory.assign(std::max<size_t>(size, 1), std::byte{0x7f});
    return refuses ? nullptr : memory.data();
  }
  void notifyShape(char const*, nv::Dims const& dims) noexcept override { shape = list(dims); }
  std::vector<std::byte> memory;
  Numbers shape;
  bool refuses = false;
};

/// What an input's extents (or a shape input's values) may be.
struct Range {
  const char* name;
  Numbers min, max;
};

inline nv::Dims dims_of(const Numbers& extents) {
  nv::Dims dims{static_cast<int32_t>(extents.size()), {}};
  std::ranges::copy(extents, dims.d);
  return dims;
}

inline std::string parser_errors(const nvonnxparser::IParser& parser) {
  return parser.getNbErrors() > 0 ? parser.getError(0)->desc() : "";
}
inline bool is_shape_input(const nv::INetworkDefinition& network, std::string_view name) {
  for (int i = 0; i < network.getNbInputs(); ++i)
    if (network.getInput(i)->getName() == name) return network.getInput(i)->isShapeTensor();
  return false;
}

inline std::vector<std::byte> build(const Proto& model, const std::vector<Range>& ranges) {
  Logger logger;
  const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  const std::unique_ptr<nvonnxparser::IParser> parser(
      static_cast<nvonnxparser::IParser*>(create_parser(network.get(), &logger, NV_ONNX_PARSER_VERSION)));
  EXPECT_TRUE(parser->parse(model.bytes.data(), model.bytes.size(), nullptr)) << parser_errors(*parser);
  nv::IOptimizationProfile* profile = builder->createOptimizationProfile();
  for (const Range& range : ranges) {
    const bool is_shape = is_shape_input(*network, range.name);
    using enum nv::OptProfileSelector;
    for (const auto select : {kMIN, kOPT, kMAX}) {
      const Numbers& numbers = select == kMIN ? range.min : range.max;
      const auto count = static_cast<int32_t>(numbers.size());
      EXPECT_TRUE(is_shape ? profile->setShapeValuesV2(range.name, select, numbers.data(), count)
                           : profile->setDimensions(range.name, select, dims_of(numbers)));
    }
  }
  config->addOptimizationProfile(profile);
  const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  EXPECT_TRUE(plan) << (logger.errors.empty() ? "" : logger.errors.back());
  if (!plan) return {};
  const auto* bytes = static_cast<const std::byte*>(plan->data());
  return {bytes, bytes + plan->size()};
}

/// A model in an engine of its saved plan, whose outputs are given memory when their sizes are known.
class Program {
 public:
  explicit Program(const std::vector<std::byte>& plan) : runtime_(nv::createInferRuntime(logger)) {
    engine.reset(runtime_->deserializeCudaEngine(plan.data(), plan.size()));
    context.reset(engine->createExecutionContext());
    for (int i = 0; i < engine->getNbIOTensors(); ++i)
      if (const char* name = engine->getIOTensorName(i); engine->getTensorIOMode(name) == nv::TensorIOMode::kOUTPUT)
        context->setOutputAllocator(name, &outputs[name]);
  }
  explicit Program(const Proto& model, const std::vector<Range>& ranges = {}) : Program(build(model, ranges)) {}

  template <class T>
  Program& feed(const char* name, const Numbers& extents, const std::vector<T>& values) {
    std::vector<std::byte>& memory = inputs_[name];
    memory.resize(std::max<size_t>(values.size() * sizeof(T), 1));
    if (!values.empty()) std::memcpy(memory.data(), values.data(), values.size() * sizeof(T));
    EXPECT_TRUE(context->setTensorAddress(name, memory.data()));
    context->setInputShape(name, dims_of(extents));
    return *this;
  }
  Program& feed_flag(const char* name, bool value) { return feed(name, {}, std::vector<char>{value}); }
  /// The error of a run; empty if it went well.
  std::string run() {
    logger.errors.clear();
    if (context->enqueueV3(nullptr) && StreamTable::instance().find(nullptr)->get().synchronize()) return "";
    return logger.errors.empty() ? "no error was told" : logger.errors.back();
  }
  template <class T>
  std::vector<T> of(const char* name) {
    const Allocator& output = outputs[name];
    int64_t count = 1;
    for (const int64_t extent : output.shape) count *= extent;
    std::vector<T> result(static_cast<size_t>(count));
    if (count > 0) std::memcpy(result.data(), output.memory.data(), result.size() * sizeof(T));
    return result;
  }
  const Numbers& shape(const char* name) { return outputs[name].shape; }

  Logger logger;
  std::map<std::string, Allocator> outputs;

 private:
  std::map<std::string, std::vector<std::byte>> inputs_;
  std::unique_ptr<nv::IRuntime> runtime_;

 public:
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

inline Proto value_of_any(std::string_view name, int64_t type = kFloat) {
  return Proto()
      .text(onnx::field::value_info::kName, name)
      .message(
          onnx::field::value_info::kType,
          Proto().message(onnx::field::type::kTensor, Proto().integer(onnx::field::tensor_type::kElementType, type)));
}
inline Proto scalar(std::string_view name, int64_t number) {
  return tensor(name, kInt64, {}).text(onnx::field::tensor::kRawData, Proto().append_raw(number).bytes);
}
inline Proto branch(const std::vector<Proto>& nodes, std::initializer_list<std::string_view> outputs) {
  GraphParts parts{.nodes = nodes};
  for (const auto name : outputs) parts.outputs.push_back(value_of_any(name));
  return graph(parts, "branch");
}
inline Proto if_node(std::initializer_list<std::string_view> outputs, const Proto& then, const Proto& otherwise) {
  return node("If", {"c"}, outputs, "if",
              {graph_attribute("then_branch", then), graph_attribute("else_branch", otherwise)});
}
/// A body whose inputs are the iteration's number "i", the condition "go" and what is carried.
inline Proto loop_body(const std::vector<Proto>& nodes, std::initializer_list<std::string_view> carried,
                       std::initializer_list<std::string_view> outputs, int64_t type = kFloat) {
  GraphParts parts{.nodes = nodes, .inputs = {value("i", kInt64), value("go", kBool)}};
  for (const auto name : carried) parts.inputs.push_back(value_of_any(name, type));
  for (const auto name : outputs)
    parts.outputs.push_back(name == *outputs.begin() ? value("on", kBool) : value_of_any(name, type));
  return graph(parts, "body");
}
inline Proto loop_node(std::initializer_list<std::string_view> inputs, std::initializer_list<std::string_view> outputs,
                       const Proto& body) {
  return node("Loop", inputs, outputs, "loop", {graph_attribute("body", body)});
}
inline const Proto kOn = node("Identity", {"go"}, {"on"});

}  // namespace kiln::api::bodies
