// Parts of the binding of INetworkDefinition, each in its own file.

#pragma once

#include <NvInfer.h>

#include "bindings.h"

namespace kiln::python {

using N = nvinfer1::INetworkDefinition;
using NetworkClass = nanobind::class_<N>;
inline constexpr auto kOwned = nanobind::rv_policy::reference_internal;  // by the network, which the layer keeps alive

void bind_network_layers(NetworkClass& network);         ///< add calls of layers without weights: network_layers.cc
void bind_network_more_layers(NetworkClass& network);    ///< the rest of them: network_more_layers.cc
void bind_network_weight_layers(NetworkClass& network);  ///< add calls of layers with weights: network_weights.cc

}  // namespace kiln::python
