#include "library/standard_plugin.h"

#include <algorithm>
#include <array>

#include "library/data_types.h"

namespace kiln::plugins {
namespace {

/// Types that floats are cast to; the first that the plugin takes is the one.
constexpr std::array kFloats{nv::DataType::kFLOAT, nv::DataType::kHALF};

bool is_byte(const StandardPlugin& computation, nv::DataType type) {
  return computation.knows_bytes() && type == nv::DataType::kINT8;
}

bool is_castable(nv::DataType type) { return is_float(type) || type == nv::DataType::kBF16; }

/// The types of inputs of the types `own` when the first is of type `first`: the others keep theirs where the plugin
/// takes them, and are other floats where it does not. Empty: the plugin takes no such inputs.
Types types_behind(const StandardPlugin& computation, nv::DataType first, std::span<const nv::DataType> own) {
  Types types;
  for (const nv::DataType type : own) {
    std::vector<nv::DataType> choices{types.empty() ? first : type};
    if (!types.empty() && is_castable(type)) choices.insert(choices.end(), kFloats.begin(), kFloats.end());
    const auto taken = std::ranges::find_if(choices, [&](nv::DataType one) { return computation.takes(one, types); });
    if (taken == choices.end()) return {};
    types.push_back(*taken);
  }
  return types;
}

/// The types that the layers compute with where inputs are of the types `own`: their own if the plugin takes them, or
/// floats that they can be cast to. Where there are none, their own: whoever adds layers says what does not fit.
Types types_to_compute_with(const StandardPlugin& computation, const Types& own) {
  if (own.empty()) return own;
  std::vector<nv::DataType> firsts{own[0]};
  if (is_castable(own[0])) firsts.insert(firsts.end(), kFloats.begin(), kFloats.end());
  for (const nv::DataType first : firsts)
    if (Types types = types_behind(computation, first, own); !types.empty()) return types;
  return own;
}

/// The result with the extents that the plugin tells, where layers know them as others: a branch and a loop have the
/// types that were told. Both are the same in each run, so that nothing moves.
Value as_told(const Value& result, const Shape& told) {
  const bool are_numbers = std::ranges::all_of(told, [](const Dim& dim) { return dim.number().has_value(); });
  const Extents extents = result.extents();
  if (are_numbers && std::ranges::all_of(extents, [](const Extent& extent) { return extent.number().has_value(); }))
    return result;
  Extents wanted;
  for (const Dim& dim : told) wanted.push_back(*dim.extent());
  return reshape(result, wanted);
}

/// Makes it a condition of each run, if it is none of these inputs' shapes, that outputs have the shapes that the
/// plugin tells.
Status require_told(std::span<const Value> results, std::span<const Shape> told) {
  for (size_t i = 0; i < results.size(); ++i) {
    const auto rank = static_cast<size_t>(results[i].rank());
    TRY(require(rank == told[i].size(), "output ", i, " of its layers has rank ", rank, "; ", told[i].size(),
                " is told"));
    for (size_t axis = 0; axis < rank; ++axis)
      TRY(require_equal(Dim(results[i].extent(static_cast<int>(axis))), told[i][axis],
                        str("axis ", axis, " of output ", i, " has to be as long as the plugin tells")));
  }
  return {};
}

/// Shapes of tensors, for errors.
std::string text_of(std::span<nv::ITensor* const> tensors) {
  std::string text;
  for (const nv::ITensor* const tensor : tensors)
    text += str(text.empty() ? "" : ", ", plugins::text_of(tensor->getDimensions()));
  return text;
}

}  // namespace

bool StandardPlugin::takes(nv::DataType type, std::span<const nv::DataType> before) const {
  return before.empty() ? takes_numbers(type) : type == before.front();
}

Types StandardPlugin::output_types(std::span<const nv::DataType> inputs) const {
  return Types(static_cast<size_t>(num_outputs()), inputs.empty() ? nv::DataType::kFLOAT : inputs.front());
}

Result<Plugin> make_plugin(const Definition& definition, Fields fields) {
  auto computation = TRY(definition.make(fields));
  return Plugin{&definition, std::move(fields), std::move(computation)};
}

Result<bool> supports(const Plugin& plugin, std::span<const nv::DataType> before, int num_inputs, nv::DataType type) {
  TRY(require_inputs(plugin, num_inputs));
  const size_t inputs = static_cast<size_t>(num_inputs), position = before.size();
  if (position < inputs) return plugin.computation->takes(type, before);
  const Types outputs = plugin.computation->output_types(before.first(inputs));
  TRY(require(position - inputs < outputs.size(), "there is no output ", position - inputs));
  return type == outputs[position - inputs];
}

Status require_inputs(const Plugin& plugin, int count) {
  const auto [least, most] = std::pair(plugin.definition->min_inputs, plugin.definition->max_inputs);
  return require(count >= least && (most < 0 || count <= most), "there are ", count, " inputs; it takes ", least,
                 most == least ? std::string()
                 : most < 0    ? " or more"
                               : str(" to ", most));
}

Result<Types> output_types(const Plugin& plugin, const nv::DataType* inputs, int count) {
  TRY(require_inputs(plugin, count));
  return plugin.computation->output_types({inputs, static_cast<size_t>(count)});
}

Result<std::vector<Shape>> output_shapes(const Plugin& plugin, std::span<const Shape> inputs) {
  TRY(require_inputs(plugin, static_cast<int>(inputs.size())));
  return plugin.computation->output_shapes(inputs);
}

Result<std::vector<nv::ITensor*>> add_layers(const Plugin& plugin, Layers& layers, std::span<nv::ITensor* const> inputs,
                                             std::span<const float> scales) {
  TRY(require_inputs(plugin, static_cast<int>(inputs.size())));
  const StandardPlugin& computation = *plugin.computation;
  TRY(require(scales.size() == inputs.size() + static_cast<size_t>(computation.num_outputs()), "there are ",
              scales.size(), " scales for ", inputs.size(), " inputs and ", computation.num_outputs(), " outputs"));
  const auto scale_of = [&](size_t index) { return double{computation.scale_of(index, scales[index])}; };
  Types own;
  for (nv::ITensor* const input : inputs) {
    TRY(require(input != nullptr, "input ", own.size(), " is null"));
    own.push_back(input->getType());
  }
  const bool may_cast = !layers.network().getFlag(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  const Types types = may_cast ? types_to_compute_with(computation, own) : own;
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(require(computation.takes(types[i], std::span(types).first(i)), "input ", i, " '", inputs[i]->getName(),
                "' is of data type ", name_of(types[i]), "; ",
                names_of_types([&](nv::DataType type) { return computation.takes(type, std::span(types).first(i)); }),
                " is needed"));
    const Value value(layers, inputs[i]);
    values.push_back(is_byte(computation, types[i]) ? dequantized(value, scale_of(i)) : value.cast(types[i]));
  }
  layers.set_subject(str(plugin.definition->name, " version ", plugin.definition->version));
  std::vector<Shape> shapes;
  for (const Value& value : values) shapes.push_back(shape_of(value));
  const std::vector<Shape> shapes_told = TRY(computation.output_shapes(shapes));
  TRY(computation.check_constants(values));
  const Types wanted = computation.output_types(types), told = computation.output_types(own);
  const bool between_bytes = std::ranges::any_of(wanted, [&](nv::DataType type) { return is_byte(computation, type); });
  std::vector<Value> results =
      between_bytes ? computation.add_layers_between_bytes(layers, values) : computation.add_layers(layers, values);
  TRY(require(!layers.failed() && results.size() == wanted.size(), "its layers do not fit its inputs ",
              text_of(inputs)));
  TRY(require_told(results, shapes_told));
  for (size_t i = 0; i < results.size(); ++i) results[i] = as_told(results[i], shapes_told[i]);
  std::vector<nv::ITensor*> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const Value result = is_byte(computation, wanted[i]) ? quantized(results[i].f32(), scale_of(inputs.size() + i))
                                                         : results[i].cast(told[i]);
    nv::ITensor* output = result.tensor();
    const bool is_taken =
        std::ranges::find(inputs, output) != inputs.end() || std::ranges::find(outputs, output) != outputs.end();
    if (output && is_taken) output = layers.output(layers.network().addIdentity(*output)).tensor();
    TRY(require(output != nullptr, "output ", i, " was refused"));
    outputs.push_back(output);
  }
  return outputs;
}

}  // namespace kiln::plugins
