/// The search for types and formats that a plugin takes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/plugin_object.h"
#include "tensor/tensor_type.h"

namespace kiln {

/// A tensor as a build tells a plugin of it, row-major.
PluginTensor plugin_tensor(const TensorType& type);

/// What a tensor of a plugin may be.
struct PluginChoices {
  PluginTensor tensor;
  std::vector<DType> dtypes;   ///< likeliest first
  bool is_constant = false;    ///< its memory is row-major or channels last, never blocked
  std::optional<float> scale;  ///< that it has as i8, which is then one of its types
  int same_as = -1;            ///< an earlier tensor, of which it has type and format; -1: none
};

/// A tensor of this type, as it is.
PluginChoices plugin_choices(const TensorType& type, bool is_constant);
/// Outputs, which stand behind the inputs, are as the inputs to which they are aliased (ops::Plugin::aliased_inputs).
void follow_aliases(std::span<PluginChoices> outputs, std::span<const int> aliased_inputs);

/// Tells tensors the scales that their plugin has been given (ops::Plugin::scales).
void set_scales(std::span<PluginChoices> tensors, std::span<const double> scales);

/// "f32, i32 -> f32".
std::string types_text(std::span<const PluginTensor> tensors, size_t num_inputs);

struct PluginCombinations {
  std::vector<std::vector<PluginTensor>> found;  ///< in order; each has all tensors, inputs first
  bool has_given_up = false;                     ///< whether there may be more than were found
};

inline constexpr int kMostPluginCalls =
    20'000;  ///< some milliseconds; eight inputs of rank 4 have millions of beginnings

/// At most `most` combinations, tensor by tensor, as far as the plugin takes their beginnings. Formats are those that
/// the API has names for.
PluginCombinations find_combinations(const PluginObject& plugin, std::span<const PluginChoices> choices, int num_inputs,
                                     int most, int most_calls = kMostPluginCalls);

/// The first combination, where the plugin takes one: it is asked less often than by a search for all, which comes
/// behind.
PluginCombinations first_combination(const PluginObject& plugin, std::span<const PluginChoices> choices,
                                     int num_inputs);

}  // namespace kiln
