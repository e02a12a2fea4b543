/// What a standard plugin is: its name, its attributes, and layers that compute what it does.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "library/fields.h"
#include "library/shape.h"
#include "library/value.h"

namespace kiln::plugins {

using Types = std::vector<nv::DataType>;
constexpr bool is_float(nv::DataType type) { return type == nv::DataType::kFLOAT || type == nv::DataType::kHALF; }
constexpr bool is_index(nv::DataType type) { return type == nv::DataType::kINT32 || type == nv::DataType::kINT64; }

/// A plugin with its attributes read. Shared by all its clones, so that it does not change.
class StandardPlugin {
 public:
  virtual ~StandardPlugin() = default;

  virtual int num_outputs() const { return 1; }
  /// Whether its floats may be i8 instead, each tensor with a scale. Layers then compute in f32, with Dequantize in
  /// front and Quantize behind.
  virtual bool knows_bytes() const { return false; }
  /// What a step of an i8 is worth in tensor `index`, inputs first, where the network says `told`.
  virtual float scale_of([[maybe_unused]] size_t index, float told) const { return told; }
  /// Whether input `before.size()` may be of that type behind inputs of types `before`. If not said otherwise, the
  /// first is of floats, and the others are of its type.
  virtual bool takes(nv::DataType type, std::span<const nv::DataType> before) const;
  /// If not said otherwise, all are of the first input's type. There are as many inputs as the definition says.
  virtual Types output_types(std::span<const nv::DataType> inputs) const;
  /// Fails where inputs do not fit. There are as many as the definition says.
  virtual Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const = 0;
  /// Fails where inputs that are constants have elements that do not fit.
  virtual Status check_constants(std::span<const Value>) const { return {}; }
  /// The outputs, whose types may still be others than `output_types` says.
  virtual std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const = 0;
  /// The same where the program has bytes: values in between may be rounded to bytes, too.
  virtual std::vector<Value> add_layers_between_bytes(Layers& layers, std::span<const Value> inputs) const {
    return add_layers(layers, inputs);
  }

 protected:
  /// Whether a tensor of numbers may be of that type.
  bool takes_numbers(nv::DataType type) const {
    return is_float(type) || (knows_bytes() && type == nv::DataType::kINT8);
  }
};

/// By which interface programs meet a plugin.
enum class Generation : bool {
  kV2,  ///< IPluginV2DynamicExt
  kV3   ///< IPluginV3
};

struct Definition {
  const char *name, *version;
  Generation generation;
  std::vector<nv::PluginField> fields;  ///< names and types
  int min_inputs, max_inputs;           ///< -1: any number
  Result<std::shared_ptr<const StandardPlugin>> (*make)(const Fields& fields);
};

/// An attribute's name and type, for a definition.
inline nv::PluginField field(const char* name, nv::PluginFieldType type) { return {name, nullptr, type, 1}; }
/// A field that may be given without data, which counts as not given.
inline nv::PluginField field_or_null(const char* name, nv::PluginFieldType type) { return {name, nullptr, type, 0}; }
constexpr auto kInt = nv::PluginFieldType::kINT32, kFloat = nv::PluginFieldType::kFLOAT32;

/// All definitions of the library.
std::span<const Definition> definitions();

/// A plugin of a definition.
struct Plugin {
  const Definition* definition;
  Fields fields;
  std::shared_ptr<const StandardPlugin> computation;
};
/// Fails where attributes are missing or wrong.
Result<Plugin> make_plugin(const Definition& definition, Fields fields);
/// Whether input `before.size()` may be of that type, or an output behind the inputs. Fails for a number of inputs that
/// the plugin does not take.
Result<bool> supports(const Plugin& plugin, std::span<const nv::DataType> before, int num_inputs, nv::DataType type);
Status require_inputs(const Plugin& plugin, int count);
/// Types of the outputs for `count` inputs of those types.
Result<Types> output_types(const Plugin& plugin, const nv::DataType* inputs, int count);
Result<std::vector<Shape>> output_shapes(const Plugin& plugin, std::span<const Shape> inputs);
/// The outputs, of the plugin's types, none of them an input. `scales` says what a step of an i8 is worth, of inputs
/// and then of outputs. Floats of types that the plugin does not take are cast to one that it takes, and outputs back,
/// but not in a strongly typed network. Fails where inputs do not fit, or a layer was refused.
Result<std::vector<nv::ITensor*>> add_layers(const Plugin& plugin, Layers& layers, std::span<nv::ITensor* const> inputs,
                                             std::span<const float> scales);

}  // namespace kiln::plugins
