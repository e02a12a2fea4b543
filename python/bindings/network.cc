// INetworkDefinition, but for the calls that add layers.

#include "network.h"

#include "bindings.h"
#include "kept_weights.h"
#include "layer_classes.h"
#include "lifetime.h"
#include "with_warning.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

using NetworkSelf = nb::pointer_and_handle<INetworkDefinition>;

nb::object layer_at(NetworkSelf self, int64_t index) {
  const int64_t count = self.p->getNbLayers();
  const int64_t from_front = index < 0 ? index + count : index;
  if (from_front < 0 || from_front >= count)
    throw nb::index_error(
        ("layer " + std::to_string(index) + " of a network with " + std::to_string(count) + " layers").c_str());
  return layer_for_python(self.p->getLayer(static_cast<int32_t>(from_front)), self.h);
}

bool set_weights_name(INetworkDefinition& self, WeightsArgument weights, const char* name) {
  return self.setWeightsName(weights.weights(), name);
}

void bind_tensors(NetworkClass& network) {
  network
      .def("add_input", &N::addInput, "name"_a, "dtype"_a, "shape"_a, nb::rv_policy::reference_internal,
           "Adds an input; an extent of -1 is known at run time. None if the name is taken or the arguments are not "
           "valid.")
      .def("mark_output", &N::markOutput, "tensor"_a, "Makes a tensor an output; an input cannot be one.")
      .def("unmark_output", &N::unmarkOutput, "tensor"_a, "Makes an output an inner tensor again.")
      .def("mark_output_for_shapes", &N::markOutputForShapes, "tensor"_a,
           "Makes a shape tensor an output whose values are in host memory; False if it is none.")
      .def("unmark_output_for_shapes", &N::unmarkOutputForShapes, "tensor"_a,
           "Takes mark_output_for_shapes back; False if the tensor was not marked.")
      .def("remove_tensor", &N::removeTensor, "tensor"_a, "Forgets an input that no layer uses.")
      .def("get_input", &N::getInput, "index"_a, nb::rv_policy::reference_internal,
           "The input of this index; None if out of range.")
      .def("get_output", &N::getOutput, "index"_a, nb::rv_policy::reference_internal,
           "The output of this index; None if out of range.")
      .def("mark_debug", &N::markDebug, "tensor"_a, "Lets a debug listener see the tensor; False on an error.")
      .def("unmark_debug", &N::unmarkDebug, "tensor"_a, "Takes mark_debug back; False on an error.")
      .def("is_debug_tensor", &N::isDebugTensor, "tensor"_a, "Whether the tensor is marked for debugging.")
      .def("mark_unfused_tensors_as_debug_tensors", &N::markUnfusedTensorsAsDebugTensors,
           "Lets a debug listener see all tensors that no fusion makes disappear; False on an error.")
      .def("unmark_unfused_tensors_as_debug_tensors", &N::unmarkUnfusedTensorsAsDebugTensors,
           "Takes mark_unfused_tensors_as_debug_tensors back; False on an error.");
}

void bind_weights(NetworkClass& network) {
  network
      .def("set_weights_name", &set_weights_name, "weights"_a, "name"_a,
           "Names the weights that share memory with these, for a refitter; False if no layer has them.")
      .def("mark_weights_refittable", &N::markWeightsRefittable, "name"_a,
           "Lets a refitter replace the weights of this name (BuilderFlag.REFIT_INDIVIDUAL); False if there are none.")
      .def("unmark_weights_refittable", &N::unmarkWeightsRefittable, "name"_a,
           "Takes mark_weights_refittable back; False if there are no weights of this name.")
      .def("are_weights_marked_refittable", &N::areWeightsMarkedRefittable, "name"_a,
           "Whether the weights of this name are marked.");
}

}  // namespace

void bind_network(nb::module_& m) {
  NetworkClass network(m, "INetworkDefinition", nb::is_weak_referenceable(), nb::type_slots(kNetworkSlots),
                       "A network under construction: inputs, layers and outputs. Indexing, len() and iteration are "
                       "about its layers. Arrays that layers get as weights are kept alive until it is gone.");
  network.def_prop_rw("name", &N::getName, &N::setName, "Name, which engines inherit; at most 4096 characters.")
      .def_prop_ro("num_layers", &N::getNbLayers, "Number of layers.")
      .def_prop_ro("num_inputs", &N::getNbInputs, "Number of inputs.")
      .def_prop_ro("num_outputs", &N::getNbOutputs, "Number of outputs.")
      .def_prop_ro("has_implicit_batch_dimension",
                   with_warning(&N::hasImplicitBatchDimension, "there are no implicit batches any more"),
                   "Deprecated. False: there are no implicit batches.")
      .def_prop_rw(
          "error_recorder", &N::getErrorRecorder,
          [](N& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), nb::for_getter(nb::rv_policy::reference), "What collects errors, or None.")
      .def_prop_ro("builder", &N::getBuilder, nb::rv_policy::reference, "The builder that made the network.")
      .def_prop_ro("flags", &N::getFlags, "Bit mask of the NetworkDefinitionCreationFlags of its creation.")
      .def("get_flag", &N::getFlag, "flag"_a, "Whether the network was created with this flag.")
      .def(
          "get_layer",
          [](NetworkSelf self, int32_t index) { return layer_for_python(self.p->getLayer(index), self.h); }, "index"_a,
          nb::sig("def get_layer(self, index: int) -> ILayer"),
          "The layer of this index, in the order of adding; None if out of range. It has its own class; activations "
          "and poolings are ILayer, whose type is a LayerType.")
      .def("__getitem__", &layer_at, nb::sig("def __getitem__(self, index: int, /) -> ILayer"),
           "As get_layer; negative indices count from the end; IndexError if out of range.")
      .def("__len__", &N::getNbLayers, "Number of layers.")
      .def("__del__", &ignore_del<N>, kIgnoreDel);
  bind_tensors(network);
  bind_weights(network);
  bind_network_layers(network);
  bind_network_more_layers(network);
  bind_network_weight_layers(network);
}

}  // namespace kiln::python
