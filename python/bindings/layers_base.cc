// ILayer.

#include <NvInfer.h>

#include "layer_class.h"
#include "layer_classes.h"
#include "with_warning.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

constexpr const char* kUseStrongTyping = "types of layers follow from a strongly typed network; use add_cast";

void set_num_ranks(ILayer& self, int32_t count) {
  if (!self.setNbRanks(count))
    throw std::runtime_error("num_ranks was refused; only IDistCollectiveLayer takes others than 1");
}

/// Assigns an attribute as Python does, but checks what is assigned to `__class__`, which no descriptor can.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  try {
    if (value != nullptr && PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
      check_layer_class(nb::cast<ILayer&>(nb::handle(self)), value);
    return PyObject_GenericSetAttr(self, name, value);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return -1;
}

PyType_Slot kSlots[] = {{Py_tp_setattro, reinterpret_cast<void*>(&set_attribute)}, {0, nullptr}};

}  // namespace

void bind_layers_base(nb::module_& m) {
  layer_class<ILayer>(m, "ILayer", "Base of the layers of a network.", nb::is_weak_referenceable(),
                      nb::type_slots(kSlots))
      .def_prop_rw("name", &ILayer::getName, &ILayer::setName,
                   "Name for messages, profiles and refitting; at most 4096 characters.")
      .def_prop_rw("metadata", &ILayer::getMetadata, &ILayer::setMetadata,
                   "Text that the engine inspector shows with the layer; empty by default.")
      .def_prop_rw("num_ranks", &ILayer::getNbRanks, &set_num_ranks,
                   "Number of devices that run the layer, 1 by default. RuntimeError if the layer refuses it.")
      .def_prop_ro("type", &ILayer::getType, "LayerType: which class the layer has.")
      .def_prop_ro("num_inputs", &ILayer::getNbInputs, "Number of inputs.")
      .def_prop_ro("num_outputs", &ILayer::getNbOutputs, "Number of outputs.")
      .def_prop_rw("precision", &ILayer::getPrecision, with_warning(&ILayer::setPrecision, kUseStrongTyping),
                   "Type that the layer computes in. Setting it is deprecated.")
      .def_prop_ro("precision_is_set", with_warning(&ILayer::precisionIsSet, kUseStrongTyping),
                   "Deprecated. Whether the program set the precision.")
      .def("set_input", &ILayer::setInput, "index"_a, "tensor"_a,
           "Replaces the input of this index; an error in the log if the layer has no such input.")
      .def("get_input", &ILayer::getInput, "index"_a, nb::rv_policy::reference_internal,
           "The input of this index; None if the index is out of range or the input was left out.")
      .def("get_output", &ILayer::getOutput, "index"_a, nb::rv_policy::reference_internal,
           "The output of this index; None if the index is out of range.")
      .def("reset_precision", with_warning(&ILayer::resetPrecision, kUseStrongTyping),
           "Deprecated. Forgets the precision that the program set.")
      .def("set_output_type", with_warning(&ILayer::setOutputType, kUseStrongTyping), "index"_a, "dtype"_a,
           "Deprecated. Sets the type of an output.")
      .def("get_output_type", &ILayer::getOutputType, "index"_a, "Type of an output; FLOAT if there is no such output.")
      .def("output_type_is_set", with_warning(&ILayer::outputTypeIsSet, kUseStrongTyping), "index"_a,
           "Deprecated. Whether the program set the type of an output.")
      .def("reset_output_type", with_warning(&ILayer::resetOutputType, kUseStrongTyping), "index"_a,
           "Deprecated. Forgets the type that the program set.");
}

}  // namespace kiln::python
