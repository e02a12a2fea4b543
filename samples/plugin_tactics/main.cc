// A plugin of version 3 with two tactics: rows that go on at their other end.
//
//   y[r, i] = x[r, (i - pad) mod W]     x f32 [R, W], y f32 [R, W + 2 pad], pad an attribute, at most W
//
// The builder times both tactics, keeps the better one in the plan, and hands it to the plugin that the plan makes
// again, through the creator that this program registers. Prints PASSED and exits with 0 if a saved and loaded plan
// computes what a plain loop does, for two shapes. `enqueue` is host code, so that KILN_DEVICE=cpu has to be set where
// there is a GPU; on one it would launch a kernel on the stream that it gets.

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "NvInfer.h"

namespace {

namespace nv = nvinfer1;

constexpr const char* kName = "SampleCircularPadding";
constexpr const char* kVersion = "1";

/// Core, build and run-time parts in one object, as most plugins have them.
class CircularPadding final : public nv::IPluginV3,
                              public nv::IPluginV3OneCore,
                              public nv::IPluginV3OneBuild,
                              public nv::IPluginV3OneRuntime {
 public:
  enum Tactic : int32_t { kElements = 1, kRows = 2 };  // positive: 0 means that a plugin has none

  explicit CircularPadding(int32_t pad) : pad_(pad) {}

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    switch (type) {
      case nv::PluginCapabilityType::kCORE: return static_cast<nv::IPluginV3OneCore*>(this);
      case nv::PluginCapabilityType::kBUILD: return static_cast<nv::IPluginV3OneBuild*>(this);
      case nv::PluginCapabilityType::kRUNTIME: return static_cast<nv::IPluginV3OneRuntime*>(this);
    }
    return nullptr;
  }
  nv::IPluginV3* clone() noexcept override {
    auto* const copy = new (std::nothrow) CircularPadding(pad_);
    if (copy) copy->tactic_ = tactic_;
    return copy;
  }

  // Core.
  const char* getPluginName() const noexcept override { return kName; }
  const char* getPluginVersion() const noexcept override { return kVersion; }
  const char* getPluginNamespace() const noexcept override { return ""; }

  // Build: what comes out, in which types and formats, and which tactics there are.
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* outputs, int32_t, const nv::DataType* inputs,
                             int32_t) const noexcept override {
    outputs[0] = inputs[0];
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* inputs, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* outputs,
                          int32_t, nv::IExprBuilder& builder) noexcept override {
    if (inputs[0].nbDims != 2) return 1;
    outputs[0] = inputs[0];
    outputs[0].d[1] = builder.operation(nv::DimensionOperation::kSUM, *inputs[0].d[1], *builder.constant(2 * pad_));
    return 0;
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    const nv::PluginTensorDesc& tensor = tensors[position].desc;
    return tensor.type == nv::DataType::kFLOAT && tensor.format == nv::TensorFormat::kLINEAR;
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbTactics() noexcept override { return 2; }
  int32_t getValidTactics(int32_t* tactics, int32_t) noexcept override {
    tactics[0] = kElements;
    tactics[1] = kRows;
    return 0;
  }
  /// Times may be kept in the timing cache under it; null: they are not.
  const char* getTimingCacheID() noexcept override { return "circular padding of rows"; }

  // Runtime.
  int32_t setTactic(int32_t tactic) noexcept override {
    tactic_ = tactic;
    return tactic == kElements || tactic == kRows ? 0 : 1;
  }
  int32_t onShapeChange(const nv::PluginTensorDesc* inputs, int32_t, const nv::PluginTensorDesc*,
                        int32_t) noexcept override {
    return inputs[0].dims.d[1] >= pad_ ? 0 : 1;
  }
  int32_t enqueue(const nv::PluginTensorDesc* inputs, const nv::PluginTensorDesc*, const void* const* from,
                  void* const* to, void*, cudaStream_t) noexcept override {
    const int64_t rows = inputs[0].dims.d[0], width = inputs[0].dims.d[1];
    const auto* x = static_cast<const float*>(from[0]);
    auto* y = static_cast<float*>(to[0]);
    for (int64_t row = 0; row < rows; ++row, x += width, y += width + 2 * pad_)
      tactic_ == kRows ? pad_row(x, width, y) : pad_elements(x, width, y);
    return 0;
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override {
    field_ = {"pad", &pad_, nv::PluginFieldType::kINT32, 1};
    fields_ = {1, &field_};
    return &fields_;
  }

 private:
  void pad_elements(const float* x, int64_t width, float* y) const {
    for (int64_t i = 0; i < width + 2 * pad_; ++i) y[i] = x[(i - pad_ + width) % width];
  }
  void pad_row(const float* x, int64_t width, float* y) const {
    const auto pad = static_cast<size_t>(pad_), whole = static_cast<size_t>(width);
    std::memcpy(y, x + whole - pad, pad * sizeof(float));
    std::memcpy(y + pad, x, whole * sizeof(float));
    std::memcpy(y + pad + whole, x, pad * sizeof(float));
  }

  int32_t pad_, tactic_ = kElements;
  nv::PluginField field_;
  nv::PluginFieldCollection fields_;
};

class Creator final : public nv::IPluginCreatorV3One {
 public:
  /// Makes plugins of a network's attributes (kBUILD) and of a plan's (kRUNTIME), which are the same here.
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase) noexcept override {
    for (int32_t i = 0; fields && i < fields->nbFields; ++i) {
      const nv::PluginField& field = fields->fields[i];
      if (std::strcmp(field.name, "pad") == 0 && field.type == nv::PluginFieldType::kINT32 && field.length == 1)
        return new (std::nothrow) CircularPadding(*static_cast<const int32_t*>(field.data));
    }
    return nullptr;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  const char* getPluginName() const noexcept override { return kName; }
  const char* getPluginVersion() const noexcept override { return kVersion; }
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::PluginField field_{"pad", nullptr, nv::PluginFieldType::kINT32, 1};
  nv::PluginFieldCollection fields_{1, &field_};
};
REGISTER_TENSORRT_PLUGIN(Creator);

/// Prints warnings and errors.
class Logger final : public nv::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}
template <class T>
std::unique_ptr<T> own(T* object, const char* what) {
  require(object != nullptr, what);
  return std::unique_ptr<T>(object);
}

std::unique_ptr<nv::IPluginV3> make_plugin(int32_t pad) {
  const nv::PluginField field{"pad", &pad, nv::PluginFieldType::kINT32, 1};
  const nv::PluginFieldCollection fields{1, &field};
  auto* const creator = static_cast<nv::IPluginCreatorV3One*>(getPluginRegistry()->getCreator(kName, kVersion));
  require(creator != nullptr, "the creator is not registered");
  return own(creator->createPlugin("padding", &fields, nv::TensorRTPhase::kBUILD), "createPlugin failed");
}

std::unique_ptr<nv::IHostMemory> build_plan(Logger& logger, int32_t pad) {
  const auto builder = own(nv::createInferBuilder(logger), "createInferBuilder failed");
  const auto network = own(builder->createNetworkV2(0), "createNetworkV2 failed");
  nv::ITensor* const x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2{-1, -1});
  require(x != nullptr, "addInput failed");
  const auto plugin = make_plugin(pad);  // the network takes a clone
  nv::IPluginV3Layer* const layer = network->addPluginV3(&x, 1, nullptr, 0, *plugin);
  require(layer != nullptr, "addPluginV3 failed");
  layer->getOutput(0)->setName("y");
  network->markOutput(*layer->getOutput(0));

  const auto config = own(builder->createBuilderConfig(), "createBuilderConfig failed");
  nv::IOptimizationProfile* const profile = builder->createOptimizationProfile();
  profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2{1, 8});
  profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2{64, 256});
  profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2{256, 1024});
  config->addOptimizationProfile(profile);
  return own(builder->buildSerializedNetwork(*network, *config), "buildSerializedNetwork failed");
}

void check(nv::IExecutionContext& context, int64_t rows, int64_t width, int64_t pad) {
  std::vector<float> x(static_cast<size_t>(rows * width)), y(static_cast<size_t>(rows * (width + 2 * pad)), -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  require(context.setInputShape("x", nv::Dims2{rows, width}), "setInputShape failed");
  require(context.setTensorAddress("x", x.data()) && context.setTensorAddress("y", y.data()),
          "setTensorAddress failed");
  void* bindings[] = {x.data(), y.data()};
  require(context.executeV2(bindings), "executeV2 failed");
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width + 2 * pad; ++i)
      require(y[static_cast<size_t>(row * (width + 2 * pad) + i)] ==
                  static_cast<float>(row * width + (i - pad + width) % width),
              "an element is wrong");
}

void run() {
  constexpr int32_t kPad = 3;
  Logger logger;
  const auto plan = build_plan(logger, kPad);
  const auto runtime = own(nv::createInferRuntime(logger), "createInferRuntime failed");
  const auto engine = own(runtime->deserializeCudaEngine(plan->data(), plan->size()), "deserializeCudaEngine failed");
  const auto context = own(engine->createExecutionContext(), "createExecutionContext failed");
  check(*context, 64, 256, kPad);
  check(*context, 5, 8, kPad);
  std::printf("plan of %zu bytes\nPASSED\n", plan->size());
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED: %s\n", error.what());
    return 1;
  }
}
