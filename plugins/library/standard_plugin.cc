#include "library/standard_plugin.h"

#include <algorithm>

namespace kiln::plugins {

bool StandardPlugin::takes(nv::DataType type, std::span<const nv::DataType> before) const {
  return before.empty() ? is_float(type) : type == before.front();
}

Types StandardPlugin::output_types(std::span<const nv::DataType> inputs) const {
  return Types(static_cast<size_t>(num_outputs()), inputs.empty() ? nv::DataType::kFLOAT : inputs.front());
}

Result<Plugin> make_plugin(const Definition& definition, Fields fields) {
  auto computation = TRY(in_context(definition.make(fields), [&] {
    return str("plugin '", definition.name, "' version '", definition.version, "'");
  }));
  return Plugin{&definition, std::move(fields), std::move(computation)};
}

bool supports(const Plugin& plugin, std::span<const nv::DataType> before, int num_inputs, nv::DataType type) {
  const auto position = static_cast<int>(before.size());
  if (position < num_inputs) return plugin.computation->takes(type, before);
  const Types outputs = plugin.computation->output_types(before.first(static_cast<size_t>(num_inputs)));
  return type == outputs[static_cast<size_t>(position - num_inputs)];
}

Status require_inputs(const Plugin& plugin, int count) {
  const auto [least, most] = std::pair(plugin.definition->min_inputs, plugin.definition->max_inputs);
  return require(count >= least && (most < 0 || count <= most), "there are ", count, " inputs; it takes ", least,
                 most == least ? std::string()
                 : most < 0    ? " or more"
                               : str(" to ", most));
}

Result<std::vector<Shape>> output_shapes(const Plugin& plugin, std::span<const Shape> inputs) {
  TRY(require_inputs(plugin, static_cast<int>(inputs.size())));
  return plugin.computation->output_shapes(inputs);
}

Result<std::vector<nv::ITensor*>> add_layers(const Plugin& plugin, Layers& layers,
                                             std::span<nv::ITensor* const> inputs) {
  TRY(require_inputs(plugin, static_cast<int>(inputs.size())));
  std::vector<Value> values;
  Types types;
  for (nv::ITensor* const input : inputs) {
    TRY(require(input != nullptr, "input ", types.size(), " is null"));
    TRY(require(plugin.computation->takes(input->getType(), types), "input ", types.size(), " '", input->getName(),
                "' is of data type ", static_cast<int32_t>(input->getType()),
                ", which the plugin does not take there"));
    types.push_back(input->getType());
    values.emplace_back(layers, input);
  }
  const Types wanted = plugin.computation->output_types(types);
  const std::vector<Value> results = plugin.computation->add_layers(layers, values);
  TRY(require(!layers.failed() && results.size() == wanted.size(),
              "its layers do not fit its inputs; the errors before this one say which"));
  std::vector<nv::ITensor*> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    nv::ITensor* output = results[i].cast(wanted[i]).tensor();
    const bool is_taken =
        std::ranges::find(inputs, output) != inputs.end() || std::ranges::find(outputs, output) != outputs.end();
    if (output && is_taken) output = layers.output(layers.network().addIdentity(*output)).tensor();
    TRY(require(output != nullptr, "output ", i, " was refused"));
    outputs.push_back(output);
  }
  return outputs;
}

}  // namespace kiln::plugins
