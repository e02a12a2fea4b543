#include "api/run/inspector.h"

#include "api/run/context.h"
#include "api/run/tensor_format.h"
#include "base/record.h"
#include "plan/json.h"

namespace kiln::api {

using nvinfer1::LayerInformationFormat;
using nvinfer1::ProfilingVerbosity;

namespace {

/// A step's tensor under the API's keys. With a context the extents are those of now, where they are known.
Record describe(const plan::Tensor& tensor, const plan::Profile& profile) {
  std::vector<int64_t> extents;
  for (const sym::Program& extent : tensor.extents) extents.push_back(extent.constant().value_or(-1));
  const bool weight = tensor.place == plan::Place::kWeight;
  const bool view = tensor.place == plan::Place::kView;
  Record record;
  record.set("Name", tensor.name).set("Location", weight ? "Weights" : "Device").set("Dimensions", std::move(extents));
  record.set("Format/Datatype", describe_format(tensor.format, tensor.dtype, static_cast<int>(tensor.extents.size())));
  if (view) record.set("ViewOf", profile.tensors[static_cast<size_t>(tensor.index)].name);
  return record;
}

Datum::List describe(const std::vector<int>& tensors, const plan::Profile& profile) {
  Datum::List list;
  for (const int id : tensors) {
    const plan::Tensor& tensor = profile.tensors[static_cast<size_t>(id)];
    if (tensor.place != plan::Place::kAbsent) list.push_back(describe(tensor, profile));
  }
  return list;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += str(result.empty() ? "" : ", ", text);
  return result;
}

/// TensorRT's keys first, then Kiln's own.
Record describe(const plan::Step& step, const plan::Profile& profile) {
  Record record;
  record.set("Name", step.name).set("LayerType", step.info.get_text("ops").value_or(step.kernel));
  record.set("Inputs", describe(step.inputs, profile)).set("Outputs", describe(step.outputs, profile));
  const std::string tactic = step.info.get_text("tactic").value_or(""),
                    variant = step.info.get_text("variant").value_or("");
  record.set("TacticName", variant.empty() ? tactic : str(tactic, ": ", variant));
  record.set("StreamId", step.stream).set("Metadata", joined(step.provenance));
  record.set("Executor", str(step.executor, "/", step.kernel)).set("WorkspaceBytes", step.workspace_bytes);
  record.set("TimeUs", step.info.get_double("time_us").value_or(0.0));
  if (const Datum* candidates = step.info.find("candidates")) record.set("Candidates", *candidates);
  Datum::List alternatives;
  for (const plan::Alternative& other : step.alternatives) alternatives.push_back(other.info);
  if (!alternatives.empty()) record.set("Alternatives", std::move(alternatives));
  return record;
}

std::string one_line(const plan::Step& step, const plan::Profile& profile) {
  const auto list = [&](const std::vector<int>& tensors) {
    std::string text;
    for (const int id : tensors) {
      const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
      if (t.place != plan::Place::kAbsent) text += str(text.empty() ? "" : ", ", t.name, " ", t.dtype, " ", t.format);
    }
    return text;
  };
  return str(step.name, ": LayerType: ", step.info.get_text("ops").value_or(step.kernel), ", Inputs: [",
             list(step.inputs), "], Outputs: [", list(step.outputs),
             "], TacticName: ", step.info.get_text("tactic").value_or(""), " ",
             step.info.get_text("variant").value_or(""));
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

int Inspector::profile() const { return context_ ? context_->getOptimizationProfile() : 0; }

char const* Inspector::getLayerInformation(int32_t index, Format format) const noexcept {
  return guard(reporter_, "IEngineInspector::getLayerInformation", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(check(format));
                 const plan::Profile& profile = plan().profiles[static_cast<size_t>(this->profile())];
                 TRY(require(index >= 0 && static_cast<size_t>(index) < profile.steps.size(), "layerIndex ", index,
                             " is outside [0, ", profile.steps.size(), ")"));
                 const plan::Step& step = profile.steps[static_cast<size_t>(index)];
                 const bool json = format == Format::kJSON;
                 switch (profiling_verbosity(plan())) {
                   case ProfilingVerbosity::kNONE: text_.clear(); break;
                   case ProfilingVerbosity::kLAYER_NAMES_ONLY:
                     text_ = json ? plan::to_json(Datum(step.name)) : step.name;
                     break;
                   case ProfilingVerbosity::kDETAILED:
                     text_ = json ? plan::to_json(describe(step, profile), 2) : one_line(step, profile);
                 }
                 return text_.c_str();
               });
}

char const* Inspector::getEngineInformation(Format format) const noexcept {
  return guard(reporter_, "IEngineInspector::getEngineInformation", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(check(format));
                 const plan::Profile& profile = plan().profiles[static_cast<size_t>(this->profile())];
                 const ProfilingVerbosity verbosity = profiling_verbosity(plan());
                 Datum::List layers, bindings;
                 std::string lines;
                 if (verbosity != ProfilingVerbosity::kNONE)
                   for (const plan::Step& step : profile.steps) {
                     const bool detailed = verbosity == ProfilingVerbosity::kDETAILED;
                     layers.push_back(detailed ? Datum(describe(step, profile)) : Datum(step.name));
                     lines += (detailed ? one_line(step, profile) : step.name) + "\n";
                   }
                 for (const auto* tensors : {&plan().inputs, &plan().outputs})
                   for (const plan::IoTensor& tensor : *tensors) bindings.push_back(tensor.name);
                 if (format == Format::kONELINE) {
                   lines += "Bindings:";
                   for (const auto* tensors : {&plan().inputs, &plan().outputs})
                     for (const plan::IoTensor& tensor : *tensors) lines += " " + tensor.name;
                   text_ = lines + "\n";
                 } else {
                   Record record;
                   record.set("Layers", std::move(layers)).set("Bindings", std::move(bindings));
                   text_ = plan::to_json(record, 2);
                 }
                 return text_.c_str();
               });
}

}  // namespace kiln::api
