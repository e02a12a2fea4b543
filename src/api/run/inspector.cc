#include "api/run/inspector.h"

#include "api/run/context.h"
#include "api/run/tensor_format.h"
#include "base/record.h"
#include "plan/json.h"
#include "plan/kernel_name.h"

namespace kiln::api {

using nvinfer1::LayerInformationFormat;
using nvinfer1::ProfilingVerbosity;

namespace {

/// Where steps and extents are looked up: a profile, and a context's shapes if there is one.
struct View {
  const runtime::Engine& engine;
  const runtime::Context* context;
  int index;

  const plan::Profile& profile() const { return engine.plan().profiles[static_cast<size_t>(index)]; }
  const plan::Tensor& tensor(int id) const { return profile().tensors[static_cast<size_t>(id)]; }
  /// Programs find bindings by their names, and the ends of an edge by having one name.
  std::string name(int id) const {
    const plan::Tensor& t = tensor(id);
    if (t.place == plan::Place::kInput) return engine.plan().inputs[static_cast<size_t>(t.index)].name;
    if (t.place == plan::Place::kOutput) return engine.plan().outputs[static_cast<size_t>(t.index)].name;
    return t.name.empty() ? str("(Unnamed Tensor* ", id, ")") : t.name;
  }
  Extents extents(const plan::Tensor& tensor) const {
    return context ? context->known_extents(tensor.extents) : engine.fixed_symbols(index).extents(tensor.extents);
  }
};

std::string_view location(const plan::Tensor& tensor) {
  return tensor.place == plan::Place::kWeight ? "Weights" : "Device";
}

std::string format_text(const plan::Tensor& tensor) {
  return describe_format(tensor.format, tensor.dtype, static_cast<int>(tensor.extents.size()));
}

std::string kernel_name(const plan::Step& step) {
  return plan::kernel_name(step.info.get_text("tactic").value_or(""), step.info.get_text("variant").value_or(""));
}

/// A step's tensor under the API's keys.
Record describe(int id, const View& view) {
  const plan::Tensor& tensor = view.tensor(id);
  Record record;
  record.set("Name", view.name(id)).set("Location", location(tensor)).set("Dimensions", view.extents(tensor));
  record.set("Format/Datatype", format_text(tensor));
  if (tensor.place == plan::Place::kView) record.set("ViewOf", view.name(tensor.index));
  return record;
}

Datum::List describe(const std::vector<int>& tensors, const View& view) {
  Datum::List list;
  for (const int id : tensors)
    if (view.tensor(id).place != plan::Place::kAbsent) list.push_back(describe(id, view));
  return list;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += str(result.empty() ? "" : ", ", text);
  return result;
}

/// TensorRT's keys first, then Kiln's own.
Record describe(const plan::Step& step, const View& view) {
  Record record;
  record.set("Name", step.name).set("LayerType", step.info.get_text("ops").value_or(step.kernel));
  record.set("Inputs", describe(step.inputs, view)).set("Outputs", describe(step.outputs, view));
  record.set("TacticName", kernel_name(step));
  record.set("StreamId", step.stream).set("Metadata", joined(step.provenance));
  record.set("Executor", str(step.executor, "/", step.kernel)).set("WorkspaceBytes", step.workspace_bytes);
  record.set("TimeUs", step.info.get_double("time_us").value_or(0.0));
  if (const Datum* candidates = step.info.find("candidates")) record.set("Candidates", *candidates);
  Datum::List alternatives;
  for (const plan::Alternative& other : step.alternatives) alternatives.push_back(other.info);
  if (!alternatives.empty()) record.set("Alternatives", std::move(alternatives));
  return record;
}

/// TensorRT's line, in whose fields programs look for commas.
std::string one_line(const plan::Step& step, const View& view) {
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
  return str("Name: ", step.name, ", LayerType: ", step.info.get_text("ops").value_or(step.kernel), ", Inputs: [",
             list(step.inputs), "], Outputs: [", list(step.outputs), "], TacticName: ", kernel_name(step),
             ", StreamId: ", step.stream, ", Metadata: ", joined(step.provenance));
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

namespace {

std::string layer_text(const plan::Step& step, const View& view, LayerInformationFormat format) {
  const bool json = format == LayerInformationFormat::kJSON;
  switch (profiling_verbosity(view.engine.plan())) {
    case ProfilingVerbosity::kNONE: return {};
    case ProfilingVerbosity::kLAYER_NAMES_ONLY: return json ? plan::to_json(Datum(step.name)) : step.name;
    case ProfilingVerbosity::kDETAILED: return json ? plan::to_json(describe(step, view), 2) : one_line(step, view);
  }
  return {};
}

std::string engine_lines(const View& view) {
  std::string text = "Layers:\n";
  if (profiling_verbosity(view.engine.plan()) != ProfilingVerbosity::kNONE)
    for (const plan::Step& step : view.profile().steps)
      text += layer_text(step, view, LayerInformationFormat::kONELINE) + "\n";
  text += "\nBindings:\n";
  for (const auto* tensors : {&view.engine.plan().inputs, &view.engine.plan().outputs})
    for (const plan::IoTensor& tensor : *tensors) text += tensor.name + "\n";
  return text;
}

std::string engine_json(const View& view) {
  const ProfilingVerbosity verbosity = profiling_verbosity(view.engine.plan());
  Datum::List layers, bindings;
  if (verbosity != ProfilingVerbosity::kNONE)
    for (const plan::Step& step : view.profile().steps)
      layers.push_back(verbosity == ProfilingVerbosity::kDETAILED ? Datum(describe(step, view)) : Datum(step.name));
  for (const auto* tensors : {&view.engine.plan().inputs, &view.engine.plan().outputs})
    for (const plan::IoTensor& tensor : *tensors) bindings.push_back(tensor.name);
  Record record;
  record.set("Layers", std::move(layers)).set("Bindings", std::move(bindings));
  return plan::to_json(record, 2);
}

View view_of(const runtime::Engine& engine, const nvinfer1::IExecutionContext* context) {
  if (!context) return {engine, nullptr, 0};
  return {engine, &static_cast<const Context*>(context)->runtime_context(), context->getOptimizationProfile()};
}

}  // namespace

char const* Inspector::getLayerInformation(int32_t index, Format format) const noexcept {
  return guard(reporter_, "IEngineInspector::getLayerInformation", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(check(format));
                 const View view = view_of(*engine_, context_);
                 const std::vector<plan::Step>& steps = view.profile().steps;
                 TRY(require(index >= 0 && static_cast<size_t>(index) < steps.size(), "layerIndex ", index,
                             " is outside [0, ", steps.size(), ")"));
                 text_ = layer_text(steps[static_cast<size_t>(index)], view, format);
                 return text_.c_str();
               });
}

char const* Inspector::getEngineInformation(Format format) const noexcept {
  return guard(reporter_, "IEngineInspector::getEngineInformation", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(check(format));
                 const View view = view_of(*engine_, context_);
                 text_ = format == Format::kONELINE ? engine_lines(view) : engine_json(view);
                 return text_.c_str();
               });
}

}  // namespace kiln::api
