#include "api/build/edge_types.h"

#include "ops/cast.h"
#include "ops/dequantize.h"
#include "ops/quantize.h"

namespace kiln::api {
namespace {

/// The type that the program set for a tensor of the network, if it set one.
std::optional<DType> wanted_type(const Network& network, ir::ValueId value) {
  const auto& tensors = network.made_tensors();
  if (ir::index(value) < tensors.size() && tensors[ir::index(value)])
    if (const auto wanted = tensors[ir::index(value)]->wanted_type()) return wanted;
  return network.output_type_set(value);
}

/// Says what a cast between fractions and whole numbers does to a tensor at the network's edge: programs that ask for
/// INT8 there often expect a scale.
void warn_of_lost_scale(const Network& network, std::string_view kind, std::string_view name, DType inside,
                        DType outside) {
  if (!is_float(inside) || is_float(outside)) return;
  network.reporter().log().warning(kind, " '", name, "' is ", inside, " in the network and ", outside,
                                   " outside of it, as its type was set: values are converted as they are, without a "
                                   "scale",
                                   kind == "output" ? ", so that fractions are lost" : "");
}

bool waits_for_ranges(const Network& network, const BuilderConfig& config, DType inside, DType outside) {
  return outside == DType::kI8 && is_float(inside) && !network.strongly_typed() && config.has(nv::BuilderFlag::kINT8);
}

/// An input or output whose type outside of the network is another than inside.
struct Edge {
  ir::ValueId value;
  std::string name;
  DType inside, outside;
  int output;  ///< its number among the outputs; -1 of an input
};

Result<std::vector<Edge>> edges(Network& network, ir::Graph& graph) {
  std::vector<Edge> result;
  const ir::Graph& original = network.graph();  // whose ids need not be the copy's
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::ValueId value = graph.inputs()[i];
    const auto wanted = wanted_type(network, original.inputs()[i]);
    const DType inside = graph.type(value).dtype;
    if (wanted && *wanted != inside) result.push_back({value, graph.value(value).name, inside, *wanted, -1});
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ir::Output& output = graph.outputs()[i];
    const auto wanted = wanted_type(network, original.outputs()[i].value);
    const TensorType& type = TRY(graph.inferred_type(output.value));
    const DType inside = type.dtype;
    if (wanted && *wanted != inside)
      result.push_back({output.value, output.name, inside, *wanted, static_cast<int>(i)});
  }
  return result;
}

/// Puts `op` on the edge. `scale`, if there is one, is its second input.
Status convert(ir::Graph& graph, const Edge& edge, Op op, std::optional<float> scale) {
  const bool is_input = edge.output < 0;
  if (is_input) {
    TensorType type = graph.type(edge.value);
    type.dtype = edge.outside;
    graph.set_input_type(edge.value, std::move(type));
  }
  std::vector<ir::ValueId> inputs{edge.value};
  if (scale) inputs.push_back(graph.add_constant(HostTensor::scalar(DType::kF32, double{*scale}), ""));
  const DType to = is_input ? edge.inside : edge.outside;
  const ir::ValueId converted = TRY(graph.add_one(std::move(op), inputs, str(edge.name, " as ", to)));
  if (is_input) {
    graph.replace_uses(edge.value, converted);
    graph.set_input(graph.value(converted).producer, 0, edge.value);
  } else {
    graph.set_output_value(edge.output, converted);
  }
  return {};
}

Status cast_edge(const Network& network, ir::Graph& graph, const Edge& edge) {
  const bool is_input = edge.output < 0;
  warn_of_lost_scale(network, is_input ? "input" : "output", edge.name, edge.inside, edge.outside);
  return convert(graph, edge, ops::Cast{is_input ? edge.inside : edge.outside}, std::nullopt);
}

}  // namespace

Status cast_edges(Network& network, const BuilderConfig& config, ir::Graph& graph) {
  for (const Edge& edge : TRY(edges(network, graph)))
    if (!waits_for_ranges(network, config, edge.inside, edge.outside)) TRY(cast_edge(network, graph, edge));
  return {};
}

Status quantize_edges(Network& network, const BuilderConfig& config, ir::Graph& graph, passes::Ranges& ranges) {
  bool changed = false;
  for (const Edge& edge : TRY(edges(network, graph))) {
    if (!waits_for_ranges(network, config, edge.inside, edge.outside)) continue;
    changed = true;
    const auto range = ranges.find(edge.name);
    if (range == ranges.end()) {
      TRY(cast_edge(network, graph, edge));
      continue;
    }
    const float most = range->second, scale = passes::scale_of_range(most);
    if (edge.output >= 0) {
      TRY(convert(graph, edge, ops::Quantize{}, scale));
      continue;
    }
    TRY(convert(graph, edge, ops::Dequantize{edge.inside}, scale));
    ranges[str(edge.name, " as ", edge.inside)] = most;
  }
  return changed ? graph.infer(ir::Graph::Which::kAll) : Status();
}

}  // namespace kiln::api
