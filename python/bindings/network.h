// Parts of the binding of INetworkDefinition, each in its own file.

#pragma once

#include <NvInfer.h>

#include "bindings.h"

namespace kiln::python {

using NetworkClass = nanobind::class_<nvinfer1::INetworkDefinition>;

void bind_network_layers(NetworkClass& network);         ///< add calls of layers without weights: network_layers.cc
void bind_network_more_layers(NetworkClass& network);    ///< the rest of them: network_more_layers.cc
void bind_network_weight_layers(NetworkClass& network);  ///< add calls of layers with weights: network_weights.cc

}  // namespace kiln::python
