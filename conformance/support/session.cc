#include "support/session.h"

#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/api_types.h"
#include "support/formats.h"

namespace kiln::conformance {
namespace {

using nvinfer1::OptProfileSelector;
constexpr OptProfileSelector kSelectors[] = {OptProfileSelector::kMIN, OptProfileSelector::kOPT,
                                             OptProfileSelector::kMAX};

/// Keeps what went wrong.
class Logger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) errors += errors.empty() ? message : str("; ", message);
  }
  std::string errors;
};

template <class... Parts>
std::unexpected<Error> failed(const Logger& logger, const Parts&... parts) {
  return error(Code::kInvalidArgument, parts..., ": ", logger.errors.empty() ? "no reason was logged" : logger.errors);
}

const Tensor* find(const std::vector<Tensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

bool has_unknown(const nvinfer1::Dims& dims) {
  return std::any_of(dims.d, dims.d + dims.nbDims, [](auto d) { return d < 0; });
}

/// Tells the profile about one input; nothing about one that is static and no shape tensor.
Status describe_input(nvinfer1::ITensor& input, const BuildOptions& options, nvinfer1::IOptimizationProfile& profile) {
  const std::string name = input.getName();
  const Tensor* example = find(options.examples, name);
  const auto range = options.extents.find(name);
  TRY(require(example || range != options.extents.end(), "there is no data for input '", name, "'"));
  if (has_unknown(input.getDimensions())) {
    const InputRange extents =
        range != options.extents.end() ? range->second : InputRange{example->dims, example->dims, example->dims};
    const std::vector<int64_t>* chosen[] = {&extents.min, &extents.opt, &extents.max};
    for (int i = 0; i < 3; ++i)
      TRY(require(profile.setDimensions(name.c_str(), kSelectors[i], to_dims(*chosen[i])),
                  "the profile refused extents ", *chosen[i], " of input '", name, "'"));
  }
  if (!input.isShapeTensor()) return {};
  TRY(require(example != nullptr, "there are no values for shape input '", name, "'"));
  const std::vector<int64_t> same = integers_of(*example);
  const auto given = options.values.find(name);
  const InputRange values = given != options.values.end() ? given->second : InputRange{same, same, same};
  const std::vector<int64_t>* chosen[] = {&values.min, &values.opt, &values.max};
  for (int i = 0; i < 3; ++i)
    TRY(require(profile.setShapeValuesV2(name.c_str(), kSelectors[i], chosen[i]->data(),
                                         static_cast<int32_t>(chosen[i]->size())),
                "the profile refused values ", *chosen[i], " of input '", name, "'"));
  return {};
}

void allow_one_format(nvinfer1::ITensor& tensor, uint64_t seed) {
  const auto format = random_format(seed, tensor.getName(), tensor.getDimensions().nbDims);
  tensor.setAllowedFormats(1U << static_cast<uint32_t>(format));
}

std::string parser_errors(const nvonnxparser::IParser& parser) {
  std::string text;
  for (int i = 0; i < parser.getNbErrors(); ++i) text += str(i ? "; " : "", parser.getError(i)->desc());
  return text.empty() ? "no reason was given" : text;
}

}  // namespace

Result<PlanBytes> build_plan(const std::string& onnx_path, const BuildOptions& options) {
  Logger logger;
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger));
  if (!builder) return failed(logger, "createInferBuilder");
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  if (!network) return failed(logger, "createNetworkV2");
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*network, logger));
  if (!parser) return failed(logger, "createParser");
  if (!parser->parseFromFile(onnx_path.c_str(), static_cast<int>(nvinfer1::ILogger::Severity::kERROR)))
    return error(Code::kUnsupported, "parser: ", parser_errors(*parser));

  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  if (!config) return failed(logger, "createBuilderConfig");
  config->setBuilderOptimizationLevel(options.optimization_level);
  config->setProfilingVerbosity(nvinfer1::ProfilingVerbosity::kDETAILED);
  if (!options.tf32) config->clearFlag(nvinfer1::BuilderFlag::kTF32);
  if (options.fp16) config->setFlag(nvinfer1::BuilderFlag::kFP16);
  if (options.bf16) config->setFlag(nvinfer1::BuilderFlag::kBF16);
  nvinfer1::IOptimizationProfile* profile = builder->createOptimizationProfile();
  if (!profile) return failed(logger, "createOptimizationProfile");
  for (int i = 0; i < network->getNbInputs(); ++i) TRY(describe_input(*network->getInput(i), options, *profile));
  if (options.formats_seed) {
    for (int i = 0; i < network->getNbInputs(); ++i) allow_one_format(*network->getInput(i), *options.formats_seed);
    for (int i = 0; i < network->getNbOutputs(); ++i) allow_one_format(*network->getOutput(i), *options.formats_seed);
  }
  if (config->addOptimizationProfile(profile) < 0) return failed(logger, "addOptimizationProfile");
  const std::unique_ptr<nvinfer1::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  if (!plan) return failed(logger, "buildSerializedNetwork");
  const auto* bytes = static_cast<const std::byte*>(plan->data());
  return PlanBytes(bytes, bytes + plan->size());
}

bool parser_supports(const std::string& op_type) {
  Logger logger;
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(logger));
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder ? builder->createNetworkV2(0) : nullptr);
  const std::unique_ptr<nvonnxparser::IParser> parser(network ? nvonnxparser::createParser(*network, logger) : nullptr);
  return parser && parser->supportsOperator(op_type.c_str());
}

namespace {

/// Bytes of an element of a type of whole bytes.
size_t element_size(onnx::ElementType type) { return static_cast<size_t>(onnx::bits_of(type)) / 8; }

/// Memory where the network runs.
class DeviceMemory final : public nvinfer1::IOutputAllocator {
 public:
  ~DeviceMemory() override { cudaFree(data_); }
  Status resize(size_t size) {
    if (size <= size_ && data_) return {};
    cudaFree(data_);
    data_ = nullptr;
    size_ = std::max<size_t>(size, 1);  // an empty tensor has an address, too
    return require(cudaMalloc(&data_, size_) == cudaSuccess, "cudaMalloc of ", size_, " bytes failed");
  }
  void* data() const { return data_; }

  // As the allocator of an output whose extents are known only when it has been computed.
  void* reallocateOutputAsync(const char*, void*, uint64_t size, uint64_t, cudaStream_t) override {
    return resize(size) ? data_ : nullptr;
  }
  void notifyShape(const char*, const nvinfer1::Dims& dims) noexcept override { dims_ = dims; }
  const nvinfer1::Dims& dims() const { return dims_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  nvinfer1::Dims dims_{};
};

}  // namespace

struct Session::Objects {
  Logger logger;
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  std::unique_ptr<nvinfer1::IExecutionContext> context;
  cudaStream_t stream = nullptr;
  std::map<std::string, DeviceMemory> memory;
  std::map<std::string, std::vector<std::byte>> given;  // inputs as the engine takes them; they outlive the run

  ~Objects() {
    if (stream) cudaStreamDestroy(stream);
  }
  Status bind_input(const char* name, const std::vector<Tensor>& inputs);
  Status bind_output(const char* name);
  Result<Tensor> fetch_output(const char* name);
  size_t memory_bytes(const char* name, const nvinfer1::Dims& dims) const;
};

Session::Session(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::load(std::span<const std::byte> plan) {
  auto o = std::make_unique<Objects>();
  o->runtime.reset(nvinfer1::createInferRuntime(o->logger));
  if (!o->runtime) return failed(o->logger, "createInferRuntime");
  o->engine.reset(o->runtime->deserializeCudaEngine(plan.data(), plan.size()));
  if (!o->engine) return failed(o->logger, "deserializeCudaEngine");
  o->context.reset(o->engine->createExecutionContext());
  if (!o->context) return failed(o->logger, "createExecutionContext");
  TRY(require(cudaStreamCreate(&o->stream) == cudaSuccess, "cudaStreamCreate failed"));
  return std::unique_ptr<Session>(new Session(std::move(o)));
}

Status Session::Objects::bind_input(const char* name, const std::vector<Tensor>& inputs) {
  const Tensor* input = find(inputs, name);
  TRY(require(input != nullptr, "there is no data for input '", name, "'"));
  const onnx::ElementType type = to_onnx(engine->getTensorDataType(name));
  TRY(require(type == input->type, "the engine takes ", type, " for input '", name, "', the data is ", *input));
  // Files of scalars may call them lists of one.
  const bool is_scalar = engine->getTensorShape(name).nbDims == 0 && input->num_elements() == 1;
  const nvinfer1::Dims dims = to_dims(is_scalar ? std::vector<int64_t>{} : input->dims);
  if (!context->setInputShape(name, dims)) return failed(logger, "setInputShape of '", name, "'");
  DeviceMemory& place = memory[name];
  std::vector<std::byte>& bytes = given[name];
  bytes = to_format(engine->getTensorFormat(name), dims, element_size(type), input->bytes);
  TRY(place.resize(bytes.size()));
  // A shape input's address is the host's.
  const bool on_host = engine->getTensorLocation(name) == nvinfer1::TensorLocation::kHOST;
  const void* address = on_host && !bytes.empty() ? bytes.data() : place.data();
  if (!on_host && !bytes.empty()) {
    const auto status = cudaMemcpyAsync(place.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream);
    TRY(require(status == cudaSuccess, "cudaMemcpyAsync of input '", name, "' failed"));
  }
  return context->setTensorAddress(name, const_cast<void*>(address))
             ? Status{}
             : failed(logger, "setTensorAddress of '", name, "'");
}

Status Session::Objects::bind_output(const char* name) {
  const nvinfer1::Dims dims = context->getTensorShape(name);
  TRY(require(dims.nbDims >= 0, "getTensorShape of output '", name, "' failed: ", logger.errors));
  DeviceMemory& place = memory[name];
  if (has_unknown(dims))
    return context->setOutputAllocator(name, &place) ? Status{} : failed(logger, "setOutputAllocator of '", name, "'");
  TRY(place.resize(memory_bytes(name, dims)));
  return context->setTensorAddress(name, place.data()) ? Status{} : failed(logger, "setTensorAddress of '", name, "'");
}

Result<Tensor> Session::Objects::fetch_output(const char* name) {
  const DeviceMemory& place = memory[name];
  nvinfer1::Dims dims = context->getTensorShape(name);
  if (has_unknown(dims)) dims = place.dims();
  Tensor output{name, to_onnx(engine->getTensorDataType(name)), {dims.d, dims.d + dims.nbDims}, {}};
  output.bytes.resize(memory_bytes(name, dims));
  if (output.bytes.empty()) return output;
  const auto status =
      cudaMemcpyAsync(output.bytes.data(), place.data(), output.bytes.size(), cudaMemcpyDeviceToHost, stream);
  TRY(require(status == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess, "copying output '", name,
              "' failed: ", logger.errors));
  output.bytes = from_format(engine->getTensorFormat(name), dims, element_size(output.type), output.bytes);
  return output;
}

size_t Session::Objects::memory_bytes(const char* name, const nvinfer1::Dims& dims) const {
  const onnx::ElementType type = to_onnx(engine->getTensorDataType(name));
  const nvinfer1::TensorFormat format = engine->getTensorFormat(name);
  if (format == nvinfer1::TensorFormat::kLINEAR) return static_cast<size_t>(size_bytes(type, dims));
  return static_cast<size_t>(storage_elements(format, dims)) * element_size(type);
}

Result<std::vector<Tensor>> Session::run(const std::vector<Tensor>& inputs) {
  Objects& o = *objects_;
  std::vector<const char*> outputs;
  for (int i = 0; i < o.engine->getNbIOTensors(); ++i) {
    const char* name = o.engine->getIOTensorName(i);
    if (o.engine->getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT)
      TRY(o.bind_input(name, inputs));
    else
      outputs.push_back(name);
  }
  if (o.context->inferShapes(0, nullptr) != 0) return failed(o.logger, "inferShapes");
  for (const char* name : outputs) TRY(o.bind_output(name));
  if (!o.context->enqueueV3(o.stream)) return failed(o.logger, "enqueueV3");
  if (cudaStreamSynchronize(o.stream) != cudaSuccess) return failed(o.logger, "cudaStreamSynchronize");
  std::vector<Tensor> results;
  for (const char* name : outputs) results.push_back(TRY(o.fetch_output(name)));
  return results;
}

Result<std::vector<std::string>> Session::tactics() {
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(objects_->engine->createEngineInspector());
  if (!inspector) return failed(objects_->logger, "createEngineInspector");
  const char* text = inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON);
  if (!text) return failed(objects_->logger, "getEngineInformation");
  const auto report = nlohmann::json::parse(text, nullptr, false);
  TRY(require(report.is_object() && report.contains("Layers"), "the inspector's text is no JSON with Layers"));
  std::vector<std::string> tactics;
  for (const auto& layer : report["Layers"]) {
    TRY(require(layer.is_object() && layer.contains("TacticName"), "a layer of the inspector's has no TacticName"));
    tactics.push_back(layer["TacticName"].get<std::string>());
  }
  return tactics;
}

bool is_reference(const std::string& tactic) { return tactic == "reference" || tactic.starts_with("reference:"); }

}  // namespace kiln::conformance
