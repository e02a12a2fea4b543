#include "tactics/plugin.h"

#include <algorithm>

#include "steps/plugin.h"
#include "tactics/region.h"

namespace kiln {
namespace {

/// The type and the extents of a value as a plugin is told them, row-major.
PluginTensor tensor_of(const TacticContext& cx, ir::ValueId value) {
  const TensorType& type = cx.graph.type(value);
  PluginTensor tensor{.dtype = type.dtype, .opt = type.opt_extents(), .max = type.max_extents()};
  for (const sym::Expr extent : type.shape) {
    tensor.extents.push_back(extent.constant().value_or(-1));
    tensor.min.push_back(std::max<int64_t>(extent.min(), 0));
  }
  return tensor;
}

/// The node's tensors, inputs first.
std::vector<PluginTensor> tensors_of(const TacticContext& cx, const Region& region) {
  std::vector<PluginTensor> tensors;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (const ir::ValueId value : *values) tensors.push_back(tensor_of(cx, value));
  return tensors;
}

void set_formats(std::vector<PluginTensor>& tensors, const Variant& variant) {
  size_t i = 0;
  for (const auto* formats : {&variant.inputs, &variant.outputs})
    for (const Format& format : *formats) tensors[i++].format = format;
}

/// Formats that a tensor may have in a step, likeliest first: those of which the API has a name.
/// A constant has row-major memory or channels last, never blocks.
std::vector<Format> formats_of(const PluginTensor& tensor, bool is_constant) {
  std::vector<Format> formats{Format::linear()};
  const int rank = static_cast<int>(tensor.extents.size());
  if (rank != 4 && rank != 5) return formats;
  const Format last = Format::channels_last(rank);
  formats.push_back(last);
  if (is_constant) return formats;
  if (tensor.dtype == DType::kF16 || tensor.dtype == DType::kBF16) formats.push_back(last.blocked(1, 8));
  for (const int block : {2, 4, 16, 32})
    if (rank == 4) formats.push_back(Format::linear().blocked(1, block));
  return formats;
}

/// Goes through all combinations in order, tensor by tensor, as far as the plugin takes their beginnings.
class Combinations {
 public:
  Combinations(const PluginObject& plugin, std::vector<PluginTensor> tensors, std::vector<bool> is_constant,
               int num_inputs, int most)
      : plugin_(plugin),
        tensors_(std::move(tensors)),
        is_constant_(std::move(is_constant)),
        num_inputs_(num_inputs),
        most_(most) {}

  Datum::List find() {
    extend(0);
    return std::move(found_);
  }
  bool has_given_up() const { return num_calls_ == kMostCalls; }
  static constexpr int kMostCalls = 20'000;  // some milliseconds; eight inputs of rank 4 have millions of beginnings

 private:
  void extend(size_t position) {
    if (std::ssize(found_) >= most_) return;
    if (position == tensors_.size()) {
      Datum::List formats;
      for (const PluginTensor& tensor : tensors_) formats.emplace_back(tensor.format.text());
      return void(found_.emplace_back(std::move(formats)));
    }
    for (const Format& format : formats_of(tensors_[position], is_constant_[position])) {
      if (has_given_up()) break;
      ++num_calls_;
      tensors_[position].format = format;
      if (plugin_.supports(tensors_, num_inputs_, static_cast<int>(position))) extend(position + 1);
    }
    tensors_[position].format = Format::linear();
  }

  const PluginObject& plugin_;
  std::vector<PluginTensor> tensors_;
  const std::vector<bool> is_constant_;
  const int num_inputs_, most_;
  int num_calls_ = 0;
  Datum::List found_;
};

std::string types_of(const std::vector<PluginTensor>& tensors, size_t num_inputs) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i)
    text += str(i == 0 ? "" : i == num_inputs ? " -> " : ", ", tensors[i].dtype);
  return text;
}

const ops::Plugin& plugin_of(const TacticContext& cx, const Region& region) {
  return *cx.graph.node(region.nodes[0]).op.as<ops::Plugin>();
}

Result<PluginObject::Configured> configure(const TacticContext& cx, const Region& region, const Variant& variant) {
  std::vector<PluginTensor> tensors = tensors_of(cx, region);
  set_formats(tensors, variant);
  const std::span all(tensors);
  return plugin_of(cx, region).object->configure(all.first(region.inputs.size()), all.subspan(region.inputs.size()));
}

/// Whether the sizes that the node decides are in an expression.
bool is_decided(sym::Expr extent, const std::vector<DecidedSize>& sizes) {
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(extent, symbols);
  return std::ranges::any_of(symbols, [&](sym::Expr symbol) {
    return std::ranges::any_of(sizes, [&](const DecidedSize& size) { return size.symbol == symbol; });
  });
}

}  // namespace

Match PluginTactic::match(const TacticContext& cx, ir::NodeId root) const {
  const auto& plugin = *cx.graph.node(root).op.as<ops::Plugin>();
  if (!plugin.object) return reject(plugin.plugin, " is named, and not there");
  Region region = single_node_region(cx.graph, root);
  region.inputs.resize(static_cast<size_t>(plugin.num_tensors));  // shape inputs have told all that they say
  std::vector<PluginTensor> tensors = tensors_of(cx, region);
  const std::string types = types_of(tensors, region.inputs.size());
  const int most = plugin.object->most_combinations();
  if (most < 1) return reject(plugin.plugin, ": getFormatCombinationLimit returned ", most, "; 1 is the least");
  std::vector<bool> is_constant;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (const ir::ValueId value : *values) is_constant.push_back(cx.graph.constant(value) != nullptr);
  Combinations combinations(*plugin.object, std::move(tensors), std::move(is_constant), plugin.num_tensors, most);
  Datum::List found = combinations.find();
  if (found.empty() && combinations.has_given_up())
    return reject(plugin.plugin, " took no combination of formats for its types (", types, ") in ",
                  Combinations::kMostCalls, " calls of supportsFormatCombination, after which the search ends");
  if (found.empty())
    return reject(plugin.plugin, " supports no combination of formats for its types (", types,
                  "): supportsFormatCombination took none");
  if (combinations.has_given_up())
    region.data.set(
        "note", str(plugin.plugin, ": the search for combinations of formats ended after ", Combinations::kMostCalls,
                    " calls of supportsFormatCombination, with ", found.size(), " found"));
  region.data.set("combinations", std::move(found));
  return region;
}

std::vector<Variant> PluginTactic::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result;
  for (const Datum& combination : std::get<Datum::List>(region.data.find("combinations")->variant())) {
    Variant variant;
    std::string text;
    for (const Datum& name : std::get<Datum::List>(combination.variant())) {
      const auto& format = std::get<std::string>(name.variant());
      auto& formats = variant.inputs.size() < region.inputs.size() ? variant.inputs : variant.outputs;
      formats.push_back(*Format::parse(format));
      text += str(text.empty() ? "" : ", ", format);
    }
    variant.name = text;
    const auto configured = configure(cx, region, variant);
    const std::vector<int> tactics = configured ? configured->tactics : std::vector<int>{0};  // compile says why
    for (const int tactic : tactics) {
      result.push_back(variant);
      if (tactic != 0) result.back().name += str(", tactic ", tactic);
      result.back().params.set("tactic", tactic);
    }
  }
  return result;
}

Result<StepDraft> PluginTactic::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  PluginObject::Configured configured = TRY(configure(cx, region, variant));
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  const auto tactic =
      static_cast<int>(TRY(variant.params.get_int("tactic")));  // no early return leaves a half-made step
  steps::Plugin step{.plugin = configured.object->identity(),
                     .generation = configured.generation,
                     .fields = {},  // asked for when all is chosen (builder/plugin_fields.h)
                     .tactic = tactic,
                     .workspace_bytes = configured.workspace_bytes,
                     .size_outputs = configured.object->size_outputs(),
                     .decided_axes = {},
                     .object = configured.object};
  for (const ir::ValueId output : region.outputs) {
    std::vector<int>& axes = step.decided_axes.emplace_back();
    const Shape& shape = cx.graph.type(output).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (is_decided(shape[axis], node.sizes)) axes.push_back(static_cast<int>(axis));
  }
  StepDraft result{.step = std::move(step), .params = {}};
  result.is_timed_anew = configured.timing_id.empty();
  // Times of a plugin without an id are another's only where the nodes are the same.
  result.tuning.set("timing_id", result.is_timed_anew ? str("node:", node.name) : configured.timing_id);
  return result;
}

}  // namespace kiln
