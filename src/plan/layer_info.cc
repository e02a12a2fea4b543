#include "plan/layer_info.h"

#include <cstdio>
#include <optional>

#include "base/field.h"
#include "plan/kernel_name.h"
#include "plan/layer_parameters.h"
#include "steps/plugin.h"
#include "tensor/named_format.h"

namespace kiln::plan {
namespace {

std::string_view location(const Tensor& tensor) { return tensor.place == Place::kWeight ? "Weights" : "Device"; }

std::string format_text(const Tensor& tensor) {
  return format_words(tensor.format, tensor.dtype, static_cast<int>(tensor.extents.size()));
}

std::string kernel_name(const Step& step) { return plan::kernel_name(step.info.tactic, step.info.variant); }

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

enum class Which : uint8_t { kConstants, kOthers };
std::vector<LayerTensor> describe(const std::vector<int>& tensors, Which which, const LayerView& view) {
  std::vector<LayerTensor> list;
  for (const int id : tensors) {
    const Tensor& t = view.tensor(id);
    if (t.place == Place::kAbsent || (t.place == Place::kWeight) != (which == Which::kConstants)) continue;
    list.push_back({view.name(id), std::string(location(t)), view.values(t.extents), format_text(t), {}});
    if (t.place == Place::kView) list.back().view_of = view.name(t.index);
  }
  return list;
}

/// The layer's parameters, under TensorRT's keys.
Record parameters(const LayerView& view) {
  const Step& step = view.step();
  std::vector<InspectedTensor> inputs, outputs;
  const auto add = [&](const std::vector<int>& ids, std::vector<InspectedTensor>& tensors) {
    for (const int id : ids) {
      const Tensor& t = view.tensor(id);
      tensors.push_back({t.dtype, view.values(t.extents), t.format, t.place == Place::kWeight});
    }
  };
  add(step.inputs, inputs);
  add(step.outputs, outputs);
  return layer_parameters({step.step, inputs, outputs, view.values(step.params), step.info.ops});
}

/// A number for what runs the layer, the same wherever that is what runs.
std::string tactic_value(const Step& step) {
  char digits[19];
  std::snprintf(digits, sizeof digits, "0x%016llx",
                static_cast<unsigned long long>(hash128(str(step.info.tactic, '|', step.info.variant)).low));
  return digits;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += str(result.empty() ? "" : ", ", text);
  return result;
}

/// A step: TensorRT's keys first, then Kiln's own. Its parameters stand behind its outputs.
struct Layer {
  std::string name, type;
  std::vector<LayerTensor> inputs, outputs;
  std::string tactic, tactic_value;
  int stream = 0;
  std::string metadata, executor;
  int64_t workspace_bytes = 0;
  double time_us = 0;
  std::vector<LayerTensor> constants;
  std::vector<std::string> candidates;
  std::optional<std::vector<AlternativeInfo>> alternatives;
  std::optional<std::string> body;             ///< that the layer is in
  std::optional<std::string> plugin_metadata;  ///< of a plugin that tells some

  static void reflect(auto& self, auto f) {
    f("Name", self.name), f("LayerType", self.type), f("Inputs", self.inputs), f("Outputs", self.outputs);
    f("TacticName", self.tactic), f("TacticValue", self.tactic_value), f("StreamId", self.stream),
        f("Metadata", self.metadata);
    f("Executor", self.executor), f("WorkspaceBytes", self.workspace_bytes), f("TimeUs", self.time_us);
    f("Constants", self.constants);
    f("Candidates", self.candidates), f("Alternatives", self.alternatives), f("Body", self.body);
    f("PluginMetadata", self.plugin_metadata);
  }
};

}  // namespace

std::string_view layer_type(const Step& step) { return step.info.ops.empty() ? step.step.name() : step.info.ops; }

std::string tensor_name(const Plan& plan, const Block& block, const Body* body, int id) {
  const Tensor& t = block.tensors[static_cast<size_t>(id)];
  const auto index = static_cast<size_t>(t.index);
  if (t.place == Place::kInput) return (body ? body->inputs : plan.inputs)[index].name;
  if (t.place == Place::kOutput && !body) return plan.outputs[index].name;
  return t.name.empty() ? str("(Unnamed Tensor* ", id, ")") : t.name;
}

std::string LayerView::name(int id) const { return tensor_name(plan, *layer.block, layer.body, id); }

Record layer_info(const LayerView& view) {
  const Step& step = view.step();
  Layer layer{.name = step.name,
              .type = std::string(layer_type(step)),
              .inputs = describe(step.inputs, Which::kOthers, view),
              .outputs = describe(step.outputs, Which::kOthers, view),
              .tactic = kernel_name(step),
              .tactic_value = tactic_value(step),
              .stream = step.stream,
              .metadata = joined(step.provenance),
              .executor = str(step.executor, "/", step.step.name()),
              .workspace_bytes = step.workspace_bytes,
              .time_us = step.info.time_us,
              .constants = describe(step.inputs, Which::kConstants, view),
              .candidates = step.info.candidates,
              .alternatives = {},
              .body = {},
              .plugin_metadata = {}};
  if (view.layer.body) layer.body = view.layer.body->name;
  if (const std::string* text = steps::plugin_metadata_of(step.step); text && !text->empty())
    layer.plugin_metadata = *text;
  for (const Alternative& other : step.alternatives) {
    if (!layer.alternatives) layer.alternatives.emplace();
    layer.alternatives->push_back(other.info);
  }
  const Record fields = to_record(layer), own = parameters(view);
  Record all;
  for (const auto& [key, value] : fields.entries()) {
    all.set(key, value);
    if (key == "Outputs")
      for (const auto& [name, parameter] : own.entries()) all.set(name, parameter);
  }
  return all;
}

std::string layer_line(const LayerView& view) {
  const Step& step = view.step();
  const auto list = [&](const std::vector<int>& tensors) {
    std::string text;
    for (const int id : tensors) {
      const Tensor& t = view.tensor(id);
      if (t.place == Place::kAbsent || t.place == Place::kWeight) continue;
      std::string extents;
      for (const int64_t extent : view.values(t.extents)) extents += str(extents.empty() ? "" : ",", extent);
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

}  // namespace kiln::plan
