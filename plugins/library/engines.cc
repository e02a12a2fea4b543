#include "library/engines.h"

#include <algorithm>
#include <atomic>

#include "library/data_types.h"
#include "library/entry.h"

namespace kiln::plugins {
namespace {

class Silent final : public nv::ILogger {
 public:
  void log(Severity, const char*) noexcept override {}
};

std::atomic<nv::ILogger*>& given_logger() {
  static std::atomic<nv::ILogger*> logger = nullptr;
  return logger;
}

/// What a step of a tensor is worth, which is said of bytes alone.
float scale_of(const nv::PluginTensorDesc& tensor) { return tensor.type == nv::DataType::kINT8 ? tensor.scale : 1.0F; }
std::vector<float> scales_of(const Engines::Told& told) {
  std::vector<float> scales;
  for (const Engines::Descs tensors : {told.inputs, told.outputs})
    for (const nv::PluginTensorDesc& tensor : tensors) scales.push_back(scale_of(tensor));
  return scales;
}

bool same(const nv::Dims& a, const nv::Dims& b) {
  return a.nbDims == b.nbDims && std::equal(a.d, a.d + std::max(a.nbDims, 0), b.d);
}
bool same(const nv::PluginTensorDesc& a, const nv::PluginTensorDesc& b) {
  return a.type == b.type && same(a.dims, b.dims);
}
bool all_same(Engines::Descs a, Engines::Descs b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) { return same(one, other); });
}

/// Fails unless the layers' outputs are what the caller has memory for: it has asked for the outputs' shapes before.
Status require_told(std::span<nv::ITensor* const> outputs, Engines::Descs told) {
  TRY(require(outputs.size() == told.size(), "there are ", outputs.size(), " outputs; ", told.size(), " were told"));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const nv::Dims dims = outputs[i]->getDimensions();
    TRY(require(same(dims, told[i].dims), "output ", i, " of its layers is ", text_of(dims), "; the one told is ",
                text_of(told[i].dims)));
    TRY(require(outputs[i]->getType() == told[i].type, "output ", i, " of its layers is of data type ",
                name_of(outputs[i]->getType()), "; the one told is of ", name_of(told[i].type)));
  }
  return {};
}

std::string name_of(const char* kind, size_t i) { return str(kind, i); }

}  // namespace

nv::ILogger& logger() {
  static Silent& silent = *new Silent;
  if (nv::ILogger* const given = given_logger()) return *given;
  nv::ILogger* const own = getLogger();
  return own ? *own : silent;
}
void set_logger(nv::ILogger* logger) { given_logger() = logger; }

struct Engines::Built {
  /// A tensor of the engine.
  struct Binding {
    const char* name;  ///< the engine's
    nv::TensorIOMode mode;
    size_t index;  ///< among the plugin's inputs or outputs
  };
  std::vector<nv::PluginTensorDesc> inputs, outputs;
  std::vector<float> scales;  ///< of inputs, then of outputs
  std::unique_ptr<nv::IRuntime> runtime;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  std::vector<Binding> bindings;
  std::atomic<bool> is_in_graph = false;  ///< of the program's, which may run it as long as the plugin lives
};

Engines::Engines(const Plugin& plugin) : plugin_(plugin) {}
Engines::~Engines() = default;

namespace {

Result<std::unique_ptr<nv::IHostMemory>> plan_of(const Plugin& plugin, const Engines::Told& told) {
  const Engines::Descs inputs = told.inputs;
  const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger()));
  if (!builder) return error(Code::kDevice, "no builder could be made");
  const std::unique_ptr<nv::INetworkDefinition> network(
      builder->createNetworkV2(1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)));
  const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  if (!network || !config) return error(Code::kOutOfMemory, "no network or no configuration could be made");
  std::vector<nv::ITensor*> tensors;
  for (size_t i = 0; i < inputs.size(); ++i)
    tensors.push_back(network->addInput(name_of("in", i).c_str(), inputs[i].type, inputs[i].dims));
  Layers layers(*network);
  // What the network refused, its logger has been told.
  const std::vector<nv::ITensor*> outputs = TRY(add_layers(plugin, layers, tensors, scales_of(told)));
  TRY(require_told(outputs, told.outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i]->setName(name_of("out", i).c_str());
    network->markOutput(*outputs[i]);
  }
  config->clearFlag(nv::BuilderFlag::kTF32);  // whoever wants that has the layers
  std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  if (!plan) return error(Code::kDevice, "its layers could not be built");
  return plan;
}

}  // namespace

Result<std::unique_ptr<Engines::Built>> Engines::build(const Told& told) const {
  for (const nv::PluginTensorDesc& input : told.inputs)
    TRY(require(std::all_of(input.dims.d, input.dims.d + input.dims.nbDims, [](int64_t d) { return d >= 0; }),
                "an extent of an input is not known"));
  const auto plan = TRY(plan_of(plugin_, told));
  auto fresh = std::make_unique<Built>();
  fresh->inputs.assign(told.inputs.begin(), told.inputs.end());
  fresh->outputs.assign(told.outputs.begin(), told.outputs.end());
  fresh->scales = scales_of(told);
  fresh->runtime.reset(nv::createInferRuntime(logger()));
  if (fresh->runtime) fresh->engine.reset(fresh->runtime->deserializeCudaEngine(plan->data(), plan->size()));
  if (fresh->engine) fresh->context.reset(fresh->engine->createExecutionContext());
  if (!fresh->context) return error(Code::kDevice, "its layers could not be loaded");
  const auto add_binding = [&](const char* kind, size_t index) {
    const std::string name = name_of(kind, index);
    for (int i = 0; i < fresh->engine->getNbIOTensors(); ++i)
      if (const char* const one = fresh->engine->getIOTensorName(i); one == name)
        fresh->bindings.push_back({one, fresh->engine->getTensorIOMode(one), index});
  };
  for (size_t i = 0; i < fresh->inputs.size(); ++i) add_binding("in", i);
  for (size_t i = 0; i < fresh->outputs.size(); ++i) add_binding("out", i);
  return fresh;
}

Engines::Held Engines::find(const Told& told) {
  const std::vector<float> scales = scales_of(told);
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(all_, [&](const auto& one) {
    return all_same(one->inputs, told.inputs) && all_same(one->outputs, told.outputs) && one->scales == scales;
  });
  if (found == all_.end()) return nullptr;
  std::rotate(found, found + 1, all_.end());
  return all_.back();
}

/// Makes room by the engine that nobody used for the longest time.
Engines::Held Engines::keep(std::unique_ptr<Built> fresh) {
  Held dropped;  // destroyed without the lock: what goes may tell the program's logger
  const std::lock_guard lock(mutex_);
  const auto may_go = [](const Held& one) { return !one->is_in_graph; };
  if (static_cast<size_t>(std::ranges::count_if(all_, may_go)) >= kMostEngines) {
    const auto oldest = std::ranges::find_if(all_, may_go);
    dropped = std::move(*oldest);
    all_.erase(oldest);
  }
  return all_.emplace_back(std::move(fresh));
}

/// Builds without the lock: a build calls the program's logger, which may come back here.
Result<Engines::Held> Engines::built(const Told& told) {
  if (Held found = find(told)) return found;
  std::unique_ptr<Built> fresh = TRY(build(told));
  if (Held meanwhile = find(told)) return meanwhile;
  return keep(std::move(fresh));
}

Status Engines::prepare(const Told& told) {
  TRY(built(told));
  return {};
}

Status Engines::enqueue(const Told& told, const void* const* from, void* const* to, cudaStream_t stream) {
  const Held built = TRY(this->built(told));
  if (enqueue_is_captured()) built->is_in_graph = true;
  for (const auto& [name, mode, index] : built->bindings) {
    const bool is_input = mode == nv::TensorIOMode::kINPUT;
    TRY(require(built->context->setTensorAddress(name, is_input ? const_cast<void*>(from[index]) : to[index]),
                "tensor '", name, "' has no memory"));
  }
  if (!built->context->enqueueV3(stream)) return error(Code::kDevice, "the run failed");
  return {};
}

}  // namespace kiln::plugins
