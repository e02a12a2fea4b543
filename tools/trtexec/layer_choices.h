/// Choices of the command line for single layers of a network.
#pragma once

#include "NvInfer.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// --layerPrecisions and --layerOutputTypes where --precisionConstraints asks for them, --layerDeviceTypes and
/// --decomposableAttentions. A name with '*' passes over layers that have no floats, as TensorRT's trtexec does. Fails
/// at a name that fits no layer, and at a number of types that is not that of a layer's outputs.
void choose_for_layers(const BuildOptions& options, nvinfer1::INetworkDefinition& network,
                       nvinfer1::IBuilderConfig& config, Log& log);

}  // namespace kiln::cli::trtexec
