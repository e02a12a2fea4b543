#include "api/build/build_request.h"

#include <algorithm>
#include <bit>
#include <map>

#include "api/base/convert.h"
#include "api/build/edge_types.h"
#include "api/build/expand_plugins.h"
#include "api/build/missing_choices.h"
#include "api/build/precisions.h"
#include "api/build/repeat_plugin_inputs.h"
#include "passes/structure_regions.h"

namespace kiln::api {
namespace {

using nv::BuilderFlag;

/// The allowed formats that Kiln has; the linear one, if allowed, goes before all.
Result<std::vector<Format>> allowed_formats(const nv::ITensor& tensor, int rank) {
  const nv::TensorFormats formats = tensor.getAllowedFormats();
  std::vector<Format> allowed;
  for (int bit = 0; bit < nv::EnumMax<nv::TensorFormat>(); ++bit)
    if ((formats >> bit) & 1U)
      if (auto format = from_api(static_cast<nv::TensorFormat>(bit), rank)) allowed.push_back(*format);
  if (!allowed.empty()) return allowed;
  return error(Code::kUnsupported, "tensor '", tensor.getName(), "': none of the allowed formats (",
               names_of_formats(formats), ") is one that Kiln has for rank ", rank);
}

Status add_formats(Network& network, BuildRequest& request) {
  ir::Graph& graph = network.graph();
  const auto add = [&](ir::ValueId value, const std::string& name) -> Status {
    const auto& tensors = network.made_tensors();
    if (ir::index(value) >= tensors.size() || !tensors[ir::index(value)]) return {};
    const TensorType& type = TRY(graph.inferred_type(value));
    const nv::ITensor& tensor = *tensors[ir::index(value)];
    std::vector<Format> formats = TRY(allowed_formats(tensor, type.rank()));
    if (!formats[0].is_linear()) request.surface_formats[name] = formats[0];
    // As TensorRT has it, the flag is about tensors whose formats the program chose; at first all are allowed.
    constexpr nv::TensorFormats kAll = (1U << nv::EnumMax<nv::TensorFormat>()) - 1;
    if (request.is_direct_io && tensor.getAllowedFormats() != kAll) request.direct_formats[name] = std::move(formats);
    return {};
  };
  for (const ir::ValueId input : graph.inputs()) TRY(add(input, graph.value(input).name));
  for (const ir::Output& output : graph.outputs()) TRY(add(output.value, output.name));
  return {};
}

Status add_profiles(Network& network, const BuilderConfig& config, BuildRequest& request) {
  const ir::Graph& graph = network.graph();
  for (size_t i = 0; i < config.profiles().size(); ++i) {
    request.profiles.push_back(
        TRY(in_context(config.profiles()[i]->request(), [&] { return str("optimization profile ", i); })));
    for (const auto& [name, range] : request.profiles.back().extents) {
      const bool known = std::any_of(graph.inputs().begin(), graph.inputs().end(),
                                     [&](ir::ValueId input) { return graph.value(input).name == name; });
      if (!known)
        network.reporter().log().warning("optimization profile ", i, ": the network has no input '", name,
                                         "'; its dimensions are ignored");
    }
  }
  return {};
}

/// Adds the outputs that the program marked for their shapes. They do not become outputs of the graph, so that nodes
/// which only they need do not run.
Status add_shape_outputs(Network& network, BuildRequest& request) {
  ir::Graph& graph = network.graph();
  for (const ir::ValueId value : network.shape_outputs()) {
    const TensorType& type = TRY(graph.inferred_type(value));
    const std::vector<bool> decided = ir::decided_symbols(graph);  // a conditional decides some, which it loses later
    std::vector<sym::Expr> symbols;
    if (type.values)
      for (const sym::Expr& element : *type.values) sym::collect_symbols(element, symbols);
    for (const sym::Expr& symbol : symbols)
      TRY(require(!decided[static_cast<size_t>(symbol.symbol_id())], "output '", graph.value(value).name, "' has ",
                  symbol,
                  ", which data decides: an output for shapes is known before the run. Mark it with markOutput"));
    request.shape_outputs.push_back({graph.value(value).name, type});
  }
  return {};
}

/// Dimensions of one name are equal: those that come at run time are one symbol; one that is a constant is compared
/// with the others of its name, here or when shapes are bound.
Status compare_named_dimensions(Network& network, ir::Graph& graph) {
  struct Place {
    std::string text;
    sym::Expr extent;
  };
  std::map<std::string, Place> first;
  const auto& tensors = network.made_tensors();
  for (size_t i = 0; i < graph.inputs().size(); ++i) {  // whose ids need not be the network's
    const ir::ValueId input = graph.inputs()[i], original = network.graph().inputs()[i];
    const nv::ITensor* tensor = ir::index(original) < tensors.size() ? tensors[ir::index(original)].get() : nullptr;
    const Shape shape = graph.type(input).shape;
    for (size_t axis = 0; tensor && axis < shape.size(); ++axis) {
      const char* name = tensor->getDimensionName(static_cast<int32_t>(axis));
      if (!name) continue;
      const Place here{str("axis ", axis, " of input '", graph.value(input).name, "'"), shape[axis]};
      const Place& known = first.try_emplace(name, here).first->second;
      const std::string why = str("dimension '", name, "' is ", known.text, " and ", here.text);
      if (known.extent.is_const() && here.extent.is_const())
        TRY(require(known.extent == here.extent, why, ", which are ", known.extent, " and ", here.extent));
      else if (known.extent != here.extent)
        graph.assume({sym::Relation::kEqual, known.extent, here.extent, why});
    }
  }
  return {};
}

/// Gives nodes the texts that setMetadata attached to their layers: entries of their provenance, which the inspector
/// shows of whatever runs the layers. Quotes tell them from entries that mean something (ir/precision.h).
void add_metadata(const Network& network, ir::Graph& graph) {
  for (const std::unique_ptr<Layer>& layer : network.made_layers()) {
    if (!layer || !graph.alive(layer->node()) || *layer->getMetadata() == '\0') continue;
    std::vector<std::string> provenance = graph.node(layer->node()).provenance;
    provenance.push_back(str("metadata '", layer->getMetadata(), "'"));
    graph.set_provenance(layer->node(), std::move(provenance));
  }
}

}  // namespace

Result<ir::Graph> graph_to_build(Network& network, const BuilderConfig& config) {
  ir::Graph graph = network.graph().clone();
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || !graph.node(id).provenance.empty()) continue;
    graph.set_provenance(id, {str(graph.node(id).op.name(), " '", graph.node(id).name, "'")});
  }
  add_metadata(network, graph);
  TRY(network.add_taps(graph));
  TRY(cast_edges(network, config, graph));
  TRY(apply_precisions(network, config, graph));
  TRY(repeat_plugin_inputs(graph));
  TRY(expand_plugins(network, graph, RangesAre::kUnknown));
  if (passes::has_regions(graph)) graph = TRY(passes::structure_regions(graph, network.group_names()));
  TRY(graph.infer(ir::Graph::Which::kAll));
  TRY(compare_named_dimensions(network, graph));
  return graph;
}

Result<BuildRequest> request_of(Network& network, BuilderConfig& config) {
  TRY(check_choices(network, config));
  BuildRequest request;
  request.network_name = network.name();
  request.numerics = {
      .tf32 = config.has(BuilderFlag::kTF32),
      .fp16 = config.has(BuilderFlag::kFP16),
      .bf16 = config.has(BuilderFlag::kBF16),
      .strongly_typed = network.strongly_typed(),
      .cublas_lt = config.uses(nv::TacticSource::kCUBLAS_LT),
      .cudnn = config.uses(nv::TacticSource::kCUDNN),
      .most_shared_bytes = static_cast<int64_t>(config.getMemoryPoolLimit(nv::MemoryPoolType::kTACTIC_SHARED_MEMORY))};
  request.most_aux_streams = std::max(config.getMaxAuxStreams(), 0);
  request.optimization_level = config.getBuilderOptimizationLevel();
  request.most_tactics = static_cast<size_t>(std::max(config.getMaxNbTactics(), 0));
  request.timing.least_turns = config.getAvgTimingIterations();
  // As the API has it, the flag is about a cache that the program set.
  request.timing.error_on_cache_miss =
      config.has(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS) && config.has_given_timing_cache();
  request.is_direct_io = config.has(BuilderFlag::kDIRECT_IO);
  request.editable_timing_cache = config.has(BuilderFlag::kEDITABLE_TIMING_CACHE);
  TRY(add_profiles(network, config, request));
  TRY(add_formats(network, request));
  TRY(add_shape_outputs(network, request));
  return request;
}

}  // namespace kiln::api
