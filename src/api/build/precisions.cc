#include "api/build/precisions.h"

#include <algorithm>

#include "api/build/layer.h"
#include "ir/precision.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/plugin.h"

namespace kiln::api {
namespace {

using nv::BuilderFlag;

/// Layers that read bytes: products by kernels of theirs, the others in the step of a product or as Dequantize in front
/// of what they compute. The others of TensorRT's have no INT8 there either.
bool can_read_bytes(nv::LayerType type) {
  using enum nv::LayerType;
  constexpr nv::LayerType kTypes[] = {kCONVOLUTION,     kMATRIX_MULTIPLY, kACTIVATION, kELEMENTWISE, kSCALE,    kSELECT,
                                      kPARAMETRIC_RELU, kPOOLING,         kRESIZE,     kPADDING,     kSHUFFLE,  kSLICE,
                                      kGATHER,          kCONCATENATION,   kIDENTITY,   kSQUEEZE,     kUNSQUEEZE};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

/// Why something cannot be had; empty where it can.
using Reason = std::string;

class Applier {
 public:
  Applier(const BuilderConfig& config, Log& log, ir::Graph& graph)
      : config_(config),
        log_(log),
        graph_(graph),
        obeys_(config.has(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS)),
        prefers_(config.has(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS)) {}

  Status apply(const Layer& layer) {
    const ir::NodeId id = layer.node();
    if (!graph_.alive(id)) return {};
    for (const ir::ValueId output : graph_.node(id).outputs) TRY(graph_.inferred_type(output));
    if (is_left_alone(layer)) return {};
    std::optional<DType> precision = layer.precision();
    if (precision) {
      const Reason missing = why_not(layer, *precision);
      if (is_kernel_float(*precision) && no_floats(id)) {
        log_.verbose("layer '", layer.getName(), "': precision ", *precision, " means nothing: it has no floats");
        precision.reset();
      } else if (!missing.empty()) {
        TRY(refuse(layer, str("precision ", *precision), missing));
        precision.reset();
      } else if (is_kernel_float(*precision) || *precision == DType::kI8) {
        ir::set_precision(graph_, id, layer.getName(), {*precision, obeys_});
      }
    }
    for (const auto& [index, type] : layer.output_types()) TRY(apply(layer, index, type, precision));
    return {};
  }

 private:
  /// A constant computes nothing: who reads it decides in what types, also where a constraint is on all layers.
  bool is_left_alone(const Layer& layer) const {
    const auto is_integer = [](std::optional<DType> type) { return type && !is_kernel_float(*type); };
    const bool is_asked =
        is_integer(layer.precision()) ||
        std::ranges::any_of(layer.output_types(), [&](const auto& at) { return is_integer(at.second); });
    if (!is_asked || !graph_.node(layer.node()).op.as<ops::Constant>()) return false;
    log_.verbose("layer '", layer.getName(), "': a constant keeps its type, whatever its precision");
    return true;
  }

  Status apply(const Layer& layer, int index, DType type, std::optional<DType> precision) {
    const ir::NodeId id = layer.node();
    const ir::ValueId output = graph_.node(id).outputs[static_cast<size_t>(index)];
    const DType was = graph_.type(output).dtype;
    if (type == DType::kF32 && is_kernel_float(was)) {  // of a layer in half, FP32 has no more digits than that
      if (!precision) ir::set_precision(graph_, id, layer.getName(), {type, obeys_});
      return {};
    }
    // FP64 is for shapes inside of a network, and the API has no name for it.
    if (type == was || was == DType::kF64 || is_output_cast(output, type)) return {};
    Reason missing = is_kernel_float(type) && is_kernel_float(was) ? flag_for(type) : str("the layer makes ", was);
    if (!missing.empty()) return refuse(layer, str("type ", type, " of output ", index), missing);
    return round(output, type, was);
  }

  /// Readers get the numbers that the type has.
  Status round(ir::ValueId value, DType type, DType was) {
    const std::string name = graph_.value(value).name;
    const ir::ValueId narrow = TRY(graph_.add_one(ops::Cast{type}, {value}, str(name, " as ", type)));
    const ir::ValueId back = TRY(graph_.add_one(ops::Cast{was}, {narrow}, str(name, " as ", was)));
    const std::vector<std::string> provenance = graph_.node(graph_.value(value).producer).provenance;
    for (const ir::ValueId made : {narrow, back}) graph_.set_provenance(graph_.value(made).producer, provenance);
    graph_.replace_uses(value, back);
    graph_.set_input(graph_.value(narrow).producer, 0, value);
    return {};
  }

  /// Whether all that reads a value is the cast to that type at the network's edge, which is there already.
  bool is_output_cast(ir::ValueId value, DType type) const {
    return !graph_.is_output(value) && std::ranges::all_of(graph_.value(value).users, [&](ir::NodeId user) {
      const auto* cast = graph_.node(user).op.as<ops::Cast>();
      return cast && cast->to == type && graph_.is_output(graph_.node(user).outputs[0]);
    });
  }

  bool no_floats(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    const auto has_float = [&](ir::ValueId value) {
      return value != ir::ValueId::kNone && is_kernel_float(graph_.type(value).dtype);
    };
    return std::ranges::none_of(node.outputs, has_float) && std::ranges::none_of(node.inputs, has_float);
  }

  Reason flag_for(DType type) const {
    if (type == DType::kF16 && !config_.has(BuilderFlag::kFP16)) return "BuilderFlag::kFP16 is not set";
    if (type == DType::kBF16 && !config_.has(BuilderFlag::kBF16)) return "BuilderFlag::kBF16 is not set";
    return {};
  }

  Reason why_not(const Layer& layer, DType precision) const {
    const ir::Node& node = graph_.node(layer.node());
    if (precision == DType::kI8) return why_not_bytes(layer);
    if (!is_kernel_float(precision)) {
      const bool is_made = !node.outputs.empty() && graph_.type(node.outputs[0]).dtype == precision;
      return is_made ? Reason() : str("Kiln has no kernels for ", node.op.name(), " in ", precision);
    }
    if (Reason missing = flag_for(precision); !missing.empty()) return missing;
    if (node.op.as<ops::Plugin>() && precision != DType::kF32) return "a plugin computes in the types of its tensors";
    return {};
  }

  Reason why_not_bytes(const Layer& layer) const {
    const ir::Node& node = graph_.node(layer.node());
    if (!node.outputs.empty() && graph_.type(node.outputs[0]).dtype == DType::kI8) return {};
    if (!config_.has(BuilderFlag::kINT8)) return "BuilderFlag::kINT8 is not set";
    return can_read_bytes(layer.getType()) ? Reason() : str("Kiln has no kernels for ", node.op.name(), " in INT8");
  }

  Status refuse(const Layer& layer, const std::string& what, const Reason& reason) {
    const std::string text = str("layer '", layer.getName(), "': ", what, " cannot be had: ", reason);
    if (obeys_) return error(Code::kUnsupported, text);
    if (prefers_)
      log_.warning(text);
    else
      log_.verbose(text);
    return {};
  }

  const BuilderConfig& config_;
  Log& log_;
  ir::Graph& graph_;
  const bool obeys_, prefers_;
};

}  // namespace

Status apply_precisions(const Network& network, const BuilderConfig& config, ir::Graph& graph) {
  const auto is_constrained = [](const std::unique_ptr<Layer>& layer) {
    return layer && (layer->precision() || !layer->output_types().empty());
  };
  if (std::ranges::none_of(network.made_layers(), is_constrained)) return {};
  Applier applier(config, network.reporter().log(), graph);
  for (const std::unique_ptr<Layer>& layer : network.made_layers())
    if (is_constrained(layer)) TRY(applier.apply(*layer));
  return {};
}

}  // namespace kiln::api
