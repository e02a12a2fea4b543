// Layers that move elements and compute none: shuffles, slices, gathers, resizes and the like.

#include <NvInfer.h>
#include <nanobind/stl/vector.h>

#include "layer_class.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

void bind_shuffle(nb::module_& m) {
  using L = IShuffleLayer;
  layer_class<L>(m, "IShuffleLayer", "Transposes, then reshapes, then transposes again; each step is optional.")
      .def_prop_rw("first_transpose", &L::getFirstTranspose, &L::setFirstTranspose,
                   "Permutation before the reshape: output axis i is input axis first_transpose[i].")
      .def_prop_rw("reshape_dims", &L::getReshapeDimensions, &L::setReshapeDimensions,
                   "Extents to reshape to: -1 (once) is what remains, 0 copies the input's unless zero_is_placeholder "
                   "is False. Not valid where input 1 has the extents.")
      .def_prop_rw("second_transpose", &L::getSecondTranspose, &L::setSecondTranspose,
                   "Permutation behind the reshape.")
      .def_prop_rw("zero_is_placeholder", &L::getZeroIsPlaceholder, &L::setZeroIsPlaceholder,
                   "Whether an extent of 0 in reshape_dims stands for the input's; True by default.")
      .def("set_input", &L::setInput, "index"_a, "tensor"_a,
           "Replaces input 0, the data, or input 1, a shape tensor with the extents to reshape to.");
}

void bind_slice(nb::module_& m) {
  using L = ISliceLayer;
  layer_class<L>(m, "ISliceLayer", "Takes elements at regular distances out of a tensor.")
      .def_prop_rw("start", &L::getStart, &L::setStart, "Index of the first element, an extent an axis.")
      .def_prop_rw("shape", &L::getSize, &L::setSize, "Number of elements of each axis.")
      .def_prop_rw("stride", &L::getStride, &L::setStride, "Distance of neighbours of each axis; may be negative.")
      .def_prop_rw("mode", &L::getMode, &L::setMode, "SampleMode: what is taken from outside of the input.")
      .def("set_input", &L::setInput, "index"_a, "tensor"_a,
           "Replaces input 0, the data, or gives start (1), shape (2), stride (3), the value to fill with (4) or axes "
           "(5) as tensors.")
      .def_prop_rw("axes", &L::getAxes, &L::setAxes,
                   "Axes that start, shape and stride are about; all axes where it is not set.");
}

// Resize's scales are not set where getScales says -1; Python sees an empty list.
std::vector<float> resize_scales(const IResizeLayer& self) {
  const int32_t count = self.getScales(0, nullptr);
  if (count <= 0) return {};
  std::vector<float> scales(static_cast<size_t>(count), 1.0F);
  self.getScales(count, scales.data());
  return scales;
}
void set_resize_scales(IResizeLayer& self, const std::vector<float>& scales) {
  self.setScales(scales.data(), static_cast<int32_t>(scales.size()));
}

void bind_resize(nb::module_& m) {
  using L = IResizeLayer;
  layer_class<L>(m, "IResizeLayer", "Changes the extents of a tensor and interpolates.")
      .def_prop_rw("shape", &L::getOutputDimensions, &L::setOutputDimensions,
                   "Extents of the output. Not valid where scales or input 1 decide.")
      .def_prop_rw("scales", &resize_scales, &set_resize_scales,
                   "Output extents over input extents, a number an axis; empty where extents were set.")
      .def_prop_rw("resize_mode", &L::getResizeMode, &L::setResizeMode, "InterpolationMode; NEAREST by default.")
      .def_prop_rw("coordinate_transformation", &L::getCoordinateTransformation, &L::setCoordinateTransformation,
                   "ResizeCoordinateTransformation: where an output element lies in the input.")
      .def_prop_rw("selector_for_single_pixel", &L::getSelectorForSinglePixel, &L::setSelectorForSinglePixel,
                   "ResizeSelector: where an axis with one output element samples.")
      .def_prop_rw("nearest_rounding", &L::getNearestRounding, &L::setNearestRounding,
                   "ResizeRoundMode: which element is nearest.")
      .def_prop_rw("exclude_outside", &L::getExcludeOutside, &L::setExcludeOutside,
                   "Whether elements outside of the input have no weight; for CUBIC.")
      .def_prop_rw("cubic_coeff", &L::getCubicCoeff, &L::setCubicCoeff, "Coefficient of CUBIC; -0.75 by default.")
      .def("set_input", &L::setInput, "index"_a, "tensor"_a,
           "Replaces input 0, the data, or input 1, a shape tensor with the extents of the output.");
}

void bind_by_index(nb::module_& m) {
  layer_class<IGatherLayer>(m, "IGatherLayer", "Takes the elements of a tensor that indices name.")
      .def_prop_rw("axis", &IGatherLayer::getGatherAxis, &IGatherLayer::setGatherAxis,
                   "Axis that is indexed; modes DEFAULT and ELEMENT.")
      .def_prop_rw("num_elementwise_dims", &IGatherLayer::getNbElementWiseDims, &IGatherLayer::setNbElementWiseDims,
                   "Number of leading axes that data and indices share.")
      .def_prop_rw("mode", &IGatherLayer::getMode, &IGatherLayer::setMode, "GatherMode: how indices name elements.");
  layer_class<IScatterLayer>(m, "IScatterLayer", "Writes updates into a copy of a tensor, where indices say.")
      .def_prop_rw("axis", &IScatterLayer::getAxis, &IScatterLayer::setAxis, "Axis that is indexed; mode ELEMENT.")
      .def_prop_rw("mode", &IScatterLayer::getMode, &IScatterLayer::setMode, "ScatterMode: how indices name elements.");
  layer_class<IOneHotLayer>(m, "IOneHotLayer", "Turns indices into vectors of which one element is on.")
      .def_prop_rw("axis", &IOneHotLayer::getAxis, &IOneHotLayer::setAxis, "Axis of the vectors in the output.");
  layer_class<IReverseSequenceLayer>(m, "IReverseSequenceLayer",
                                     "Reverses the first elements of each sequence; input 1 has the lengths.")
      .def_prop_rw("batch_axis", &IReverseSequenceLayer::getBatchAxis, &IReverseSequenceLayer::setBatchAxis,
                   "Axis of the sequences; 1 by default.")
      .def_prop_rw("sequence_axis", &IReverseSequenceLayer::getSequenceAxis, &IReverseSequenceLayer::setSequenceAxis,
                   "Axis along which elements are reversed; 0 by default.");
  layer_class<IGridSampleLayer>(m, "IGridSampleLayer", "Samples images at the positions of a grid.")
      .def_prop_rw("interpolation_mode", &IGridSampleLayer::getInterpolationMode,
                   &IGridSampleLayer::setInterpolationMode, "InterpolationMode; LINEAR by default.")
      .def_prop_rw("align_corners", &IGridSampleLayer::getAlignCorners, &IGridSampleLayer::setAlignCorners,
                   "Whether -1 and 1 are the centres of the corner pixels, not the corners of the image.")
      .def_prop_rw("sample_mode", &IGridSampleLayer::getSampleMode, &IGridSampleLayer::setSampleMode,
                   "SampleMode: what is taken from outside of the image.");
}

void bind_axes(nb::module_& m) {
  layer_class<IConcatenationLayer>(m, "IConcatenationLayer", "Joins tensors along an axis.")
      .def_prop_rw("axis", &IConcatenationLayer::getAxis, &IConcatenationLayer::setAxis, "Axis that is joined.");
  layer_class<ISqueezeLayer>(m, "ISqueezeLayer", "Removes axes of extent 1.")
      .def("set_input", &ISqueezeLayer::setInput, "index"_a, "tensor"_a,
           "Replaces input 0, the data, or input 1, the axes: constants of INT64.");
  layer_class<IUnsqueezeLayer>(m, "IUnsqueezeLayer", "Inserts axes of extent 1.")
      .def("set_input", &IUnsqueezeLayer::setInput, "index"_a, "tensor"_a,
           "Replaces input 0, the data, or input 1, the axes: constants of INT64.");
  layer_class<IShapeLayer>(m, "IShapeLayer", "The extents of a tensor, as a tensor of INT64.");
}

}  // namespace

void bind_layers_movement(nb::module_& m) {
  bind_shuffle(m);
  bind_slice(m);
  bind_resize(m);
  bind_by_index(m);
  bind_axes(m);
}

}  // namespace kiln::python
