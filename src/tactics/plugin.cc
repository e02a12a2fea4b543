#include "tactics/plugin.h"

#include <algorithm>

#include "ops/plugin_combinations.h"
#include "steps/plugin.h"
#include "steps/plugin_kernel.h"
#include "tactics/region.h"

namespace kiln {
namespace {

const ops::Plugin& plugin_of(const TacticContext& cx, const Region& region) {
  return *cx.graph.node(region.nodes[0]).op.as<ops::Plugin>();
}

/// The node's tensors, inputs first.
std::vector<PluginTensor> tensors_of(const TacticContext& cx, const Region& region) {
  std::vector<PluginTensor> tensors;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (const ir::ValueId value : *values) tensors.push_back(plugin_tensor(cx.graph.type(value)));
  const std::vector<double>& scales = plugin_of(cx, region).scales;
  for (size_t i = 0; i < scales.size(); ++i) tensors[i].scale = static_cast<float>(scales[i]);
  return tensors;
}

void set_formats(std::vector<PluginTensor>& tensors, const Variant& variant) {
  size_t i = 0;
  for (const auto* formats : {&variant.inputs, &variant.outputs})
    for (const Format& format : *formats) tensors[i++].format = format;
}

Result<PluginObject::Configured> configure(const TacticContext& cx, const Region& region, const Variant& variant) {
  std::vector<PluginTensor> tensors = tensors_of(cx, region);
  set_formats(tensors, variant);
  const std::span all(tensors);
  return plugin_of(cx, region).object->configure(all.first(region.inputs.size()), all.subspan(region.inputs.size()));
}

/// Whether sizes that the node decides are in an expression.
bool is_decided(sym::Expr extent, const std::vector<DecidedSize>& sizes) {
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(extent, symbols);
  return std::ranges::any_of(symbols, [&](sym::Expr symbol) {
    return std::ranges::any_of(sizes, [&](const DecidedSize& size) { return size.symbol == symbol; });
  });
}

/// What was decided of a node's kernel at the shapes that are tuned for.
Status check_at_optimum(const steps::PluginKernel& step, std::span<const sym::Expr> params) {
  std::vector<int64_t> numbers;
  for (const sym::Expr& param : params) numbers.push_back(param.opt());
  return step.check_numbers(numbers);
}

/// The step of a plugin that is a kernel. Fails where its launch needs what the launch itself decides.
Result<StepDraft> kernel_draft(const TacticContext& cx, const Region& region, const Variant& variant,
                               const PluginObject& configured, int tactic) {
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  std::vector<InferInput> inputs;
  for (const ir::ValueId input : node.inputs)
    inputs.push_back({.type = &cx.graph.type(input), .constant = cx.graph.constant(input)});
  InferContext infer(*cx.graph.shared_table(), inputs, static_cast<int>(node.outputs.size()), node.sizes);
  infer.set_node_name(node.name);
  std::vector<PluginTensor> tensors = tensors_of(cx, region);
  set_formats(tensors, variant);
  const std::span all(tensors);
  const size_t num_inputs = region.inputs.size();
  PluginKernel kernel = TRY(configured.kernel(infer, all.first(num_inputs), all.subspan(num_inputs), tactic));

  steps::PluginKernel step{.plugin = configured.identity(),
                           .entry = std::move(kernel.entry),
                           .tactic = tactic,
                           .scalar_bytes = std::move(kernel.scalar_bytes),
                           .size_outputs = configured.size_outputs(),
                           .metadata = configured.metadata()};
  std::vector<sym::Expr> params(kernel.launch.begin(), kernel.launch.end());
  params.insert(params.end(), kernel.scalars.begin(), kernel.scalars.end());
  for (size_t i = 0; i < params.size(); ++i)
    if (is_decided(params[i], node.sizes))
      return error(Code::kInvalidArgument, step.plugin, ": ",
                   i < kLaunchNumberNames.size() ? str(kLaunchNumberNames[i])
                                                 : str("extra argument ", i - kLaunchNumberNames.size()),
                   " of its kernel depends on a size tensor, which nobody knows before the kernel has run");
  TRY(check_at_optimum(step, params));
  StepDraft draft{.step = std::move(step), .params = std::move(params)};
  draft.binary = std::make_shared<const Bytes>(std::move(kernel.code));
  return draft;
}

/// The step of a plugin that runs by its own code.
StepDraft plugin_draft(const TacticContext& cx, const Region& region, const PluginObject::Configured& configured,
                       int tactic) {
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  steps::Plugin step{.plugin = configured.object->identity(),
                     .generation = configured.generation,
                     .fields = {},  // asked for when all is chosen (builder/plugin_fields.h)
                     .tactic = tactic,
                     .workspace_bytes = configured.workspace_bytes,
                     .size_outputs = configured.object->size_outputs(),
                     .decided_axes = {},
                     .scales = plugin_of(cx, region).scales,
                     .metadata = {},  // as the fields
                     .object = configured.object};
  for (const ir::ValueId output : region.outputs) {
    std::vector<int>& axes = step.decided_axes.emplace_back();
    const Shape& shape = cx.graph.type(output).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (is_decided(shape[axis], node.sizes)) axes.push_back(static_cast<int>(axis));
  }
  return {.step = std::move(step), .params = {}};
}

}  // namespace

Match PluginTactic::match(const TacticContext& cx, ir::NodeId root) const {
  const auto& plugin = *cx.graph.node(root).op.as<ops::Plugin>();
  if (!plugin.object) return reject(plugin.plugin, " has no plugin object");
  if (plugin.object->is_kernel() && !launches_kernels())
    return reject(
        plugin.plugin, " is a CUDA kernel that was compiled ahead of time (IPluginV3QuickAOTBuild), which needs ",
        "an NVIDIA GPU, and the engine is built for the CPU; have its creator make the form that runs by its ",
        "own code (QuickPluginCreationRequest::kSTRICT_JIT), if it has one");
  Region region = single_node_region(cx.graph, root);
  region.inputs.resize(static_cast<size_t>(plugin.num_tensors));  // shape inputs have told all that they say
  const std::string types = types_text(tensors_of(cx, region), region.inputs.size());
  const int most = plugin.object->most_combinations();
  if (most < 1) return reject(plugin.plugin, ": getFormatCombinationLimit returned ", most, "; 1 is the least");
  std::vector<PluginChoices> choices;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (const ir::ValueId value : *values)
      choices.push_back(plugin_choices(cx.graph.type(value), cx.graph.constant(value) != nullptr));
  set_scales(choices, plugin.scales);
  follow_aliases(std::span(choices).subspan(region.inputs.size()), plugin.aliased_inputs);
  const PluginCombinations combinations = find_combinations(*plugin.object, choices, plugin.num_tensors, most);
  if (combinations.found.empty() && combinations.has_given_up)
    return reject(plugin.plugin, " took no combination of formats for its types (", types, ") in ", kMostPluginCalls,
                  " calls of supportsFormatCombination, after which the search ends");
  if (combinations.found.empty()) {
    if (const Status status = plugin.object->search_failure(); !status) return reject(status.error().message);
    std::string aliases;
    for (size_t i = 0; i < plugin.aliased_inputs.size(); ++i)
      if (const int input = plugin.aliased_inputs[i]; input >= 0)
        aliases += str("; output ", i, " has the format of input ", input, ", to which it is aliased");
    return reject(plugin.plugin, " supports no combination of formats for its types (", types,
                  "): supportsFormatCombination took none", aliases);
  }
  if (combinations.has_given_up)
    region.data.set("note",
                    str(plugin.plugin, ": the search for combinations of formats ended after ", kMostPluginCalls,
                        " calls of supportsFormatCombination, with ", combinations.found.size(), " found"));
  Datum::List found;
  for (const std::vector<PluginTensor>& combination : combinations.found) {
    Datum::List formats;
    for (const PluginTensor& tensor : combination) formats.emplace_back(tensor.format.text());
    found.emplace_back(std::move(formats));
  }
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
  const PluginObject::Configured configured = TRY(configure(cx, region, variant));
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  const auto tactic =
      static_cast<int>(TRY(variant.params.get_int("tactic")));  // no early return leaves a half-made step
  StepDraft result = configured.object->is_kernel() ? TRY(kernel_draft(cx, region, variant, *configured.object, tactic))
                                                    : plugin_draft(cx, region, configured, tactic);
  result.aliased_inputs = plugin_of(cx, region).aliased_inputs;
  result.is_timed_anew = configured.timing_id.empty();
  // Times of a plugin without an id are those of its node alone, of which several may have one name.
  const auto own_id = [&] { return str("node:", std::to_underlying(region.nodes[0]), ' ', node.name); };
  result.tuning.set("timing_id", result.is_timed_anew ? own_id() : configured.timing_id);
  return result;
}

}  // namespace kiln
