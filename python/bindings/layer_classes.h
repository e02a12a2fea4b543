// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The Python class of a layer that a network is asked for by index.

#pragma once

#include <NvInfer.h>

#include "bindings.h"

namespace kiln::python {

/// The layer as an object of its own class, or None. `network` is kept alive by it.
///
/// IActivationLayer and IPoolingLayer are shown as ILayer. Their attribute `type` is an ActivationType or PoolingType,
/// while programs that walk through a network read LayerType there (`if layer.type == LayerType.POOLING`). As with
/// TensorRT's module, they then assign `layer.__class__ = IPoolingLayer`.
nanobind::object layer_for_python(nvinfer1::ILayer* layer, nanobind::handle network);

}  // namespace kiln::python
