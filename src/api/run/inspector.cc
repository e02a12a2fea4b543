#include "api/run/inspector.h"

#include "api/run/context.h"
#include "plan/json.h"
#include "plan/layer_info.h"

namespace kiln::api {

using nvinfer1::LayerInformationFormat;
using nvinfer1::ProfilingVerbosity;

namespace {

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

  /// Numbers that shapes decide, where the context or the profile knows them.
  Extents values(std::span<const sym::Program> programs) const {
    return context ? context->known_extents(programs) : engine.fixed_symbols(profile).extents(programs);
  }
  Record info(const plan::NestedStep& layer) const {
    const auto known = [&](std::span<const sym::Program> programs) { return values(programs); };
    return plan::layer_info({engine.plan(), layer, known});
  }
  std::string line(const plan::NestedStep& layer) const {
    const auto known = [&](std::span<const sym::Program> programs) { return values(programs); };
    return plan::layer_line({engine.plan(), layer, known});
  }
};

std::string layer_text(const Inspected& inspected, const plan::NestedStep& layer, LayerInformationFormat format) {
  const bool json = format == LayerInformationFormat::kJSON;
  const std::string& name = layer.get().name;
  switch (profiling_verbosity(inspected.engine.plan())) {
    case ProfilingVerbosity::kNONE: return {};
    case ProfilingVerbosity::kLAYER_NAMES_ONLY: return json ? plan::to_json(Datum(name)) : name;
    case ProfilingVerbosity::kDETAILED: return json ? plan::to_json(inspected.info(layer), 2) : inspected.line(layer);
  }
  return {};
}

std::string engine_lines(const Inspected& inspected, Layers layers) {
  std::string text = "Layers:\n";
  const plan::Plan& plan = inspected.engine.plan();
  if (profiling_verbosity(plan) != ProfilingVerbosity::kNONE)
    for (const plan::NestedStep& layer : layers)
      text += layer_text(inspected, layer, LayerInformationFormat::kONELINE) + "\n";
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
      layers.push_back(verbosity == ProfilingVerbosity::kDETAILED ? Datum(inspected.info(layer))
                                                                  : Datum(layer.get().name));
  for (const auto* tensors : {&plan.inputs, &plan.outputs})
    for (const plan::IoTensor& tensor : *tensors) bindings.push_back(tensor.name);
  return plan::to_json(Record().set("Layers", std::move(layers)).set("Bindings", std::move(bindings)), 2);
}

Inspected inspected_of(const runtime::Engine& engine, const nvinfer1::IExecutionContext* context) {
  if (!context) return {engine, nullptr, 0};
  return {engine, &static_cast<const Context*>(context)->inferred_context(), context->getOptimizationProfile()};
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
                 text_ = layer_text(inspected, layers[static_cast<size_t>(index)], format);
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
