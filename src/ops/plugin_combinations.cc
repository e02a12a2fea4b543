#include "ops/plugin_combinations.h"

#include <algorithm>

namespace kiln {
namespace {

/// Formats that a tensor of this type may have in a step, likeliest first.
std::vector<Format> formats_of(const PluginChoices& choices, DType dtype) {
  std::vector<Format> formats{Format::linear()};
  const int rank = static_cast<int>(choices.tensor.extents.size());
  if (rank != 4 && rank != 5) return formats;
  const Format last = Format::channels_last(rank);
  formats.push_back(last);
  if (choices.is_constant) return formats;
  const bool is_half = dtype == DType::kF16 || dtype == DType::kBF16;
  if (is_half) formats.push_back(last.blocked(1, 8));
  if (rank == 5) {
    formats.push_back(Format::linear().blocked(1, 32));
    return formats;
  }
  for (const int block : {2, 4, 16, 32}) formats.push_back(Format::linear().blocked(1, block));
  if (is_half) formats.push_back(last.blocked(1, 16));
  return formats;
}

class Search {
 public:
  Search(const PluginObject& plugin, std::span<const PluginChoices> choices, int num_inputs, int most, int most_calls)
      : plugin_(plugin), choices_(choices), num_inputs_(num_inputs), most_(most), most_calls_(most_calls) {
    for (const PluginChoices& one : choices) tensors_.push_back(one.tensor);
  }

  PluginCombinations run() {
    extend(0);
    return {std::move(found_), num_calls_ == most_calls_};
  }

 private:
  void extend(size_t position) {
    if (position == tensors_.size()) return void(found_.push_back(tensors_));
    const PluginChoices& choices = choices_[position];
    for (const DType dtype : choices.dtypes)
      for (const Format& format : formats_of(choices, dtype)) {
        if (std::ssize(found_) >= most_ || num_calls_ == most_calls_) return reset(position);
        if (const PluginTensor* same = same_as(position); same && (same->dtype != dtype || same->format != format))
          continue;
        ++num_calls_;
        tensors_[position].dtype = dtype;
        tensors_[position].format = format;
        if (choices.scale) tensors_[position].scale = dtype == DType::kI8 ? *choices.scale : 1;
        if (plugin_.supports(tensors_, num_inputs_, static_cast<int>(position))) extend(position + 1);
      }
    reset(position);
  }
  const PluginTensor* same_as(size_t position) const {
    const int same = choices_[position].same_as;
    return same < 0 ? nullptr : &tensors_[static_cast<size_t>(same)];
  }
  /// What the plugin is told of tensors behind the one that it is asked about.
  void reset(size_t position) { tensors_[position] = choices_[position].tensor; }

  const PluginObject& plugin_;
  const std::span<const PluginChoices> choices_;
  const int num_inputs_, most_, most_calls_;
  std::vector<PluginTensor> tensors_;
  int num_calls_ = 0;
  std::vector<std::vector<PluginTensor>> found_;
};

}  // namespace

PluginTensor plugin_tensor(const TensorType& type) {
  PluginTensor tensor{.dtype = type.dtype, .opt = type.opt_extents(), .max = type.max_extents()};
  for (const sym::Expr extent : type.shape) {
    tensor.extents.push_back(extent.constant().value_or(-1));
    tensor.min.push_back(std::max<int64_t>(extent.min(), 0));
  }
  return tensor;
}

PluginChoices plugin_choices(const TensorType& type, bool is_constant) {
  return {.tensor = plugin_tensor(type), .dtypes = {type.dtype}, .is_constant = is_constant};
}

void follow_aliases(std::span<PluginChoices> outputs, std::span<const int> aliased_inputs) {
  for (size_t i = 0; i < aliased_inputs.size(); ++i) outputs[i].same_as = aliased_inputs[i];
}

void set_scales(std::span<PluginChoices> tensors, std::span<const double> scales) {
  for (size_t i = 0; i < scales.size(); ++i) tensors[i].tensor.scale = static_cast<float>(scales[i]);
}

std::string types_text(std::span<const PluginTensor> tensors, size_t num_inputs) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i)
    text += str(i == 0 ? "" : i == num_inputs ? " -> " : ", ", tensors[i].dtype);
  return text;
}

PluginCombinations find_combinations(const PluginObject& plugin, std::span<const PluginChoices> choices, int num_inputs,
                                     int most, int most_calls) {
  return Search(plugin, choices, num_inputs, most, most_calls).run();
}

PluginCombinations first_combination(const PluginObject& plugin, std::span<const PluginChoices> choices,
                                     int num_inputs) {
  constexpr int kMostCalls = kMostPluginCalls / 10;
  return find_combinations(plugin, choices, num_inputs, std::min(plugin.most_combinations(), 1), kMostCalls);
}

}  // namespace kiln
