// INetworkDefinition's calls that add layers with weights. The network keeps the arrays alive.

#include <nanobind/stl/optional.h>

#include "kept_weights.h"
#include "network.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

using NetworkSelf = nb::pointer_and_handle<INetworkDefinition>;
using Optional = std::optional<WeightsArgument>;

/// Weights that may be left out. Empty ones have the type of the input, as TensorRT's module makes them.
Weights weights_or_none(Optional& argument, ITensor& input) {
  return argument ? argument->weights() : Weights{input.getType(), nullptr, 0};
}

/// The layer, after the network has taken what it borrows; null if there is none.
template <class L>
L* keeping(NetworkSelf self, L* layer, std::initializer_list<Optional*> arguments) {
  if (!layer) return nullptr;
  KeptWeights& kept = KeptWeights::of_network(self.h);
  kept.note(*layer);
  for (Optional* argument : arguments)
    if (*argument) kept.keep((*argument)->weights(), **argument);
  return layer;
}

template <auto kAdd>
auto add_filter(NetworkSelf self, ITensor& input, int64_t maps, const Dims& kernel_shape, WeightsArgument kernel,
                Optional bias) {
  Optional first = std::move(kernel);
  const Weights w = first->weights();
  const Weights b = weights_or_none(bias, input);
  return keeping(self, (self.p->*kAdd)(input, maps, kernel_shape, w, b), {&first, &bias});
}

IScaleLayer* add_scale(NetworkSelf self, ITensor& input, ScaleMode mode, Optional shift, Optional scale,
                       Optional power) {
  const Weights a = weights_or_none(shift, input);
  const Weights b = weights_or_none(scale, input);
  const Weights c = weights_or_none(power, input);
  return keeping(self, self.p->addScale(input, mode, a, b, c), {&shift, &scale, &power});
}

IScaleLayer* add_scale_nd(NetworkSelf self, ITensor& input, ScaleMode mode, Optional shift, Optional scale,
                          Optional power, int32_t channel_axis) {
  const Weights a = weights_or_none(shift, input);
  const Weights b = weights_or_none(scale, input);
  const Weights c = weights_or_none(power, input);
  return keeping(self, self.p->addScaleNd(input, mode, a, b, c, channel_axis), {&shift, &scale, &power});
}

IConstantLayer* add_constant(NetworkSelf self, const Dims& shape, WeightsArgument weights) {
  Optional values = std::move(weights);
  const Weights w = values->weights();
  return keeping(self, self.p->addConstant(shape, w), {&values});
}

}  // namespace

void bind_network_weight_layers(NetworkClass& network) {
  network
      .def(
          "add_convolution_nd", &add_filter<&N::addConvolutionNd>, "input"_a, "num_output_maps"_a, "kernel_shape"_a,
          "kernel"_a, "bias"_a = nb::none(), nb::rv_policy::reference_internal,
          "Adds a convolution with a kernel of 2 or 3 extents. Empty kernel weights: the kernel is input 1. None on an "
          "error.")
      .def("add_deconvolution_nd", &add_filter<&N::addDeconvolutionNd>, "input"_a, "num_output_maps"_a,
           "kernel_shape"_a, "kernel"_a, "bias"_a = nb::none(), nb::rv_policy::reference_internal,
           "Adds a transposed convolution with a kernel of 2 or 3 extents. None on an error.")
      .def("add_scale", &add_scale, "input"_a, "mode"_a, "shift"_a = nb::none(), "scale"_a = nb::none(),
           "power"_a = nb::none(), nb::rv_policy::reference_internal,
           "Adds (x * scale + shift) ** power of images [batch, channels, spatial...]; what is left out is 0, 1 and 1. "
           "None on an error.")
      .def("add_scale_nd", &add_scale_nd, "input"_a, "mode"_a, "shift"_a = nb::none(), "scale"_a = nb::none(),
           "power"_a = nb::none(), "channel_axis"_a, nb::rv_policy::reference_internal,
           "As add_scale, for tensors whose channels are on another axis. None on an error.")
      .def("add_constant", &add_constant, "shape"_a, "weights"_a, nb::rv_policy::reference_internal,
           "Adds constants, as many as the shape has elements. None on an error.");
}

}  // namespace kiln::python
