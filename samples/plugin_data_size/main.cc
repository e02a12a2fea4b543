// A plugin of version 3 whose output is as large as its data say: where a matrix is not zero.
//
//   x f32 [R, C];  indices i32 [n, 2]: row and column, row by row;  count i32 []: n
//
// The count is a size tensor: the plugin declares it with its best guess and its bound, and writes it like any output.
// Who runs the engine learns n through an output allocator. Prints PASSED and exits with 0 if a saved and loaded plan
// finds what a plain loop finds, in matrices with some, none and all elements. `enqueue` is host code, so that
// KILN_DEVICE=cpu has to be set where there is a GPU.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "NvInfer.h"

namespace {

namespace nv = nvinfer1;

constexpr const char* kName = "SampleNonZero";
constexpr const char* kVersion = "1";

class NonZero final : public nv::IPluginV3,
                      public nv::IPluginV3OneCore,
                      public nv::IPluginV3OneBuild,
                      public nv::IPluginV3OneRuntime {
 public:
  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    switch (type) {
      case nv::PluginCapabilityType::kCORE: return static_cast<nv::IPluginV3OneCore*>(this);
      case nv::PluginCapabilityType::kBUILD: return static_cast<nv::IPluginV3OneBuild*>(this);
      case nv::PluginCapabilityType::kRUNTIME: return static_cast<nv::IPluginV3OneRuntime*>(this);
    }
    return nullptr;
  }
  nv::IPluginV3* clone() noexcept override { return new (std::nothrow) NonZero; }

  // Core.
  const char* getPluginName() const noexcept override { return kName; }
  const char* getPluginVersion() const noexcept override { return kVersion; }
  const char* getPluginNamespace() const noexcept override { return ""; }

  // Build.
  int32_t getNbOutputs() const noexcept override { return 2; }
  int32_t getOutputDataTypes(nv::DataType* outputs, int32_t, const nv::DataType*, int32_t) const noexcept override {
    outputs[0] = outputs[1] = nv::DataType::kINT32;
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* inputs, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* outputs,
                          int32_t, nv::IExprBuilder& builder) noexcept override {
    if (inputs[0].nbDims != 2) return 1;
    using nv::DimensionOperation;
    const auto* const most = builder.operation(DimensionOperation::kPROD, *inputs[0].d[0], *inputs[0].d[1]);
    const auto* const guess = builder.operation(DimensionOperation::kCEIL_DIV, *most, *builder.constant(2));
    const auto* const size = builder.declareSizeTensor(1, *guess, *most);  // output 1 tells it, a scalar
    if (!size) return 1;
    outputs[0].nbDims = 2;
    outputs[0].d[0] = size;
    outputs[0].d[1] = builder.constant(2);
    outputs[1].nbDims = 0;
    return 0;
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    const nv::PluginTensorDesc& tensor = tensors[position].desc;
    return tensor.format == nv::TensorFormat::kLINEAR &&
           tensor.type == (position == 0 ? nv::DataType::kFLOAT : nv::DataType::kINT32);
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }

  // Runtime. The memory of output 0 holds the bound.
  int32_t onShapeChange(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*, int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc* inputs, const nv::PluginTensorDesc*, const void* const* from,
                  void* const* to, void*, cudaStream_t) noexcept override {
    const auto rows = static_cast<int32_t>(inputs[0].dims.d[0]), columns = static_cast<int32_t>(inputs[0].dims.d[1]);
    const auto* x = static_cast<const float*>(from[0]);
    auto* const indices = static_cast<int32_t*>(to[0]);
    int32_t count = 0;
    for (int32_t row = 0; row < rows; ++row)
      for (int32_t column = 0; column < columns; ++column, ++x) {
        if (*x == 0) continue;
        indices[2 * count] = row;
        indices[2 * count + 1] = column;
        ++count;
      }
    *static_cast<int32_t*>(to[1]) = count;
    return 0;
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return &fields_; }

 private:
  nv::PluginFieldCollection fields_{0, nullptr};  // nothing has to be known to make the plugin again
};

class Creator final : public nv::IPluginCreatorV3One {
 public:
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection*, nv::TensorRTPhase) noexcept override {
    return new (std::nothrow) NonZero;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  const char* getPluginName() const noexcept override { return kName; }
  const char* getPluginVersion() const noexcept override { return kVersion; }
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::PluginFieldCollection fields_{0, nullptr};
};
REGISTER_TENSORRT_PLUGIN(Creator);

/// Prints warnings and errors.
class Logger final : public nv::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};

/// Gives the output its memory, and is told its shape when that is known.
class Indices final : public nv::IOutputAllocator {
 public:
  void* reallocateOutputAsync(const char*, void*, uint64_t size_bytes, uint64_t, cudaStream_t) override {
    if (size_bytes / sizeof(int32_t) > memory.size()) memory.resize(size_bytes / sizeof(int32_t));
    return memory.data();
  }
  void notifyShape(const char*, const nv::Dims& dims) noexcept override { rows = dims.d[0]; }

  std::vector<int32_t> memory{0};
  int64_t rows = -1;
};

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}
template <class T>
std::unique_ptr<T> own(T* object, const char* what) {
  require(object != nullptr, what);
  return std::unique_ptr<T>(object);
}

std::unique_ptr<nv::IHostMemory> build_plan(Logger& logger, int64_t rows, int64_t columns) {
  const auto builder = own(nv::createInferBuilder(logger), "createInferBuilder failed");
  const auto network = own(builder->createNetworkV2(0), "createNetworkV2 failed");
  nv::ITensor* const x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2{rows, columns});
  require(x != nullptr, "addInput failed");
  NonZero plugin;  // the network takes a clone
  nv::IPluginV3Layer* const layer = network->addPluginV3(&x, 1, nullptr, 0, plugin);
  require(layer != nullptr, "addPluginV3 failed");
  layer->getOutput(0)->setName("indices");
  network->markOutput(*layer->getOutput(0));
  const auto config = own(builder->createBuilderConfig(), "createBuilderConfig failed");
  return own(builder->buildSerializedNetwork(*network, *config), "buildSerializedNetwork failed");
}

/// Every `step`-th element is 1, the others are 0; step 0: all are 0.
void check(nv::IExecutionContext& context, int32_t rows, int32_t columns, int32_t step) {
  std::vector<float> x(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  std::vector<int32_t> expected;
  for (int32_t i = 0; step > 0 && i < rows * columns; i += step) {
    x[static_cast<size_t>(i)] = 1;
    expected.push_back(i / columns);
    expected.push_back(i % columns);
  }
  Indices found;
  require(context.setTensorAddress("x", x.data()) && context.setOutputAllocator("indices", &found) &&
              context.enqueueV3(nullptr) && cudaStreamSynchronize(nullptr) == cudaSuccess,
          "the run failed");
  require(found.rows == static_cast<int64_t>(expected.size() / 2), "the count is wrong");
  for (size_t i = 0; i < expected.size(); ++i) require(found.memory[i] == expected[i], "an index is wrong");
}

void run() {
  constexpr int32_t kRows = 6, kColumns = 7;
  Logger logger;
  const auto plan = build_plan(logger, kRows, kColumns);
  const auto runtime = own(nv::createInferRuntime(logger), "createInferRuntime failed");
  const auto engine = own(runtime->deserializeCudaEngine(plan->data(), plan->size()), "deserializeCudaEngine failed");
  const auto context = own(engine->createExecutionContext(), "createExecutionContext failed");
  for (const int32_t step : {3, 0, 1}) check(*context, kRows, kColumns, step);
  std::printf("PASSED\n");
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
