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

/// Throws TypeError unless the layer is of a class or one derived from it: the methods of another class would call what
/// the layer does not have. `layer.__class__ = type` asks.
void check_layer_class(const nvinfer1::ILayer& layer, nanobind::handle type);

}  // namespace kiln::python
