// Layers that move a window over images (convolution, deconvolution, pooling, LRN), and those that scale and pad
// images.

#include <NvInfer.h>

#include "kept_weights.h"
#include "layer_class.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

/// A getter that shows weights as a flat array.
template <class L>
auto shown(Weights (L::*get)() const) {
  return [get](const L& self) { return weights_for_python((self.*get)(), self); };
}

/// A setter of weights that keeps their elements alive.
template <class L>
auto kept(void (L::*set)(Weights)) {
  return [set](nb::pointer_and_handle<L> self, WeightsArgument weights) {
    keep_and_set({self.p, self.h}, std::move(weights), [&](const Weights& w) { (self.p->*set)(w); });
  };
}

/// The properties that convolution and deconvolution share: everything but their meaning.
template <class L>
void bind_filter_layer(nb::module_& m, const char* name, const char* description) {
  layer_class<L>(m, name, description)
      .def_prop_rw("num_output_maps", &L::getNbOutputMaps, &L::setNbOutputMaps, "Number of output channels.")
      .def_prop_rw("pre_padding", &L::getPrePadding, &L::setPrePadding,
                   "Padding before the image, one extent a spatial axis.")
      .def_prop_rw("post_padding", &L::getPostPadding, &L::setPostPadding,
                   "Padding behind the image, one extent a spatial axis.")
      .def_prop_rw("padding_mode", &L::getPaddingMode, &L::setPaddingMode,
                   "How extents are rounded; the SAME modes choose the padding and override it.")
      .def_prop_rw("num_groups", &L::getNbGroups, &L::setNbGroups,
                   "Number of groups of channels that do not see each other; it divides both numbers of channels.")
      .def_prop_rw("kernel", shown(&L::getKernelWeights), kept(&L::setKernelWeights),
                   "Kernel weights, shown as a flat array. Empty: the kernel is input 1.")
      .def_prop_rw("bias", shown(&L::getBiasWeights), kept(&L::setBiasWeights),
                   "Bias, a number a channel, shown as a flat array. Empty: no bias, or input 2.")
      .def_prop_rw("kernel_size_nd", &L::getKernelSizeNd, &L::setKernelSizeNd, "Kernel size, 2 or 3 extents.")
      .def_prop_rw("stride_nd", &L::getStrideNd, &L::setStrideNd, "Strides, 1 by default.")
      .def_prop_rw("padding_nd", &L::getPaddingNd, &L::setPaddingNd,
                   "Padding before and behind the image at once; reads the padding before it.")
      .def_prop_rw("dilation_nd", &L::getDilationNd, &L::setDilationNd,
                   "Distances of the kernel's elements, 1 by default.");
}

void bind_pooling(nb::module_& m) {
  using L = IPoolingLayer;
  layer_class<L>(m, "IPoolingLayer", "The largest or the mean value of each window of an image.")
      .def_prop_rw("type", &L::getPoolingType, &L::setPoolingType, "PoolingType: what is made of a window.")
      .def_prop_rw("pre_padding", &L::getPrePadding, &L::setPrePadding,
                   "Padding before the image, one extent a spatial axis.")
      .def_prop_rw("post_padding", &L::getPostPadding, &L::setPostPadding,
                   "Padding behind the image, one extent a spatial axis.")
      .def_prop_rw("padding_mode", &L::getPaddingMode, &L::setPaddingMode,
                   "How extents are rounded; the SAME modes choose the padding and override it.")
      .def_prop_rw("blend_factor", &L::getBlendFactor, &L::setBlendFactor,
                   "For MAX_AVERAGE_BLEND: the share of the mean; the largest value has the rest.")
      .def_prop_rw("average_count_excludes_padding", &L::getAverageCountExcludesPadding,
                   &L::setAverageCountExcludesPadding, "Whether means leave out the padding; True by default.")
      .def_prop_rw("window_size_nd", &L::getWindowSizeNd, &L::setWindowSizeNd, "Window, 2 or 3 extents.")
      .def_prop_rw("stride_nd", &L::getStrideNd, &L::setStrideNd, "Strides, 1 by default.")
      .def_prop_rw("padding_nd", &L::getPaddingNd, &L::setPaddingNd,
                   "Padding before and behind the image at once; reads the padding before it.");
}

void bind_scale(nb::module_& m) {
  using L = IScaleLayer;
  layer_class<L>(m, "IScaleLayer", "(x * scale + shift) ** power, with constants.")
      .def_prop_rw("mode", &L::getMode, &L::setMode, "ScaleMode: one constant for all, a channel or an element.")
      .def_prop_rw("shift", shown(&L::getShift), kept(&L::setShift), "What is added; empty: 0.")
      .def_prop_rw("scale", shown(&L::getScale), kept(&L::setScale), "What is multiplied by; empty: 1.")
      .def_prop_rw("power", shown(&L::getPower), kept(&L::setPower), "The exponent; empty: 1.")
      .def_prop_rw("channel_axis", &L::getChannelAxis, &L::setChannelAxis, "Axis of the channels.");
}

}  // namespace

void bind_layers_window(nb::module_& m) {
  bind_filter_layer<IConvolutionLayer>(m, "IConvolutionLayer",
                                       "A convolution; the kernel's extents are [out, in / groups, spatial...].");
  bind_filter_layer<IDeconvolutionLayer>(
      m, "IDeconvolutionLayer", "A transposed convolution; the kernel's extents are [in, out / groups, spatial...].");
  bind_pooling(m);
  layer_class<ILRNLayer>(m, "ILRNLayer", "Local response normalization over a window of channels.")
      .def_prop_rw("window_size", &ILRNLayer::getWindowSize, &ILRNLayer::setWindowSize, "Number of channels, odd.")
      .def_prop_rw("alpha", &ILRNLayer::getAlpha, &ILRNLayer::setAlpha, "Factor of the sum of squares.")
      .def_prop_rw("beta", &ILRNLayer::getBeta, &ILRNLayer::setBeta, "Exponent.")
      .def_prop_rw("k", &ILRNLayer::getK, &ILRNLayer::setK, "What is added to the sum.");
  bind_scale(m);
  layer_class<IPaddingLayer>(m, "IPaddingLayer", "Adds zeros around images, or cuts their borders off.")
      .def_prop_rw("pre_padding_nd", &IPaddingLayer::getPrePaddingNd, &IPaddingLayer::setPrePaddingNd,
                   "Zeros before each of the last two axes; negative numbers cut.")
      .def_prop_rw("post_padding_nd", &IPaddingLayer::getPostPaddingNd, &IPaddingLayer::setPostPaddingNd,
                   "Zeros behind each of the last two axes; negative numbers cut.");
  layer_class<IConstantLayer>(m, "IConstantLayer", "A tensor of constants.")
      .def_prop_rw("weights", shown(&IConstantLayer::getWeights), kept(&IConstantLayer::setWeights),
                   "The constants, shown as a flat array; as many as the shape has elements.")
      .def_prop_rw("shape", &IConstantLayer::getDimensions, &IConstantLayer::setDimensions, "Extents of the tensor.");
}

}  // namespace kiln::python
