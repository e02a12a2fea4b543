#include "layer_choices.h"

#include <algorithm>
#include <map>
#include <string>

#include "cli/shapes.h"
#include "log.h"
#include "values.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;
using nvinfer1::ILayer;
using nvinfer1::LayerType;

#pragma GCC diagnostic push  // the flags stand for deprecated calls
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

bool is_whole(DataType type) {
  return type == DataType::kINT32 || type == DataType::kINT64 || type == DataType::kBOOL || type == DataType::kUINT8;
}

/// Whether values of the type are activations that may have another float type.
bool is_kernel_float(DataType type) {
  return type == DataType::kFLOAT || type == DataType::kHALF || type == DataType::kBF16;
}

/// Whether the layer computes with whole numbers or shapes, so that a pattern does not mean it.
bool has_no_floats(const ILayer& layer) {
  if (layer.getNbInputs() > 0 && layer.getInput(0) && layer.getInput(0)->isShapeTensor()) return true;
  const bool gives_none = layer.getNbOutputs() == 0 || is_whole(layer.getOutput(0)->getType());
  const bool takes_none = layer.getNbInputs() == 0 || !layer.getInput(0) || is_whole(layer.getInput(0)->getType());
  return gives_none && takes_none;
}

/// Tells which layers have INT8, so that a pattern that asks for it does not mean the others.
class LayersOfBytes {
 public:
  explicit LayersOfBytes(const nvinfer1::INetworkDefinition& network) {
    for (int i = 0; i < network.getNbLayers(); ++i) {
      const ILayer& layer = *network.getLayer(i);
      bool is_constant = layer.getType() == LayerType::kCONSTANT || layer.getNbInputs() > 0;
      for (int k = 0; k < layer.getNbInputs(); ++k) is_constant &= is_known(layer.getInput(k));
      for (int k = 0; k < layer.getNbOutputs(); ++k) constant_[layer.getOutput(k)] = is_constant;
    }
  }
  bool has(const ILayer& layer) const {
    using enum LayerType;
    constexpr LayerType kTypes[] = {kCONVOLUTION,   kACTIVATION, kELEMENTWISE, kSCALE,    kSELECT, kPARAMETRIC_RELU,
                                    kPOOLING,       kRESIZE,     kPADDING,     kSHUFFLE,  kSLICE,  kGATHER,
                                    kCONCATENATION, kIDENTITY,   kSQUEEZE,     kUNSQUEEZE};
    if (layer.getType() == kMATRIX_MULTIPLY) return !is_known(layer.getInput(0)) && is_known(layer.getInput(1));
    if (layer.getType() == kCONVOLUTION && layer.getNbInputs() > 1 && !is_known(layer.getInput(1))) return false;
    return std::ranges::find(kTypes, layer.getType()) != std::end(kTypes);
  }

 private:
  /// Whether a tensor is made of constants alone; layers are in the order in which they compute.
  bool is_known(const nvinfer1::ITensor* tensor) const {
    const auto found = constant_.find(tensor);
    return !tensor || (found != constant_.end() && found->second);
  }
  std::map<const nvinfer1::ITensor*, bool> constant_;
};

/// Fails at the first name that fits no layer: it implies a typing error.
template <class T>
void require_layers(const LayerChoices<T>& choices, const nvinfer1::INetworkDefinition& network,
                    std::string_view flag) {
  for (const auto& [name, choice] : choices) {
    bool found = false;
    for (int i = 0; i < network.getNbLayers() && !found; ++i) found = matches(name, network.getLayer(i)->getName());
    require(found, flag, ": no layer of the network fits '", name, "'; --dumpLayerInfo and kiln dump show names");
  }
}

/// Calls `choose` for each layer that a choice means.
template <class T, class Choose>
void for_chosen(const LayerChoices<T>& choices, nvinfer1::INetworkDefinition& network, std::string_view flag,
                Choose choose) {
  if (choices.empty()) return;
  require_layers(choices, network, flag);
  for (int i = 0; i < network.getNbLayers(); ++i) {
    ILayer& layer = *network.getLayer(i);
    const T* const choice = choice_for(choices, layer.getName());
    if (choice) choose(layer, *choice);
  }
}

template <class T>
bool is_named(const LayerChoices<T>& choices, const ILayer& layer) {
  return std::ranges::any_of(choices, [&](const auto& entry) { return entry.first == layer.getName(); });
}

void set_output_types(ILayer& layer, const std::vector<DataType>& types, bool named, Log& log) {
  const auto count = static_cast<size_t>(layer.getNbOutputs());
  require(types.size() == 1 || types.size() == count, "--layerOutputTypes: layer '", layer.getName(), "' has ", count,
          count == 1 ? " output, and " : " outputs, and ", types.size(), " types are given");
  for (size_t i = 0; i < count; ++i) {
    const auto index = static_cast<int32_t>(i);
    if (!named && (!is_kernel_float(layer.getOutput(index)->getType()) || layer.getOutput(index)->isShapeTensor()))
      continue;
    const DataType type = types[types.size() == 1 ? 0 : i];
    log.info("Set output ", i, " of layer ", layer.getName(), " to type ", type_name(type));
    layer.setOutputType(index, type);
    require(layer.outputTypeIsSet(index), "--layerOutputTypes: layer '", layer.getName(), "' refuses ", type_name(type),
            ": the message above says why");
  }
}

void choose_types(const PrecisionOptions& options, nvinfer1::INetworkDefinition& network, Log& log) {
  if (options.constraints == PrecisionConstraints::kNone) return;
  const LayersOfBytes bytes(network);
  int num_skipped = 0;
  for_chosen(options.layers, network, "--layerPrecisions", [&](ILayer& layer, DataType type) {
    const bool named = is_named(options.layers, layer);
    if (!named && has_no_floats(layer))
      return log.verbose("--layerPrecisions: layer ", layer.getName(), " has no floats and is left alone");
    if (!named && type == DataType::kINT8 && layer.getType() != LayerType::kCONSTANT && !bytes.has(layer)) {
      ++num_skipped;
      return log.verbose("--layerPrecisions: layer ", layer.getName(), " has no int8 and is left alone");
    }
    log.info("Set layer ", layer.getName(), " to precision ", type_name(type));
    layer.setPrecision(type);
    require(layer.precisionIsSet(), "--layerPrecisions: layer '", layer.getName(), "' refuses ", type_name(type),
            ": the message above says why");
  });
  if (num_skipped > 0)
    log.warn("--layerPrecisions: ", num_skipped, num_skipped == 1 ? " layer" : " layers",
             " that a pattern fits cannot have int8 and are left alone; --verbose names them");
  for_chosen(options.outputs, network, "--layerOutputTypes", [&](ILayer& layer, const std::vector<DataType>& types) {
    set_output_types(layer, types, is_named(options.outputs, layer), log);
  });
}
#pragma GCC diagnostic pop

void choose_devices(const BuildOptions& options, nvinfer1::INetworkDefinition& network,
                    nvinfer1::IBuilderConfig& config, Log& log) {
  using nvinfer1::DeviceType;
  for_chosen(options.precision.devices, network, "--layerDeviceTypes", [&](ILayer& layer, DeviceType device) {
    require(device == DeviceType::kGPU, "--layerDeviceTypes: layer '", layer.getName(),
            "' is to run on a DLA, and there is none");
    log.info("Set layer ", layer.getName(), " to device type GPU");
    config.setDeviceType(&layer, device);
  });
}

void choose_attentions(const std::vector<std::string>& names, nvinfer1::INetworkDefinition& network, Log& log) {
  std::vector<bool> found(names.size());
  for (int i = 0; i < network.getNbLayers() && !names.empty(); ++i) {
    ILayer& layer = *network.getLayer(i);
    if (layer.getType() != LayerType::kATTENTION_INPUT) continue;
    nvinfer1::IAttention* const attention = static_cast<nvinfer1::IAttentionBoundaryLayer&>(layer).getAttention();
    for (size_t k = 0; attention && k < names.size(); ++k) {
      if (!matches(names[k], attention->getName())) continue;
      found[k] = true;
      attention->setDecomposable(true);
      log.info("Set attention ", attention->getName(), " to decomposable = true");
    }
  }
  for (size_t k = 0; k < names.size(); ++k)
    require(found[k], "--decomposableAttentions: no attention of the network fits '", names[k], "'");
}

}  // namespace

void choose_for_layers(const BuildOptions& options, nvinfer1::INetworkDefinition& network,
                       nvinfer1::IBuilderConfig& config, Log& log) {
  choose_types(options.precision, network, log);
  choose_devices(options, network, config, log);
  choose_attentions(options.decomposable_attentions, network, log);
}

}  // namespace kiln::cli::trtexec
