// ONNX models with bodies, as programs build and run them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/onnx/create.h"
#include "api/onnx/parser.h"
#include "api/run/testing/repeated_runs.h"
#include "base/str.h"
#include "onnx/test_import.h"

namespace kiln::api::bodies {

using namespace onnx::test;
namespace nv = nvinfer1;
using Floats = std::vector<float>;
using Numbers = std::vector<int64_t>;

using testing::OutputMemory;

struct Logger final : nv::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) errors.emplace_back(message);
  }
  std::vector<std::string> errors;
};

inline Numbers list(const nv::Dims& dims) { return {dims.d, dims.d + dims.nbDims}; }

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

inline std::vector<std::byte> build(const Proto& model, const std::vector<Range>& ranges,
                                    void (*edit)(nv::INetworkDefinition&) = nullptr) {
  Logger logger;
  const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  const std::unique_ptr<nvonnxparser::IParser> parser(
      static_cast<nvonnxparser::IParser*>(create_parser(network.get(), &logger, NV_ONNX_PARSER_VERSION)));
  const bool parsed = parser->parse(model.bytes.data(), model.bytes.size(), nullptr);
  EXPECT_TRUE(parsed) << parser_errors(*parser);
  if (!parsed) return {};
  if (edit) edit(*network);
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

/// A model in an engine of its saved plan, whose outputs are given memory when their sizes are known. Without a plan,
/// or with one that cannot be loaded, the test has failed and nothing runs: each run says why.
class Program {
 public:
  explicit Program(const std::vector<std::byte>& plan) : runtime_(nv::createInferRuntime(logger)) {
    if (!plan.empty()) engine.reset(runtime_->deserializeCudaEngine(plan.data(), plan.size()));
    if (engine) context.reset(engine->createExecutionContext());
    EXPECT_TRUE(context) << why_not();
    for (int i = 0; context && i < engine->getNbIOTensors(); ++i)
      if (const char* name = engine->getIOTensorName(i); engine->getTensorIOMode(name) == nv::TensorIOMode::kOUTPUT)
        context->setOutputAllocator(name, &outputs[name]);
  }
  explicit Program(const Proto& model, const std::vector<Range>& ranges = {}) : Program(build(model, ranges)) {}

  template <class T>
  Program& feed(const char* name, const Numbers& extents, const std::vector<T>& values) {
    if (!context) return *this;
    const auto bytes = std::as_bytes(std::span(values));
    const bool is_shape = engine->getTensorLocation(name) == nv::TensorLocation::kHOST;
    Place& place = inputs_[name];
    const auto copy = [&](auto& memory) -> void* {
      memory.assign(bytes.begin(), bytes.end());
      memory.resize(std::max<size_t>(memory.size(), 1));
      return memory.data();
    };
    EXPECT_TRUE(context->setTensorAddress(name, is_shape ? copy(place.host) : copy(place.shared)));
    context->setInputShape(name, dims_of(extents));
    return *this;
  }
  Program& feed_flag(const char* name, bool value) { return feed(name, {}, std::vector<char>{value}); }
  /// The error of a run; empty if it went well.
  std::string run() { return context ? testing::run_repeatedly(*context, outputs, logger.errors) : why_not(); }
  template <class T>
  std::vector<T> of(const char* name) const {
    const auto output = outputs.find(name);
    return output == outputs.end() ? std::vector<T>() : output->second.elements<T>();
  }
  const Numbers& shape(const char* name) { return outputs[name].shape; }

  Logger logger;
  std::map<std::string, OutputMemory> outputs;

 private:
  std::string why_not() const { return logger.errors.empty() ? "there is no plan" : logger.errors.back(); }
  struct Place {
    std::vector<std::byte> host;  ///< of shape inputs
    testing::Shared<std::byte> shared;
  };
  std::map<std::string, Place> inputs_;
  std::unique_ptr<nv::IRuntime> runtime_;

 public:
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

/// Whether a run was told that the index that `step` picked by is outside.
inline bool says_that_an_index_is_outside(const std::string& error, std::string_view step, int64_t index) {
  return error.find(str("step '", step, "': index ", index, " is outside")) != std::string::npos;
}

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
