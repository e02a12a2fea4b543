// INetworkDefinition's calls that add layers of tensors: element by element, moving, reducing.

#include <nanobind/stl/vector.h>

#include "network.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

using Tensors = std::vector<ITensor*>;

IConcatenationLayer* add_concatenation(N& self, const Tensors& inputs) {
  return self.addConcatenation(inputs.data(), static_cast<int32_t>(inputs.size()));
}
IEinsumLayer* add_einsum(N& self, const Tensors& inputs, const char* equation) {
  return self.addEinsum(inputs.data(), static_cast<int32_t>(inputs.size()), equation);
}

void bind_pointwise(NetworkClass& network) {
  network
      .def("add_activation", &N::addActivation, "input"_a, "type"_a, kOwned,
           "Adds a function of every element. As all add calls: None, with an error in the log, if arguments are not "
           "valid.")
      .def("add_elementwise", &N::addElementWise, "input1"_a, "input2"_a, "op"_a, kOwned,
           "Adds a function of two tensors of one rank; extents of 1 are repeated. None on an error.")
      .def("add_unary", &N::addUnary, "input"_a, "op"_a, kOwned, "Adds a function of every element. None on an error.")
      .def("add_select", &N::addSelect, "condition"_a, "then_input"_a, "else_input"_a, kOwned,
           "Adds a choice from two tensors by a BOOL tensor. None on an error.")
      .def("add_parametric_relu", &N::addParametricReLU, "input"_a, "slopes"_a, kOwned,
           "Adds x where x >= 0, else x * slope. None on an error.")
      .def("add_identity", &N::addIdentity, "input"_a, kOwned, "Passes a tensor on. None on an error.")
      .def("add_cast", &N::addCast, "input"_a, "to_type"_a, kOwned, "Converts elements to a type. None on an error.")
      .def("add_assertion", &N::addAssertion, "condition"_a, "message"_a, kOwned,
           "Fails at build or run time with the message unless all of a BOOL tensor is true. None on an error.");
}

void bind_movement(NetworkClass& network) {
  network
      .def("add_shuffle", &N::addShuffle, "input"_a, kOwned,
           "Adds a layer that transposes and reshapes, and does nothing until that is set. None on an error.")
      .def("add_slice", &N::addSlice, "input"_a, "start"_a, "shape"_a, "stride"_a, kOwned,
           "Adds a part of a tensor: of each axis shape elements from start, stride apart. None on an error.")
      .def("add_concatenation", &add_concatenation, "inputs"_a, kOwned,
           "Joins tensors along axis rank - 3 (0 if below), or the layer's axis. None on an error.")
      .def("add_gather", &N::addGather, "input"_a, "indices"_a, "axis"_a, kOwned,
           "Adds the elements of an axis that indices name. None on an error.")
      .def("add_gather_v2", &N::addGatherV2, "input"_a, "indices"_a, "mode"_a, kOwned,
           "Adds the elements that indices name in the way of a GatherMode. None on an error.")
      .def("add_scatter", &N::addScatter, "data"_a, "indices"_a, "updates"_a, "mode"_a, kOwned,
           "Writes updates into a copy of the data. None on an error.")
      .def("add_resize", &N::addResize, "input"_a, kOwned,
           "Adds a resize; its shape or scales are set on the layer. None on an error.")
      .def("add_padding_nd", &N::addPaddingNd, "input"_a, "pre_padding"_a, "post_padding"_a, kOwned,
           "Adds zeros around the last two axes, or cuts where numbers are negative. None on an error.")
      .def("add_shape", &N::addShape, "input"_a, kOwned,
           "Adds the extents of a tensor as a tensor of INT64. None on an error.")
      .def("add_squeeze", &N::addSqueeze, "input"_a, "axes"_a, kOwned,
           "Removes axes of extent 1; axes is a constant. None on an error.")
      .def("add_unsqueeze", &N::addUnsqueeze, "input"_a, "axes"_a, kOwned,
           "Inserts axes of extent 1; axes is a constant. None on an error.")
      .def("add_grid_sample", &N::addGridSample, "input"_a, "grid"_a, kOwned,
           "Samples images at the positions of a grid, whose last axis has coordinates in [-1, 1]. None on an error.")
      .def("add_one_hot", &N::addOneHot, "indices"_a, "values"_a, "depth"_a, "axis"_a, kOwned,
           "Turns indices into vectors: values holds off and on, depth their length. None on an error.")
      .def("add_reverse_sequence", &N::addReverseSequence, "input"_a, "sequence_lens"_a, kOwned,
           "Reverses the first sequence_lens elements of each sequence. None on an error.");
}

void bind_reduction(NetworkClass& network) {
  network
      .def("add_softmax", &N::addSoftMax, "input"_a, kOwned,
           "Adds a softmax along axis rank - 3 (0 if below), or the layer's axes. None on an error.")
      .def("add_ragged_softmax", &N::addRaggedSoftMax, "input"_a, "bounds"_a, kOwned,
           "Adds a softmax of rows whose lengths are in bounds. None on an error.")
      .def("add_reduce", &N::addReduce, "input"_a, "op"_a, "axes"_a, "keep_dims"_a, kOwned,
           "Combines the elements along the axes whose bits are set. None on an error.")
      .def("add_matrix_multiply", &N::addMatrixMultiply, "input0"_a, "op0"_a, "input1"_a, "op1"_a, kOwned,
           "Adds matrix products of the last axes; the other axes are broadcast. None on an error.")
      .def("add_einsum", &add_einsum, "inputs"_a, "equation"_a, kOwned,
           "Adds a sum of products as an equation says, for instance 'ij,jk->ik'. None on an error.")
      .def("add_normalization", &N::addNormalization, "input"_a, "scale"_a, "bias"_a, "axesMask"_a, kOwned,
           "Normalizes along the axes whose bits are set. None on an error.")
      .def("add_normalization_v2", &N::addNormalizationV2, "input"_a, "scale"_a, "bias"_a, "axesMask"_a, kOwned,
           "As add_normalization, with scale and bias that have the extents of the normalized axes. None on an error.")
      .def("add_cumulative", &N::addCumulative, "input"_a, "axis"_a, "op"_a, "exclusive"_a, "reverse"_a, kOwned,
           "Adds running sums along an axis, which a constant names. None on an error.");
}

}  // namespace

void bind_network_layers(NetworkClass& network) {
  network
      .def("add_pooling_nd", &N::addPoolingNd, "input"_a, "type"_a, "window_size"_a, kOwned,
           "Adds pooling of windows of 2 or 3 extents. None on an error.")
      .def("add_lrn", &N::addLRN, "input"_a, "window"_a, "alpha"_a, "beta"_a, "k"_a, kOwned,
           "Adds local response normalization over an odd window of channels. None on an error.")
      .def("add_loop", &N::addLoop, kOwned, "Adds a loop; its layers tell its boundary. None on an error.")
      .def("add_if_conditional", &N::addIfConditional, kOwned,
           "Adds a conditional; its layers tell its boundary. None on an error.");
  bind_pointwise(network);
  bind_movement(network);
  bind_reduction(network);
}

}  // namespace kiln::python
