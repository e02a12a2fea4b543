// Layers that compute every element by itself: activations, sums and the like, conversions, quantization.

#include <NvInfer.h>

#include "layer_class.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

template <class L>
void bind_quantization(nb::module_& m, const char* name, const char* description) {
  layer_class<L>(m, name, description)
      .def_prop_rw("axis", &L::getAxis, &L::setAxis, "Axis along which scales differ; not needed for one scale.")
      .def_prop_rw("block_shape", &L::getBlockShape, &L::setBlockShape, "Extents of the blocks that share a scale.")
      .def_prop_rw("to_type", &L::getToType, &L::setToType, "Type of the output.");
}

void bind_dynamic_quantization(nb::module_& m) {
  using L = IDynamicQuantizeLayer;
  layer_class<L>(m, "IDynamicQuantizeLayer",
                 "Quantizes blocks by scales computed from the data; output 0 has the elements, 1 the scales.")
      .def_prop_rw("axis", &L::getAxis, &L::setAxis, "Axis that is cut into blocks, if blocks have one axis.")
      .def_prop_rw("block_size", &L::getBlockSize, &L::setBlockSize, "Elements of a block along that axis.")
      .def_prop_rw("block_shape", &L::getBlockShape, &L::setBlockShape, "Extents of a block.")
      .def_prop_rw("to_type", &L::getToType, &L::setToType, "Type of the quantized elements.")
      .def_prop_rw("scale_type", &L::getScaleType, &L::setScaleType, "Type of the scales.");
}

}  // namespace

void bind_layers_pointwise(nb::module_& m) {
  layer_class<IActivationLayer>(m, "IActivationLayer", "A function of one variable, applied to every element.")
      .def_prop_rw("type", &IActivationLayer::getActivationType, &IActivationLayer::setActivationType,
                   "ActivationType: which function.")
      .def_prop_rw("alpha", &IActivationLayer::getAlpha, &IActivationLayer::setAlpha,
                   "First parameter of the functions that have one.")
      .def_prop_rw("beta", &IActivationLayer::getBeta, &IActivationLayer::setBeta,
                   "Second parameter of the functions that have two.");
  layer_class<IElementWiseLayer>(m, "IElementWiseLayer", "A function of two tensors, element by element.")
      .def_prop_rw("op", &IElementWiseLayer::getOperation, &IElementWiseLayer::setOperation,
                   "ElementWiseOperation: which function.");
  layer_class<IUnaryLayer>(m, "IUnaryLayer", "A function of one variable without parameters.")
      .def_prop_rw("op", &IUnaryLayer::getOperation, &IUnaryLayer::setOperation, "UnaryOperation: which function.");
  layer_class<ISelectLayer>(m, "ISelectLayer", "Takes each element from one of two tensors, by a condition.");
  layer_class<IParametricReLULayer>(m, "IParametricReLULayer", "x where x >= 0, else x times a slope.");
  layer_class<IIdentityLayer>(m, "IIdentityLayer", "Passes a tensor on.");
  layer_class<ICastLayer>(m, "ICastLayer", "Converts elements to a type.")
      .def_prop_rw("to_type", &ICastLayer::getToType, &ICastLayer::setToType, "Type of the output.");
  layer_class<IAssertionLayer>(m, "IAssertionLayer",
                               "Fails at build or run time unless all elements of its input are true.")
      .def_prop_rw("message", &IAssertionLayer::getMessage, &IAssertionLayer::setMessage, "What the error says.");
  bind_quantization<IQuantizeLayer>(m, "IQuantizeLayer", "Divides by scales and rounds to a small type.");
  bind_quantization<IDequantizeLayer>(m, "IDequantizeLayer", "Multiplies quantized elements by their scales.");
  bind_dynamic_quantization(m);
}

}  // namespace kiln::python
