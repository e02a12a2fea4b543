#include "api/run/inspector.h"

#include "api/run/context.h"
#include "api/run/tensor_format.h"
#include "base/field.h"
#include "plan/json.h"
#include "plan/kernel_name.h"
#include "steps/plugin.h"

namespace kiln::api {

using nvinfer1::LayerInformationFormat;
using nvinfer1::ProfilingVerbosity;

namespace {

/// The source of a layer's tensors and extents: the block that it is in, and a context's shapes if there is one.
struct View {
  const runtime::Engine& engine;
  const runtime::Context* context;
  int profile;
  const plan::NestedStep& layer;

  const plan::Step& step() const { return layer.get(); }
  const plan::Tensor& tensor(int id) const { return layer.block->tensors[static_cast<size_t>(id)]; }
  /// The name of a tensor. Programs find inputs and outputs by name, and take two tensors of one name for one edge.
  std::string name(int id) const {
    const plan::Tensor& t = tensor(id);
    const auto index = static_cast<size_t>(t.index);
    if (t.place == plan::Place::kInput) return (layer.body ? layer.body->inputs : engine.plan().inputs)[index].name;
    if (t.place == plan::Place::kOutput && !layer.body) return engine.plan().outputs[index].name;
    return t.name.empty() ? str("(Unnamed Tensor* ", id, ")") : t.name;
  }
  Extents extents(const plan::Tensor& tensor) const {
    return context ? context->known_extents(tensor.extents) : engine.fixed_symbols(profile).extents(tensor.extents);
  }
};

std::string_view location(const plan::Tensor& tensor) {
  return tensor.place == plan::Place::kWeight ? "Weights" : "Device";
}

std::string format_text(const plan::Tensor& tensor) {
  return describe_format(tensor.format, tensor.dtype, static_cast<int>(tensor.extents.size()));
}

std::string kernel_name(const plan::Step& step) { return plan::kernel_name(step.info.tactic, step.info.variant); }

/// The common name of the step's ops.
std::string_view layer_type(const plan::Step& step) { return step.info.ops.empty() ? step.step.name() : step.info.ops; }

/// A step's tensor under the API's keys.
struct LayerTensor {
  std::string name, location;
  Extents dimensions;
  std::string format;
  std::optional<std::string> view_of;

  static void reflect(auto& self, auto f) {
    f("Name", self.name), f("Location", self.location), f("Dimensions", self.dimensions);
    f("Format/Datatype", self.format), f("ViewOf", self.view_of);
  }
};

std::vector<LayerTensor> describe(const std::vector<int>& tensors, const View& view) {
  std::vector<LayerTensor> list;
  for (const int id : tensors) {
    const plan::Tensor& t = view.tensor(id);
    if (t.place == plan::Place::kAbsent) continue;
    list.push_back({view.name(id), std::string(location(t)), view.extents(t), format_text(t), {}});
    if (t.place == plan::Place::kView) list.back().view_of = view.name(t.index);
  }
  return list;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += str(result.empty() ? "" : ", ", text);
  return result;
}

/// A step: TensorRT's keys first, then Kiln's own.
struct Layer {
  std::string name, type;
  std::vector<LayerTensor> inputs, outputs;
  std::string tactic;
  int stream = 0;
  std::string metadata, executor;
  int64_t workspace_bytes = 0;
  double time_us = 0;
  std::vector<std::string> candidates;
  std::optional<std::vector<plan::AlternativeInfo>> alternatives;
  std::optional<std::string> body;             ///< that the layer is in
  std::optional<std::string> plugin_metadata;  ///< of a plugin that tells some

  static void reflect(auto& self, auto f) {
    f("Name", self.name), f("LayerType", self.type), f("Inputs", self.inputs), f("Outputs", self.outputs);
    f("TacticName", self.tactic), f("StreamId", self.stream), f("Metadata", self.metadata);
    f("Executor", self.executor), f("WorkspaceBytes", self.workspace_bytes), f("TimeUs", self.time_us);
    f("Candidates", self.candidates), f("Alternatives", self.alternatives), f("Body", self.body);
    f("PluginMetadata", self.plugin_metadata);
  }
};

Record describe(const View& view) {
  const plan::Step& step = view.step();
  Layer layer{.name = step.name,
              .type = std::string(layer_type(step)),
              .inputs = describe(step.inputs, view),
              .outputs = describe(step.outputs, view),
              .tactic = kernel_name(step),
              .stream = step.stream,
              .metadata = joined(step.provenance),
              .executor = str(step.executor, "/", step.step.name()),
              .workspace_bytes = step.workspace_bytes,
              .time_us = step.info.time_us,
              .candidates = step.info.candidates,
              .alternatives = {},
              .body = {},
              .plugin_metadata = {}};
  if (view.layer.body) layer.body = view.layer.body->name;
  if (const std::string* text = steps::plugin_metadata_of(step.step); text && !text->empty())
    layer.plugin_metadata = *text;
  for (const plan::Alternative& other : step.alternatives) {
    if (!layer.alternatives) layer.alternatives.emplace();
    layer.alternatives->push_back(other.info);
  }
  return to_record(layer);
}

/// The line that TensorRT prints for a layer. Programs split it at its commas. One in a body has the body's name
/// behind.
std::string one_line(const View& view) {
  const plan::Step& step = view.step();
  const auto list = [&](const std::vector<int>& tensors) {
    std::string text;
    for (const int id : tensors) {
      const plan::Tensor& t = view.tensor(id);
      if (t.place == plan::Place::kAbsent) continue;
      std::string extents;
      for (const int64_t extent : view.extents(t)) extents += str(extents.empty() ? "" : ",", extent);
      text += str(text.empty() ? " { Name: " : ", { Name: ", view.name(id), ", Location: ", location(t),
                  ", Dimensions: [", extents, "], Format/Datatype: ", format_text(t), " }");
    }
    return text;
  };
  return str("Name: ", step.name, ", LayerType: ", layer_type(step), ", Inputs: [", list(step.inputs), "], Outputs: [",
             list(step.outputs), "], TacticName: ", kernel_name(step), ", StreamId: ", step.stream,
             ", Metadata: ", joined(step.provenance),
             view.layer.body ? str(", Body: ", view.layer.body->name) : std::string());
}

Status check(LayerInformationFormat format) {
  const auto number = static_cast<int32_t>(format);
  return require(number >= 0 && number < nvinfer1::EnumMax<LayerInformationFormat>(), "format ", number,
                 " is not a LayerInformationFormat");
}

}  // namespace

bool Inspector::setExecutionContext(nvinfer1::IExecutionContext const* context) noexcept {
  return guard(reporter_, "IEngineInspector::setExecutionContext", [&]() -> Status {
    TRY(require(!context || &static_cast<const Context*>(context)->runtime_context().engine() == engine_.get(),
                "the context is of another engine"));
    context_ = context;
    return {};
  });
}

const std::vector<plan::NestedStep>& Inspector::layers_of(int profile) const {
  const plan::Plan& plan = engine_->plan();
  if (layers_profile_ != profile) layers_ = plan::nested_steps(plan, plan.profiles[static_cast<size_t>(profile)]);
  layers_profile_ = profile;
  return layers_;
}

namespace {

using Layers = std::span<const plan::NestedStep>;

/// What is inspected: an engine, and a context of it if there is one.
struct Inspected {
  const runtime::Engine& engine;
  const runtime::Context* context;
  int profile;

  View at(const plan::NestedStep& layer) const { return {engine, context, profile, layer}; }
};

std::string layer_text(const View& view, LayerInformationFormat format) {
  const bool json = format == LayerInformationFormat::kJSON;
  switch (profiling_verbosity(view.engine.plan())) {
    case ProfilingVerbosity::kNONE: return {};
    case ProfilingVerbosity::kLAYER_NAMES_ONLY: return json ? plan::to_json(Datum(view.step().name)) : view.step().name;
    case ProfilingVerbosity::kDETAILED: return json ? plan::to_json(describe(view), 2) : one_line(view);
  }
  return {};
}

std::string engine_lines(const Inspected& inspected, Layers layers) {
  std::string text = "Layers:\n";
  const plan::Plan& plan = inspected.engine.plan();
  if (profiling_verbosity(plan) != ProfilingVerbosity::kNONE)
    for (const plan::NestedStep& layer : layers)
      text += layer_text(inspected.at(layer), LayerInformationFormat::kONELINE) + "\n";
  text += "\nBindings:\n";
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const plan::IoTensor& tensor : *tensors) text += tensor.name + "\n";
  return text;
}

std::string engine_json(const Inspected& inspected, Layers all_layers) {
  const plan::Plan& plan = inspected.engine.plan();
  const ProfilingVerbosity verbosity = profiling_verbosity(plan);
  Datum::List layers, bindings;
  if (verbosity != ProfilingVerbosity::kNONE)
    for (const plan::NestedStep& layer : all_layers)
      layers.push_back(verbosity == ProfilingVerbosity::kDETAILED ? Datum(describe(inspected.at(layer)))
                                                                  : Datum(layer.get().name));
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const plan::IoTensor& tensor : *tensors) bindings.push_back(tensor.name);
  return plan::to_json(Record().set("Layers", std::move(layers)).set("Bindings", std::move(bindings)), 2);
}

Inspected inspected_of(const runtime::Engine& engine, const nvinfer1::IExecutionContext* context) {
  if (!context) return {engine, nullptr, 0};
  return {engine, &static_cast<const Context*>(context)->runtime_context(), context->getOptimizationProfile()};
}

}  // namespace

char const* Inspector::getLayerInformation(int32_t index, Format format) const noexcept {
  return guard(reporter_, "IEngineInspector::getLayerInformation", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(check(format));
                 const Inspected inspected = inspected_of(*engine_, context_);
                 const Layers layers = layers_of(inspected.profile);
                 TRY(require(index >= 0 && static_cast<size_t>(index) < layers.size(), "layerIndex ", index,
                             " is outside [0, ", layers.size(), ")"));
                 text_ = layer_text(inspected.at(layers[static_cast<size_t>(index)]), format);
                 return text_.c_str();
               });
}

char const* Inspector::getEngineInformation(Format format) const noexcept {
  return guard(reporter_, "IEngineInspector::getEngineInformation", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(check(format));
                 const Inspected inspected = inspected_of(*engine_, context_);
                 const Layers layers = layers_of(inspected.profile);
                 text_ = format == Format::kONELINE ? engine_lines(inspected, layers) : engine_json(inspected, layers);
                 return text_.c_str();
               });
}

}  // namespace kiln::api
