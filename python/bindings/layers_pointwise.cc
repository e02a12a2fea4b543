// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers that compute every element by itself: activations, sums and the like, conversions, quantization.

#include <NvInfer.h>

#include "bindings.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

template <class L>
void bind_quantization(nb::module_& m, const char* name, const char* description) {
  nb::class_<L, ILayer>(m, name, description)
      .def_prop_rw("axis", &L::getAxis, &L::setAxis, "Axis along which scales differ; not needed for one scale.")
      .def_prop_rw("block_shape", &L::getBlockShape, &L::setBlockShape, "Extents of the blocks that share a scale.")
      .def_prop_rw("to_type", &L::getToType, &L::setToType, "Type of the output.");
}

void bind_dynamic_quantization(nb::module_& m) {
  using L = IDynamicQuantizeLayer;
  nb::class_<L, ILayer>(m, "IDynamicQuantizeLayer",
                        "Quantizes blocks by scales computed from the data; output 0 has the elements, 1 the scales.")
      .def_prop_rw("axis", &L::getAxis, &L::setAxis, "Axis that is cut into blocks, if blocks have one axis.")
      .def_prop_rw("block_size", &L::getBlockSize, &L::setBlockSize, "Elements of a block along that axis.")
      .def_prop_rw("block_shape", &L::getBlockShape, &L::setBlockShape, "Extents of a block.")
      .def_prop_rw("to_type", &L::getToType, &L::setToType, "Type of the quantized elements.")
      .def_prop_rw("scale_type", &L::getScaleType, &L::setScaleType, "Type of the scales.");
}

}  // namespace

void bind_layers_pointwise(nb::module_& m) {
  nb::class_<IActivationLayer, ILayer>(m, "IActivationLayer", "A function of one variable, applied to every element.")
      .def_prop_rw("type", &IActivationLayer::getActivationType, &IActivationLayer::setActivationType,
                   "ActivationType: which function.")
      .def_prop_rw("alpha", &IActivationLayer::getAlpha, &IActivationLayer::setAlpha,
                   "First parameter of the functions that have one.")
      .def_prop_rw("beta", &IActivationLayer::getBeta, &IActivationLayer::setBeta,
                   "Second parameter of the functions that have two.");
  nb::class_<IElementWiseLayer, ILayer>(m, "IElementWiseLayer", "A function of two tensors, element by element.")
      .def_prop_rw("op", &IElementWiseLayer::getOperation, &IElementWiseLayer::setOperation,
                   "ElementWiseOperation: which function.");
  nb::class_<IUnaryLayer, ILayer>(m, "IUnaryLayer", "A function of one variable without parameters.")
      .def_prop_rw("op", &IUnaryLayer::getOperation, &IUnaryLayer::setOperation, "UnaryOperation: which function.");
  nb::class_<ISelectLayer, ILayer>(m, "ISelectLayer", "Takes each element from one of two tensors, by a condition.");
  nb::class_<IParametricReLULayer, ILayer>(m, "IParametricReLULayer", "x where x >= 0, else x times a slope.");
  nb::class_<IIdentityLayer, ILayer>(m, "IIdentityLayer", "Passes a tensor on.");
  nb::class_<ICastLayer, ILayer>(m, "ICastLayer", "Converts elements to a type.")
      .def_prop_rw("to_type", &ICastLayer::getToType, &ICastLayer::setToType, "Type of the output.");
  nb::class_<IAssertionLayer, ILayer>(m, "IAssertionLayer",
                                      "Fails at build or run time unless all elements of its input are true.")
      .def_prop_rw("message", &IAssertionLayer::getMessage, &IAssertionLayer::setMessage, "What the error says.");
  bind_quantization<IQuantizeLayer>(m, "IQuantizeLayer", "Divides by scales and rounds to a small type.");
  bind_quantization<IDequantizeLayer>(m, "IDequantizeLayer", "Multiplies quantized elements by their scales.");
  bind_dynamic_quantization(m);
}

}  // namespace kiln::python
