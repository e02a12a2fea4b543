// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of the public headers that only a program's code makes the compiler look at: templates, macros, overrides.

#include <NvInfer.h>
#include <NvInferPlugin.h>
#include <NvInferSafeRuntime.h>
#include <NvOnnxConfig.h>
#include <NvOnnxParser.h>

namespace {

class Creator : public nvinfer1::IPluginCreatorV3One {
 public:
  nvinfer1::AsciiChar const* getPluginName() const noexcept override { return "Name"; }
  nvinfer1::AsciiChar const* getPluginVersion() const noexcept override { return "1"; }
  nvinfer1::AsciiChar const* getPluginNamespace() const noexcept override { return ""; }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return &mFields; }
  nvinfer1::IPluginV3* createPlugin(nvinfer1::AsciiChar const*, nvinfer1::PluginFieldCollection const*,
                                    nvinfer1::TensorRTPhase) noexcept override {
    return nullptr;
  }

 private:
  nvinfer1::PluginFieldCollection mFields;
};

class Logger : public nvinfer1::ILogger {
 public:
  void log(Severity, char const*) noexcept override {}
};

__attribute__((unused)) bool build(Logger& logger) {
  nvinfer1::IBuilder* builder = nvinfer1::createInferBuilder(logger);
  nvinfer1::INetworkDefinition* network = builder->createNetworkV2(0);
  nvonnxparser::IParser* parser = nvonnxparser::createParser(*network, logger);
  nvinfer1::IBuilderConfig* config = builder->createBuilderConfig();
  config->setFlag(nvinfer1::BuilderFlag::kREFIT);
  nvinfer1::ITensor* x = network->addInput("x", nvinfer1::DataType::kFLOAT, nvinfer1::Dims4{-1, 3, 8, 8});
  nvinfer1::ILoop* loop = network->addLoop();
  bool const ok = parser->parseFromFile("m.onnx", 2) && x != nullptr && loop->addIterator(*x) != nullptr;
  delete parser;
  delete config;
  delete network;
  delete builder;
  return ok;
}

static_assert(nvinfer1::EnumMax<nvinfer1::LayerType>() == 57, "the number of layers");
static_assert(NV_TENSORRT_VERSION_INT(10, 16, 0) == NV_TENSORRT_VERSION, "the version");

}  // namespace

REGISTER_TENSORRT_PLUGIN(Creator);

namespace {
class SafeCreator : public Creator {};
}  // namespace

REGISTER_SAFE_TENSORRT_PLUGIN(SafeCreator);
static_assert(noexcept(getSafePluginRegistry() == nvinfer1::safe::getSafePluginRegistry()),
              "both are the one function");
