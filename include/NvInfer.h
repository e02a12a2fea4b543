// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The build side of the API: networks, layers, configurations, builders; it includes the run side.

#ifndef KILN_NV_INFER_H
#define KILN_NV_INFER_H

#include "NvInferLegacyDims.h"
#include "NvInferRuntime.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

//! Creates a builder for headers of the given version; call nvinfer1::createInferBuilder instead.
extern "C" TENSORRTAPI void* createInferBuilder_INTERNAL(void* logger, int32_t version) noexcept;

namespace nvinfer1 {

//! An order of axes: output axis i is input axis order[i].
struct Permutation {
  int32_t order[Dims::MAX_DIMS];  //!< For every output axis its input axis.
};

//! A value of a network: an input, or what a layer computes.
class ITensor : public INoCopy {
 public:
  //! Name of the tensor, unique in the network; at most 4096 characters.
  void setName(char const* name) noexcept { mImpl->setName(name); }
  //! Name of the tensor.
  char const* getName() const noexcept { return mImpl->getName(); }
  //! Extents of an input, -1 where they are known at run time; an error for other tensors.
  void setDimensions(Dims const& dimensions) noexcept { mImpl->setDimensions(dimensions); }
  //! Extents, -1 where they are known at run time; nbDims is -1 if the network has an error before this tensor.
  Dims getDimensions() const noexcept { return mImpl->getDimensions(); }
  //! Type of the elements. Deprecated: use addCast or a layer's setToType.
  TRT_DEPRECATED void setType(DataType type) noexcept { mImpl->setType(type); }
  //! Type of the elements.
  DataType getType() const noexcept { return mImpl->getType(); }
  //! Range for INT8; false on an error. Deprecated: use explicit quantization.
  TRT_DEPRECATED bool setDynamicRange(float min, float max) noexcept { return mImpl->setDynamicRange(min, max); }
  //! Whether it is an input of the network.
  bool isNetworkInput() const noexcept { return mImpl->isNetworkInput(); }
  //! Whether it is an output of the network.
  bool isNetworkOutput() const noexcept { return mImpl->isNetworkOutput(); }
  //! Nothing. Deprecated: there are no implicit batches.
  TRT_DEPRECATED void setBroadcastAcrossBatch(bool broadcastAcrossBatch) noexcept {
    mImpl->setBroadcastAcrossBatch(broadcastAcrossBatch);
  }
  //! Always false. Deprecated: there are no implicit batches.
  TRT_DEPRECATED bool getBroadcastAcrossBatch() const noexcept { return mImpl->getBroadcastAcrossBatch(); }
  //! Memory that holds the tensor.
  TensorLocation getLocation() const noexcept { return mImpl->getLocation(); }
  //! Memory that is to hold the tensor. Deprecated: it follows from the tensor's use.
  TRT_DEPRECATED void setLocation(TensorLocation location) noexcept { mImpl->setLocation(location); }
  //! Whether a range for INT8 is set. Deprecated: use explicit quantization.
  TRT_DEPRECATED bool dynamicRangeIsSet() const noexcept { return mImpl->dynamicRangeIsSet(); }
  //! Forgets the range for INT8.
  void resetDynamicRange() noexcept { mImpl->resetDynamicRange(); }
  //! Least value of the range; not a number if none is set.
  float getDynamicRangeMin() const noexcept { return mImpl->getDynamicRangeMin(); }
  //! Largest value of the range; not a number if none is set.
  float getDynamicRangeMax() const noexcept { return mImpl->getDynamicRangeMax(); }
  //! Layouts that an input or output may have, as bits; the builder picks one of them.
  void setAllowedFormats(TensorFormats formats) noexcept { mImpl->setAllowedFormats(formats); }
  //! What setAllowedFormats set; all by default, of which the builder takes kLINEAR.
  TensorFormats getAllowedFormats() const noexcept { return mImpl->getAllowedFormats(); }
  //! Whether its values are needed to know shapes.
  bool isShapeTensor() const noexcept { return mImpl->isShapeTensor(); }
  //! Whether it is computed when the engine runs.
  bool isExecutionTensor() const noexcept { return mImpl->isExecutionTensor(); }
  //! Name of an extent of an input; extents of one name are equal.
  void setDimensionName(int32_t index, char const* name) noexcept { mImpl->setDimensionName(index, name); }
  //! Name of an extent; null if it has none.
  char const* getDimensionName(int32_t index) const noexcept { return mImpl->getDimensionName(index); }

 protected:
  virtual ~ITensor() noexcept = default;

  apiv::VTensor* mImpl;
};

//! Which class a layer has.
enum class LayerType : int32_t {
  kCONVOLUTION = 0,          //!< IConvolutionLayer.
  kCAST = 1,                 //!< ICastLayer.
  kACTIVATION = 2,           //!< IActivationLayer.
  kPOOLING = 3,              //!< IPoolingLayer.
  kLRN = 4,                  //!< ILRNLayer.
  kSCALE = 5,                //!< IScaleLayer.
  kSOFTMAX = 6,              //!< ISoftMaxLayer.
  kDECONVOLUTION = 7,        //!< IDeconvolutionLayer.
  kCONCATENATION = 8,        //!< IConcatenationLayer.
  kELEMENTWISE = 9,          //!< IElementWiseLayer.
  kPLUGIN = 10,              //!< A plugin layer of an interface that is gone.
  kUNARY = 11,               //!< IUnaryLayer.
  kPADDING = 12,             //!< IPaddingLayer.
  kSHUFFLE = 13,             //!< IShuffleLayer.
  kREDUCE = 14,              //!< IReduceLayer.
  kTOPK = 15,                //!< ITopKLayer.
  kGATHER = 16,              //!< IGatherLayer.
  kMATRIX_MULTIPLY = 17,     //!< IMatrixMultiplyLayer.
  kRAGGED_SOFTMAX = 18,      //!< IRaggedSoftMaxLayer.
  kCONSTANT = 19,            //!< IConstantLayer.
  kIDENTITY = 20,            //!< IIdentityLayer.
  kPLUGIN_V2 = 21,           //!< IPluginV2Layer.
  kSLICE = 22,               //!< ISliceLayer.
  kSHAPE = 23,               //!< IShapeLayer.
  kPARAMETRIC_RELU = 24,     //!< IParametricReLULayer.
  kRESIZE = 25,              //!< IResizeLayer.
  kTRIP_LIMIT = 26,          //!< ITripLimitLayer.
  kRECURRENCE = 27,          //!< IRecurrenceLayer.
  kITERATOR = 28,            //!< IIteratorLayer.
  kLOOP_OUTPUT = 29,         //!< ILoopOutputLayer.
  kSELECT = 30,              //!< ISelectLayer.
  kFILL = 31,                //!< IFillLayer.
  kQUANTIZE = 32,            //!< IQuantizeLayer.
  kDEQUANTIZE = 33,          //!< IDequantizeLayer.
  kCONDITION = 34,           //!< IConditionLayer.
  kCONDITIONAL_INPUT = 35,   //!< IIfConditionalInputLayer.
  kCONDITIONAL_OUTPUT = 36,  //!< IIfConditionalOutputLayer.
  kSCATTER = 37,             //!< IScatterLayer.
  kEINSUM = 38,              //!< IEinsumLayer.
  kASSERTION = 39,           //!< IAssertionLayer.
  kONE_HOT = 40,             //!< IOneHotLayer.
  kNON_ZERO = 41,            //!< INonZeroLayer.
  kGRID_SAMPLE = 42,         //!< IGridSampleLayer.
  kNMS = 43,                 //!< INMSLayer.
  kREVERSE_SEQUENCE = 44,    //!< IReverseSequenceLayer.
  kNORMALIZATION = 45,       //!< INormalizationLayer.
  kPLUGIN_V3 = 46,           //!< IPluginV3Layer.
  kSQUEEZE = 47,             //!< ISqueezeLayer.
  kUNSQUEEZE = 48,           //!< IUnsqueezeLayer.
  kCUMULATIVE = 49,          //!< ICumulativeLayer.
  kDYNAMIC_QUANTIZE = 50,    //!< IDynamicQuantizeLayer.
  kATTENTION_INPUT = 51,     //!< IAttentionInputLayer.
  kATTENTION_OUTPUT = 52,    //!< IAttentionOutputLayer.
  kROTARY_EMBEDDING = 53,    //!< IRotaryEmbeddingLayer.
  kKVCACHE_UPDATE = 54,      //!< IKVCacheUpdateLayer.
  kMOE = 55,                 //!< IMoELayer.
  kDIST_COLLECTIVE = 56,     //!< IDistCollectiveLayer.
};

template <>
struct impl::EnumMaxImpl<LayerType> : impl::EnumCount<57> {};

//! Base of the layers of a network.
class ILayer : public INoCopy {
 public:
  //! The layer's class.
  LayerType getType() const noexcept { return mLayer->getType(); }
  //! Name of the layer, for messages, profiles and refitting; at most 4096 characters.
  void setName(char const* name) noexcept { mLayer->setName(name); }
  //! Name of the layer.
  char const* getName() const noexcept { return mLayer->getName(); }
  //! Number of inputs.
  int32_t getNbInputs() const noexcept { return mLayer->getNbInputs(); }
  //! The input of this index; null if out of range or left out.
  ITensor* getInput(int32_t index) const noexcept { return mLayer->getInput(index); }
  //! Number of outputs.
  int32_t getNbOutputs() const noexcept { return mLayer->getNbOutputs(); }
  //! The output of this index; null if out of range.
  ITensor* getOutput(int32_t index) const noexcept { return mLayer->getOutput(index); }
  //! Replaces the input of this index; an error if the layer has no such input.
  void setInput(int32_t index, ITensor& tensor) noexcept { mLayer->setInput(index, tensor); }
  //! Type to compute in. Deprecated: use a strongly typed network.
  TRT_DEPRECATED void setPrecision(DataType dataType) noexcept { mLayer->setPrecision(dataType); }
  //! Type to compute in.
  DataType getPrecision() const noexcept { return mLayer->getPrecision(); }
  //! Whether setPrecision was called. Deprecated: use a strongly typed network.
  TRT_DEPRECATED bool precisionIsSet() const noexcept { return mLayer->precisionIsSet(); }
  //! Forgets setPrecision. Deprecated: use a strongly typed network.
  TRT_DEPRECATED void resetPrecision() noexcept { mLayer->resetPrecision(); }
  //! Type of an output. Deprecated: use a strongly typed network and addCast.
  TRT_DEPRECATED void setOutputType(int32_t index, DataType dataType) noexcept {
    mLayer->setOutputType(index, dataType);
  }
  //! Type of an output; kFLOAT if there is no such output.
  DataType getOutputType(int32_t index) const noexcept { return mLayer->getOutputType(index); }
  //! Whether setOutputType was called. Deprecated: use a strongly typed network.
  TRT_DEPRECATED bool outputTypeIsSet(int32_t index) const noexcept { return mLayer->outputTypeIsSet(index); }
  //! Forgets setOutputType. Deprecated: use a strongly typed network.
  TRT_DEPRECATED void resetOutputType(int32_t index) noexcept { mLayer->resetOutputType(index); }
  //! Text that the engine inspector shows with the layer.
  void setMetadata(char const* metadata) noexcept { mLayer->setMetadata(metadata); }
  //! What setMetadata set; empty by default.
  char const* getMetadata() const noexcept { return mLayer->getMetadata(); }
  //! Number of devices that run the layer; false if less than 1.
  bool setNbRanks(int32_t nbRanks) noexcept { return mLayer->setNbRanks(nbRanks); }
  //! What setNbRanks set; 1 by default.
  int32_t getNbRanks() const noexcept { return mLayer->getNbRanks(); }

 protected:
  virtual ~ILayer() noexcept = default;

  apiv::VLayer* mLayer;
};

//! Function that an activation layer applies to every element x.
enum class ActivationType : int32_t {
  kRELU = 0,               //!< max(0, x).
  kSIGMOID = 1,            //!< 1 / (1 + exp(-x)).
  kTANH = 2,               //!< tanh(x).
  kLEAKY_RELU = 3,         //!< x if x >= 0, else alpha * x.
  kELU = 4,                //!< x if x >= 0, else alpha * (exp(x) - 1).
  kSELU = 5,               //!< beta * x if x > 0, else beta * (alpha * exp(x) - alpha).
  kSOFTSIGN = 6,           //!< x / (1 + |x|).
  kSOFTPLUS = 7,           //!< alpha * log(exp(beta * x) + 1).
  kCLIP = 8,               //!< x limited to [alpha, beta].
  kHARD_SIGMOID = 9,       //!< alpha * x + beta, limited to [0, 1].
  kSCALED_TANH = 10,       //!< alpha * tanh(beta * x).
  kTHRESHOLDED_RELU = 11,  //!< x if x > alpha, else 0.
  kGELU_ERF = 12,          //!< 0.5 * x * (1 + erf(x / sqrt(2))).
  kGELU_TANH = 13,         //!< 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
};

template <>
struct impl::EnumMaxImpl<ActivationType> : impl::EnumCount<14> {};

//! A function of one variable, applied to every element.
class IActivationLayer : public ILayer {
 public:
  //! The function to apply.
  void setActivationType(ActivationType type) noexcept { mImpl->setActivationType(type); }
  //! The function that is applied.
  ActivationType getActivationType() const noexcept { return mImpl->getActivationType(); }
  //! First parameter of functions that have one; 0 until set.
  void setAlpha(float alpha) noexcept { mImpl->setAlpha(alpha); }
  //! Second parameter of functions that have two; 0 until set.
  void setBeta(float beta) noexcept { mImpl->setBeta(beta); }
  //! What setAlpha set.
  float getAlpha() const noexcept { return mImpl->getAlpha(); }
  //! What setBeta set.
  float getBeta() const noexcept { return mImpl->getBeta(); }

 protected:
  virtual ~IActivationLayer() noexcept = default;

  apiv::VActivationLayer* mImpl;
};

//! Stops with an error unless a condition holds that is known when shapes are.
class IAssertionLayer : public ILayer {
 public:
  //! Sets the message of the error.
  void setMessage(char const* message) noexcept { mImpl->setMessage(message); }
  //! Returns the message of the error.
  char const* getMessage() const noexcept { return mImpl->getMessage(); }

 protected:
  virtual ~IAssertionLayer() noexcept = default;

  apiv::VAssertionLayer* mImpl;
};

//! Converts elements to another type.
class ICastLayer : public ILayer {
 public:
  //! Type of the output.
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  //! What addCast or setToType set.
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  virtual ~ICastLayer() noexcept = default;

  apiv::VCastLayer* mImpl;
};

//! Joins tensors along an axis.
class IConcatenationLayer : public ILayer {
 public:
  //! Axis along which the inputs are joined; the channels of an image until set.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! The axis, counted from the front.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  virtual ~IConcatenationLayer() noexcept = default;

  apiv::VConcatenationLayer* mImpl;
};

//! A tensor of constants.
class IConstantLayer : public ILayer {
 public:
  //! The elements, as many as the dimensions have; they must live until the network is built.
  void setWeights(Weights weights) noexcept { mImpl->setWeights(weights); }
  //! What addConstant or setWeights set.
  Weights getWeights() const noexcept { return mImpl->getWeights(); }
  //! Other extents of the same number of elements.
  void setDimensions(Dims const& dimensions) noexcept { mImpl->setDimensions(dimensions); }
  //! The extents.
  Dims getDimensions() const noexcept { return mImpl->getDimensions(); }

 protected:
  virtual ~IConstantLayer() noexcept = default;

  apiv::VConstantLayer* mImpl;
};

//! How output extents of convolutions and poolings follow from padding.
enum class PaddingMode : int32_t {
  kEXPLICIT_ROUND_DOWN = 0,  //!< Padding as set; a window that does not fit is left out.
  kEXPLICIT_ROUND_UP = 1,    //!< Padding as set; a window that does not fit is filled up.
  kSAME_UPPER = 2,           //!< Output is input / stride, rounded up; an odd element of padding goes to the end.
  kSAME_LOWER = 3,           //!< Output is input / stride, rounded up; an odd element of padding goes to the beginning.
};

template <>
struct impl::EnumMaxImpl<PaddingMode> : impl::EnumCount<4> {};

//! Convolution in two or three dimensions, with strides, padding, dilation and groups.
class IConvolutionLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Number of output channels, at least 1.
  void setNbOutputMaps(int64_t nbOutputMaps) noexcept { mImpl->setNbOutputMaps(nbOutputMaps); }
  //! Number of output channels.
  int64_t getNbOutputMaps() const noexcept { return mImpl->getNbOutputMaps(); }
  //! Groups of channels that do not see each other; 1 until set.
  void setNbGroups(int64_t nbGroups) noexcept { mImpl->setNbGroups(nbGroups); }
  //! What setNbGroups set.
  int64_t getNbGroups() const noexcept { return mImpl->getNbGroups(); }
  //! Elements of the kernel, [outputs, channels / groups, kernel]; empty if input 1 gives them.
  void setKernelWeights(Weights weights) noexcept { mImpl->setKernelWeights(weights); }
  //! The elements of the kernel; empty if input 1 gives them.
  Weights getKernelWeights() const noexcept { return mImpl->getKernelWeights(); }
  //! One element an output channel; empty for no bias, or if input 2 gives it.
  void setBiasWeights(Weights weights) noexcept { mImpl->setBiasWeights(weights); }
  //! The elements of the bias; empty if there is none, or if input 2 gives it.
  Weights getBiasWeights() const noexcept { return mImpl->getBiasWeights(); }
  //! Zeros before the image, for each spatial axis; 0 until set.
  void setPrePadding(Dims const& padding) noexcept { mImpl->setPrePadding(padding); }
  //! What setPrePadding or setPaddingNd set.
  Dims getPrePadding() const noexcept { return mImpl->getPrePadding(); }
  //! Zeros behind the image, for each spatial axis; 0 until set.
  void setPostPadding(Dims const& padding) noexcept { mImpl->setPostPadding(padding); }
  //! What setPostPadding or setPaddingNd set.
  Dims getPostPadding() const noexcept { return mImpl->getPostPadding(); }
  //! Whether padding is as set or follows from the extents; kEXPLICIT_ROUND_DOWN until set.
  void setPaddingMode(PaddingMode paddingMode) noexcept { mImpl->setPaddingMode(paddingMode); }
  //! What setPaddingMode set.
  PaddingMode getPaddingMode() const noexcept { return mImpl->getPaddingMode(); }
  //! Extents of the kernel, for each spatial axis.
  void setKernelSizeNd(Dims const& kernelSize) noexcept { mImpl->setKernelSizeNd(kernelSize); }
  //! Extents of the kernel.
  Dims getKernelSizeNd() const noexcept { return mImpl->getKernelSizeNd(); }
  //! Steps between windows, for each spatial axis; 1 until set.
  void setStrideNd(Dims const& stride) noexcept { mImpl->setStrideNd(stride); }
  //! What setStrideNd set.
  Dims getStrideNd() const noexcept { return mImpl->getStrideNd(); }
  //! Zeros both before and behind the image, for each spatial axis.
  void setPaddingNd(Dims const& padding) noexcept { mImpl->setPaddingNd(padding); }
  //! The zeros before the image.
  Dims getPaddingNd() const noexcept { return mImpl->getPaddingNd(); }
  //! Steps between the elements of a window, for each spatial axis; 1 until set.
  void setDilationNd(Dims const& dilation) noexcept { mImpl->setDilationNd(dilation); }
  //! What setDilationNd set.
  Dims getDilationNd() const noexcept { return mImpl->getDilationNd(); }

 protected:
  virtual ~IConvolutionLayer() noexcept = default;

  apiv::VConvolutionLayer* mImpl;
};

//! How a cumulative layer combines an element with those before it.
enum class CumulativeOperation : int32_t {
  kSUM = 0,  //!< The running sum.
};

template <>
struct impl::EnumMaxImpl<CumulativeOperation> : impl::EnumCount<1> {};

//! Running sums along an axis, including or excluding the element itself, from either end.
class ICumulativeLayer : public ILayer {
 public:
  //! Sets the operation; false on an error.
  bool setOperation(CumulativeOperation op) noexcept { return mImpl->setOperation(op); }
  //! Returns the operation.
  CumulativeOperation getOperation() const noexcept { return mImpl->getOperation(); }
  //! Sets whether an element is left out of its own sum.
  void setExclusive(bool exclusive) noexcept { mImpl->setExclusive(exclusive); }
  //! Returns whether an element is left out of its own sum.
  bool getExclusive() const noexcept { return mImpl->getExclusive(); }
  //! Sets whether sums run from the end.
  void setReverse(bool reverse) noexcept { mImpl->setReverse(reverse); }
  //! Returns whether sums run from the end.
  bool getReverse() const noexcept { return mImpl->getReverse(); }

 protected:
  virtual ~ICumulativeLayer() noexcept = default;

  apiv::VCumulativeLayer* mImpl;
};

//! Transposed convolution: the gradient of a convolution, used to enlarge.
class IDeconvolutionLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Number of output channels, at least 1.
  void setNbOutputMaps(int64_t nbOutputMaps) noexcept { mImpl->setNbOutputMaps(nbOutputMaps); }
  //! Number of output channels.
  int64_t getNbOutputMaps() const noexcept { return mImpl->getNbOutputMaps(); }
  //! Groups of channels that do not see each other; 1 until set.
  void setNbGroups(int64_t nbGroups) noexcept { mImpl->setNbGroups(nbGroups); }
  //! What setNbGroups set.
  int64_t getNbGroups() const noexcept { return mImpl->getNbGroups(); }
  //! Elements of the kernel, [channels, outputs / groups, kernel]; empty if input 1 gives them.
  void setKernelWeights(Weights weights) noexcept { mImpl->setKernelWeights(weights); }
  //! The elements of the kernel; empty if input 1 gives them.
  Weights getKernelWeights() const noexcept { return mImpl->getKernelWeights(); }
  //! One element an output channel; empty for no bias, or if input 2 gives it.
  void setBiasWeights(Weights weights) noexcept { mImpl->setBiasWeights(weights); }
  //! The elements of the bias; empty if there is none, or if input 2 gives it.
  Weights getBiasWeights() const noexcept { return mImpl->getBiasWeights(); }
  //! Elements cut off before the output, for each spatial axis; 0 until set.
  void setPrePadding(Dims const& padding) noexcept { mImpl->setPrePadding(padding); }
  //! What setPrePadding or setPaddingNd set.
  Dims getPrePadding() const noexcept { return mImpl->getPrePadding(); }
  //! Elements cut off behind the output, for each spatial axis; 0 until set.
  void setPostPadding(Dims const& padding) noexcept { mImpl->setPostPadding(padding); }
  //! What setPostPadding or setPaddingNd set.
  Dims getPostPadding() const noexcept { return mImpl->getPostPadding(); }
  //! Whether padding is as set or follows from the extents; kEXPLICIT_ROUND_DOWN until set.
  void setPaddingMode(PaddingMode paddingMode) noexcept { mImpl->setPaddingMode(paddingMode); }
  //! What setPaddingMode set.
  PaddingMode getPaddingMode() const noexcept { return mImpl->getPaddingMode(); }
  //! Extents of the kernel, for each spatial axis.
  void setKernelSizeNd(Dims const& kernelSize) noexcept { mImpl->setKernelSizeNd(kernelSize); }
  //! Extents of the kernel.
  Dims getKernelSizeNd() const noexcept { return mImpl->getKernelSizeNd(); }
  //! Steps between the places of input elements in the output; 1 until set.
  void setStrideNd(Dims const& stride) noexcept { mImpl->setStrideNd(stride); }
  //! What setStrideNd set.
  Dims getStrideNd() const noexcept { return mImpl->getStrideNd(); }
  //! Elements cut off both before and behind the output.
  void setPaddingNd(Dims const& padding) noexcept { mImpl->setPaddingNd(padding); }
  //! The elements cut off before the output.
  Dims getPaddingNd() const noexcept { return mImpl->getPaddingNd(); }
  //! Steps between the elements of the kernel; 1 until set.
  void setDilationNd(Dims const& dilation) noexcept { mImpl->setDilationNd(dilation); }
  //! What setDilationNd set.
  Dims getDilationNd() const noexcept { return mImpl->getDilationNd(); }

 protected:
  virtual ~IDeconvolutionLayer() noexcept = default;

  apiv::VDeconvolutionLayer* mImpl;
};

//! Quantized values times their scale.
class IDequantizeLayer : public ILayer {
 public:
  //! The axis of the input along which a vector of scales lies; -1: none is set.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  //! Sets that axis, counted from the front. Needed where the scales are a vector of more than one.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! States the extents of a block that shares a scale, one an axis of the input; -1 is the whole axis. Others fail.
  bool setBlockShape(Dims const& blockShape) noexcept { return mImpl->setBlockShape(blockShape); }
  //! The extents that setBlockShape stated; none by default.
  TRT_NODISCARD Dims getBlockShape() const noexcept { return mImpl->getBlockShape(); }
  //! Sets the type of the output: kFLOAT, kHALF or kBF16.
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  //! The type of the output; kFLOAT by default.
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  virtual ~IDequantizeLayer() noexcept = default;

  apiv::VDequantizeLayer* mImpl;
};

//! Exchanges tensors between the devices of a group.
class IDistCollectiveLayer : public ILayer {
 protected:
  virtual ~IDistCollectiveLayer() noexcept = default;

  apiv::VDistCollectiveLayer* mImpl;
};

//! Quantizes in blocks with scales computed from the data; the outputs are values and scales.
class IDynamicQuantizeLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Sets the type of output 0, the values: kFP4, kFP8 or kINT8.
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  //! The type of the values.
  DataType getToType() const noexcept { return mImpl->getToType(); }
  //! Sets the type of output 1, the scales: kFP8, kE8M0 (rounded up to a power of two) or kFLOAT.
  void setScaleType(DataType scaleType) noexcept { mImpl->setScaleType(scaleType); }
  //! The type of the scales.
  DataType getScaleType() const noexcept { return mImpl->getScaleType(); }
  //! Sets the axis that is cut into blocks where no block shape is set. Deprecated: use setBlockShape.
  TRT_DEPRECATED void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! The axis that is cut into blocks; -1 where the layer was made with a block shape.
  TRT_DEPRECATED int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  //! Sets the elements of a block along that axis, whose extent they divide. Deprecated: use setBlockShape.
  TRT_DEPRECATED void setBlockSize(int32_t size) noexcept { mImpl->setBlockSize(size); }
  //! The elements of a block along that axis; 0 where the layer was made with a block shape.
  TRT_DEPRECATED int32_t getBlockSize() const noexcept { return mImpl->getBlockSize(); }
  //! Sets the extents of a block, one an axis of the input; -1 is the whole axis.
  void setBlockShape(Dims const& blockShape) noexcept { mImpl->setBlockShape(blockShape); }
  //! The extents of a block; none where it has an axis and a size instead.
  Dims getBlockShape() const noexcept { return mImpl->getBlockShape(); }

 protected:
  virtual ~IDynamicQuantizeLayer() noexcept = default;

  apiv::VDynamicQuantizeLayer* mImpl;
};

//! A sum of products over indices, as its equation says.
class IEinsumLayer : public ILayer {
 public:
  //! Sets the equation; false on an error.
  bool setEquation(char const* equation) noexcept { return mImpl->setEquation(equation); }
  //! Returns the equation.
  char const* getEquation() const noexcept { return mImpl->getEquation(); }

 protected:
  virtual ~IEinsumLayer() noexcept = default;

  apiv::VEinsumLayer* mImpl;
};

//! Operation on the elements a and b of two tensors.
enum class ElementWiseOperation : int32_t {
  kSUM = 0,        //!< a + b.
  kPROD = 1,       //!< a * b.
  kMAX = 2,        //!< The larger of a and b.
  kMIN = 3,        //!< The smaller of a and b.
  kSUB = 4,        //!< a - b.
  kDIV = 5,        //!< a / b; integers are truncated.
  kPOW = 6,        //!< a to the power b.
  kFLOOR_DIV = 7,  //!< a / b, rounded down.
  kAND = 8,        //!< Both, of booleans.
  kOR = 9,         //!< Either, of booleans.
  kXOR = 10,       //!< One and not the other, of booleans.
  kEQUAL = 11,     //!< Whether a equals b, as a boolean.
  kGREATER = 12,   //!< Whether a is greater than b, as a boolean.
  kLESS = 13,      //!< Whether a is less than b, as a boolean.
};

template <>
struct impl::EnumMaxImpl<ElementWiseOperation> : impl::EnumCount<14> {};

//! A function of two tensors, element by element, with broadcasting.
class IElementWiseLayer : public ILayer {
 public:
  //! The function of two elements.
  void setOperation(ElementWiseOperation op) noexcept { mImpl->setOperation(op); }
  //! The function of two elements.
  ElementWiseOperation getOperation() const noexcept { return mImpl->getOperation(); }

 protected:
  virtual ~IElementWiseLayer() noexcept = default;

  apiv::VElementWiseLayer* mImpl;
};

//! What a fill layer writes.
enum class FillOperation : int32_t {
  kLINSPACE = 0,        //!< A sequence: alpha, alpha + beta, alpha + 2 beta and so on along each axis.
  kRANDOM_UNIFORM = 1,  //!< Random numbers, equally likely in [alpha, beta); each run of a context draws new ones.
  kRANDOM_NORMAL = 2,   //!< Random numbers of the normal distribution with mean alpha and deviation beta, new ones too.
};

template <>
struct impl::EnumMaxImpl<FillOperation> : impl::EnumCount<3> {};

//! A tensor of a sequence or of random numbers.
class IFillLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Extents of the output; input 0 is dropped.
  void setDimensions(Dims const& dimensions) noexcept { mImpl->setDimensions(dimensions); }
  //! What addFill or setDimensions set; nbDims is -1 if input 0 says them.
  Dims getDimensions() const noexcept { return mImpl->getDimensions(); }
  //! How elements are made.
  void setOperation(FillOperation op) noexcept { mImpl->setOperation(op); }
  //! How elements are made.
  FillOperation getOperation() const noexcept { return mImpl->getOperation(); }
  //! First element, lower end or mean; input 1 is dropped. 0 until set.
  void setAlpha(double alpha) noexcept { mImpl->setAlpha(alpha); }
  //! What setAlpha set.
  double getAlpha() const noexcept { return mImpl->getAlpha(); }
  //! Step, upper end or deviation; input 2 is dropped. 1 until set.
  void setBeta(double beta) noexcept { mImpl->setBeta(beta); }
  //! What setBeta set.
  double getBeta() const noexcept { return mImpl->getBeta(); }
  //! As setAlpha, of an output of integers.
  void setAlphaInt64(int64_t alpha) noexcept { mImpl->setAlphaInt64(alpha); }
  //! What setAlphaInt64 set.
  int64_t getAlphaInt64() const noexcept { return mImpl->getAlphaInt64(); }
  //! As setBeta, of an output of integers.
  void setBetaInt64(int64_t beta) noexcept { mImpl->setBetaInt64(beta); }
  //! What setBetaInt64 set.
  int64_t getBetaInt64() const noexcept { return mImpl->getBetaInt64(); }
  //! Whether alpha and beta were set as integers.
  bool isAlphaBetaInt64() const noexcept { return mImpl->isAlphaBetaInt64(); }
  //! Type of the output.
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  //! Type of the output.
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  virtual ~IFillLayer() noexcept = default;

  apiv::VFillLayer* mImpl;
};

//! What the indices of a gather layer choose.
enum class GatherMode : int32_t {
  kDEFAULT = 0,  //!< Slices of the data along one axis, as ONNX Gather.
  kELEMENT = 1,  //!< One element each along one axis, as ONNX GatherElements.
  kND = 2,       //!< Slices at index tuples, as ONNX GatherND.
};

template <>
struct impl::EnumMaxImpl<GatherMode> : impl::EnumCount<3> {};

//! Picks elements or slices by index.
class IGatherLayer : public ILayer {
 public:
  //! Axis of the data that indices are of.
  void setGatherAxis(int32_t axis) noexcept { mImpl->setGatherAxis(axis); }
  //! The axis, counted from the front.
  int32_t getGatherAxis() const noexcept { return mImpl->getGatherAxis(); }
  //! Number of leading axes that data and indices share; 0 until set.
  void setNbElementWiseDims(int32_t elementWiseDims) noexcept { mImpl->setNbElementWiseDims(elementWiseDims); }
  //! What setNbElementWiseDims set.
  int32_t getNbElementWiseDims() const noexcept { return mImpl->getNbElementWiseDims(); }
  //! Whether slices, elements or index tuples are picked.
  void setMode(GatherMode mode) noexcept { mImpl->setMode(mode); }
  //! What is picked.
  GatherMode getMode() const noexcept { return mImpl->getMode(); }

 protected:
  virtual ~IGatherLayer() noexcept = default;

  apiv::VGatherLayer* mImpl;
};

//! How a value between samples is computed.
enum class InterpolationMode : int32_t {
  kNEAREST = 0,  //!< The nearest sample.
  kLINEAR = 1,   //!< Linear along each axis.
  kCUBIC = 2,    //!< Cubic along each axis.
};

template <>
struct impl::EnumMaxImpl<InterpolationMode> : impl::EnumCount<3> {};

//! What is read outside a tensor.
enum class SampleMode : int32_t {
  kSTRICT_BOUNDS = 0,  //!< An error.
  kWRAP = 1,           //!< The tensor repeated.
  kCLAMP = 2,          //!< The nearest element of the tensor.
  kFILL = 3,           //!< A given value; grid samples read 0.
  kREFLECT = 4,        //!< The tensor mirrored at its edges.
};

template <>
struct impl::EnumMaxImpl<SampleMode> : impl::EnumCount<5> {};

//! Samples an image at the positions of a grid.
class IGridSampleLayer : public ILayer {
 public:
  //! Sets how values between pixels are found.
  void setInterpolationMode(InterpolationMode mode) noexcept { mImpl->setInterpolationMode(mode); }
  //! Returns how values between pixels are found.
  InterpolationMode getInterpolationMode() const noexcept { return mImpl->getInterpolationMode(); }
  //! Sets whether -1 and 1 are the centres of the outer pixels, or their edges.
  void setAlignCorners(bool alignCorners) noexcept { mImpl->setAlignCorners(alignCorners); }
  //! Returns whether -1 and 1 are the centres of the outer pixels.
  bool getAlignCorners() const noexcept { return mImpl->getAlignCorners(); }
  //! Sets what lies outside of the image: kFILL (zeros), kCLAMP or kREFLECT; false for another.
  bool setSampleMode(SampleMode mode) noexcept { return mImpl->setSampleMode(mode); }
  //! Returns what lies outside of the image.
  SampleMode getSampleMode() const noexcept { return mImpl->getSampleMode(); }

 protected:
  virtual ~IGridSampleLayer() noexcept = default;

  apiv::VGridSampleLayer* mImpl;
};

//! Passes its input on; with an output type set, converts it.
class IIdentityLayer : public ILayer {
 protected:
  virtual ~IIdentityLayer() noexcept = default;

  apiv::VIdentityLayer* mImpl;
};

//! Layout of a key-value cache.
enum class KVCacheMode : int32_t {
  kLINEAR = 0,  //!< One row after the other, new rows at the write index.
};

template <>
struct impl::EnumMaxImpl<KVCacheMode> : impl::EnumCount<1> {};

//! Writes new keys or values into a cache that lives across executions.
class IKVCacheUpdateLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Sets how rows are laid out, of which kLINEAR is the only way; false on an error.
  bool setCacheMode(KVCacheMode cacheMode) noexcept { return mImpl->setCacheMode(cacheMode); }
  //! Returns how rows are laid out.
  KVCacheMode getCacheMode() const noexcept { return mImpl->getCacheMode(); }

 protected:
  virtual ~IKVCacheUpdateLayer() noexcept = default;

  apiv::VKVCacheUpdateLayer* mImpl;
};

//! Local response normalization across channels.
class ILRNLayer : public ILayer {
 public:
  //! Sets over how many channels squares are summed: odd, in [1, 15].
  void setWindowSize(int64_t windowSize) noexcept { mImpl->setWindowSize(windowSize); }
  //! Returns that number of channels.
  int64_t getWindowSize() const noexcept { return mImpl->getWindowSize(); }
  //! Sets the factor of the mean of squares, in [-1e20, 1e20].
  void setAlpha(float alpha) noexcept { mImpl->setAlpha(alpha); }
  //! Returns that factor.
  float getAlpha() const noexcept { return mImpl->getAlpha(); }
  //! Sets the exponent of the divisor, in [0.01, 1e5].
  void setBeta(float beta) noexcept { mImpl->setBeta(beta); }
  //! Returns that exponent.
  float getBeta() const noexcept { return mImpl->getBeta(); }
  //! Sets what is added to the mean of squares, in [1e-5, 1e10].
  void setK(float k) noexcept { mImpl->setK(k); }
  //! Returns what is added.
  float getK() const noexcept { return mImpl->getK(); }

 protected:
  virtual ~ILRNLayer() noexcept = default;

  apiv::VLRNLayer* mImpl;
};

//! How a matrix product reads an input.
enum class MatrixOperation : int32_t {
  kNONE = 0,       //!< The last two axes are a matrix.
  kTRANSPOSE = 1,  //!< The last two axes are a matrix to be transposed.
  kVECTOR = 2,     //!< The last axis is a vector.
};

template <>
struct impl::EnumMaxImpl<MatrixOperation> : impl::EnumCount<3> {};

//! Matrix products of the last two axes, with broadcasting of the others.
class IMatrixMultiplyLayer : public ILayer {
 public:
  //! How input 0 or 1 is read.
  void setOperation(int32_t index, MatrixOperation op) noexcept { mImpl->setOperation(index, op); }
  //! How input 0 or 1 is read.
  MatrixOperation getOperation(int32_t index) const noexcept { return mImpl->getOperation(index); }

 protected:
  virtual ~IMatrixMultiplyLayer() noexcept = default;

  apiv::VMatrixMultiplyLayer* mImpl;
};

//! Activation of a mixture-of-experts layer.
enum class MoEActType : int32_t {
  kNONE = 0,  //!< None.
  kSILU = 1,  //!< x * sigmoid(x).
};

template <>
struct impl::EnumMaxImpl<MoEActType> : impl::EnumCount<2> {};

//! Mixture of experts: every token goes through a few of many small networks.
class IMoELayer : public ILayer {
 public:
  //! Sets the weights of all experts, [experts, rows, columns] each, and the function of the gate.
  void setGatedWeights(ITensor& fcGateWeights, ITensor& fcUpWeights, ITensor& fcDownWeights,
                       MoEActType activationType) noexcept {
    mImpl->setGatedWeights(fcGateWeights, fcUpWeights, fcDownWeights, activationType);
  }
  //! Sets the biases of all experts, [experts, columns] each.
  void setGatedBiases(ITensor& fcGateBiases, ITensor& fcUpBiases, ITensor& fcDownBiases) noexcept {
    mImpl->setGatedBiases(fcGateBiases, fcUpBiases, fcDownBiases);
  }
  //! Sets the function of the gate.
  void setActivationType(MoEActType activationType) noexcept { mImpl->setActivationType(activationType); }
  //! Returns the function of the gate.
  MoEActType getActivationType() const noexcept { return mImpl->getActivationType(); }
  //! Quantizes inner results, which the last product reads, to kFP8 by a scale: one number, or one an expert.
  void setQuantizationStatic(ITensor& fcDownActivationScale, DataType dataType) noexcept {
    mImpl->setQuantizationStatic(fcDownActivationScale, dataType);
  }
  //! Quantizes inner results to kFP4 or kFP8 by scales of their blocks, which are computed, divided by the scale given,
  //! and kept as kFP8 or kE8M0. A block has the extent 1 along all axes but the last, that of inner channels.
  void setQuantizationDynamicDblQ(ITensor& fcDownActivationDblQScale, DataType dataType, Dims const& blockShape,
                                  DataType dynQOutputScaleType) noexcept {
    mImpl->setQuantizationDynamicDblQ(fcDownActivationDblQScale, dataType, blockShape, dynQOutputScaleType);
  }
  //! Sets the type that inner results are quantized to, kFP4 or kFP8.
  void setQuantizationToType(DataType type) noexcept { mImpl->setQuantizationToType(type); }
  //! Returns the type that inner results are quantized to; kFLOAT: they are not.
  DataType getQuantizationToType() const noexcept { return mImpl->getQuantizationToType(); }
  //! Sets the extents of a block.
  void setQuantizationBlockShape(Dims const& blockShape) noexcept { mImpl->setQuantizationBlockShape(blockShape); }
  //! Returns the extents of a block that shares a scale; no axes: there is none.
  Dims getQuantizationBlockShape() const noexcept { return mImpl->getQuantizationBlockShape(); }
  //! Sets the type of scales that are computed, kFP8 or kE8M0.
  void setDynQOutputScaleType(DataType type) noexcept { mImpl->setDynQOutputScaleType(type); }
  //! Returns the type of scales that are computed at run time.
  DataType getDynQOutputScaleType() const noexcept { return mImpl->getDynQOutputScaleType(); }
  //! Sets limit, alpha and beta at once.
  void setSwigluParams(float limit, float alpha, float beta) noexcept { mImpl->setSwigluParams(limit, alpha, beta); }
  //! Sets the greatest magnitude of the linear part, and the greatest value of the gate; 0 is the least.
  void setSwigluParamLimit(float limit) noexcept { mImpl->setSwigluParamLimit(limit); }
  //! Returns that limit; infinity by default.
  float getSwigluParamLimit() const noexcept { return mImpl->getSwigluParamLimit(); }
  //! Sets the factor within the sigmoid of the gate.
  void setSwigluParamAlpha(float alpha) noexcept { mImpl->setSwigluParamAlpha(alpha); }
  //! Returns that factor; 1 by default.
  float getSwigluParamAlpha() const noexcept { return mImpl->getSwigluParamAlpha(); }
  //! Sets what is added to the linear part.
  void setSwigluParamBeta(float beta) noexcept { mImpl->setSwigluParamBeta(beta); }
  //! Returns what is added; 0 by default.
  float getSwigluParamBeta() const noexcept { return mImpl->getSwigluParamBeta(); }
  using ILayer::setInput;
  //! Replaces an input: the tokens, the experts that they select, or the scores of these.
  void setInput(int32_t index, ITensor& tensor) noexcept { mImpl->setInput(index, tensor); }

 protected:
  virtual ~IMoELayer() noexcept = default;

  apiv::VMoELayer* mImpl;
};

//! How four numbers describe a box.
enum class BoundingBoxFormat : int32_t {
  kCORNER_PAIRS = 0,  //!< Two opposite corners: x1, y1, x2, y2, in any order of the two.
  kCENTER_SIZES = 1,  //!< Centre and extents: x, y, width, height.
};

template <>
struct impl::EnumMaxImpl<BoundingBoxFormat> : impl::EnumCount<2> {};

//! Non-maximum suppression: the best boxes that do not overlap much.
class INMSLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Sets how four numbers describe a box.
  void setBoundingBoxFormat(BoundingBoxFormat fmt) noexcept { mImpl->setBoundingBoxFormat(fmt); }
  //! Returns how four numbers describe a box.
  BoundingBoxFormat getBoundingBoxFormat() const noexcept { return mImpl->getBoundingBoxFormat(); }
  //! Sets how many boxes of the best scores of each class are looked at.
  void setTopKBoxLimit(int32_t limit) noexcept { mImpl->setTopKBoxLimit(limit); }
  //! Returns how many boxes are looked at; INT32_MAX: all, which is the default.
  int32_t getTopKBoxLimit() const noexcept { return mImpl->getTopKBoxLimit(); }
  //! Sets the type of the indices, INT32 (the default) or INT64. Returns whether it is one of them.
  bool setIndicesType(DataType type) noexcept { return mImpl->setIndicesType(type); }
  //! Returns the type of the indices.
  DataType getIndicesType() const noexcept { return mImpl->getIndicesType(); }

 protected:
  virtual ~INMSLayer() noexcept = default;

  apiv::VNMSLayer* mImpl;
};

//! Indices of the elements that are not zero; how many is known only when it runs.
class INonZeroLayer : public ILayer {
 public:
  //! Sets the type of the indices, INT32 (the default) or INT64. Returns whether it is one of them.
  bool setIndicesType(DataType type) noexcept { return mImpl->setIndicesType(type); }
  //! Returns the type of the indices.
  DataType getIndicesType() const noexcept { return mImpl->getIndicesType(); }

 protected:
  virtual ~INonZeroLayer() noexcept = default;

  apiv::VNonZeroLayer* mImpl;
};

//! Normalization to mean 0 and variance 1 over given axes or groups, then scale and bias.
class INormalizationLayer : public ILayer {
 public:
  //! Added to the variance; 1e-5 until set.
  void setEpsilon(float eps) noexcept { mImpl->setEpsilon(eps); }
  //! What setEpsilon set.
  float getEpsilon() const noexcept { return mImpl->getEpsilon(); }
  //! Bits of the axes to normalize over.
  void setAxes(uint32_t axesMask) noexcept { mImpl->setAxes(axesMask); }
  //! Bits of the axes that are normalized over.
  uint32_t getAxes() const noexcept { return mImpl->getAxes(); }
  //! Groups of channels with statistics of their own; 1 until set.
  void setNbGroups(int64_t nbGroups) noexcept { mImpl->setNbGroups(nbGroups); }
  //! What setNbGroups set.
  int64_t getNbGroups() const noexcept { return mImpl->getNbGroups(); }
  //! Type to compute in: kFLOAT, kHALF or kBF16; statistics are never in less than kFLOAT.
  TRT_DEPRECATED void setComputePrecision(DataType type) noexcept { mImpl->setComputePrecision(type); }
  //! What setComputePrecision set; kFLOAT until then.
  TRT_DEPRECATED DataType getComputePrecision() const noexcept { return mImpl->getComputePrecision(); }
  //! Whether addNormalizationV2 made it.
  TRT_NODISCARD bool isV2() const noexcept { return mImpl->isV2(); }

 protected:
  virtual ~INormalizationLayer() noexcept = default;

  apiv::VNormalizationLayer* mImpl;
};

//! Turns indices into vectors with one element set.
class IOneHotLayer : public ILayer {
 public:
  //! Sets the axis of the output that counts classes.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! Returns the axis of the output that counts classes.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  virtual ~IOneHotLayer() noexcept = default;

  apiv::VOneHotLayer* mImpl;
};

//! Adds to or cuts from the last two axes, with zeros.
class IPaddingLayer : public ILayer {
 public:
  //! Zeros before the last two axes; negative numbers cut elements off.
  void setPrePaddingNd(Dims const& padding) noexcept { mImpl->setPrePaddingNd(padding); }
  //! What addPaddingNd or setPrePaddingNd set.
  Dims getPrePaddingNd() const noexcept { return mImpl->getPrePaddingNd(); }
  //! Zeros behind the last two axes; negative numbers cut elements off.
  void setPostPaddingNd(Dims const& padding) noexcept { mImpl->setPostPaddingNd(padding); }
  //! What addPaddingNd or setPostPaddingNd set.
  Dims getPostPaddingNd() const noexcept { return mImpl->getPostPaddingNd(); }

 protected:
  virtual ~IPaddingLayer() noexcept = default;

  apiv::VPaddingLayer* mImpl;
};

//! x if x >= 0, else x times a slope from the second input.
class IParametricReLULayer : public ILayer {
 protected:
  virtual ~IParametricReLULayer() noexcept = default;

  apiv::VParametricReLULayer* mImpl;
};

//! A plugin of version 2. Deprecated: use IPluginV3Layer.
class TRT_DEPRECATED IPluginV2Layer : public ILayer {
 public:
  //! The network's own copy of the plugin, which goes with the network.
  IPluginV2& getPlugin() noexcept { return mImpl->getPlugin(); }

 protected:
  virtual ~IPluginV2Layer() noexcept = default;

  apiv::VPluginV2Layer* mImpl;
};

//! A plugin of version 3.
class IPluginV3Layer : public ILayer {
 public:
  //! The network's own copy of the plugin.
  IPluginV3& getPlugin() noexcept { return mImpl->getPlugin(); }

 protected:
  virtual ~IPluginV3Layer() noexcept = default;

  apiv::VPluginV3Layer* mImpl;
};

//! What a pooling layer computes of a window.
enum class PoolingType : int32_t {
  kMAX = 0,                //!< The largest element.
  kAVERAGE = 1,            //!< The mean.
  kMAX_AVERAGE_BLEND = 2,  //!< (1 - f) * largest + f * mean, f being the blend factor.
};

template <>
struct impl::EnumMaxImpl<PoolingType> : impl::EnumCount<3> {};

//! Largest element or mean of windows in two or three dimensions.
class IPoolingLayer : public ILayer {
 public:
  //! What a window becomes.
  void setPoolingType(PoolingType type) noexcept { mImpl->setPoolingType(type); }
  //! What a window becomes.
  PoolingType getPoolingType() const noexcept { return mImpl->getPoolingType(); }
  //! Part of the mean in a blend, 0 to 1; 0 until set.
  void setBlendFactor(float blendFactor) noexcept { mImpl->setBlendFactor(blendFactor); }
  //! What setBlendFactor set.
  float getBlendFactor() const noexcept { return mImpl->getBlendFactor(); }
  //! Whether a mean divides by the elements of the image alone; true until set.
  void setAverageCountExcludesPadding(bool exclusive) noexcept { mImpl->setAverageCountExcludesPadding(exclusive); }
  //! What setAverageCountExcludesPadding set.
  bool getAverageCountExcludesPadding() const noexcept { return mImpl->getAverageCountExcludesPadding(); }
  //! Elements before the image, for each spatial axis; 0 until set.
  void setPrePadding(Dims const& padding) noexcept { mImpl->setPrePadding(padding); }
  //! What setPrePadding or setPaddingNd set.
  Dims getPrePadding() const noexcept { return mImpl->getPrePadding(); }
  //! Elements behind the image, for each spatial axis; 0 until set.
  void setPostPadding(Dims const& padding) noexcept { mImpl->setPostPadding(padding); }
  //! What setPostPadding or setPaddingNd set.
  Dims getPostPadding() const noexcept { return mImpl->getPostPadding(); }
  //! Whether padding is as set or follows from the extents; kEXPLICIT_ROUND_DOWN until set.
  void setPaddingMode(PaddingMode paddingMode) noexcept { mImpl->setPaddingMode(paddingMode); }
  //! What setPaddingMode set.
  PaddingMode getPaddingMode() const noexcept { return mImpl->getPaddingMode(); }
  //! Extents of the window, for each spatial axis.
  void setWindowSizeNd(Dims const& windowSize) noexcept { mImpl->setWindowSizeNd(windowSize); }
  //! Extents of the window.
  Dims getWindowSizeNd() const noexcept { return mImpl->getWindowSizeNd(); }
  //! Steps between windows, for each spatial axis; 1 until set.
  void setStrideNd(Dims const& stride) noexcept { mImpl->setStrideNd(stride); }
  //! What setStrideNd set.
  Dims getStrideNd() const noexcept { return mImpl->getStrideNd(); }
  //! Elements both before and behind the image, for each spatial axis.
  void setPaddingNd(Dims const& padding) noexcept { mImpl->setPaddingNd(padding); }
  //! The elements before the image.
  Dims getPaddingNd() const noexcept { return mImpl->getPaddingNd(); }

 protected:
  virtual ~IPoolingLayer() noexcept = default;

  apiv::VPoolingLayer* mImpl;
};

//! Divides by a scale and rounds to a quantized type.
class IQuantizeLayer : public ILayer {
 public:
  //! The axis of the input along which a vector of scales lies; -1: none is set.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  //! Sets that axis, counted from the front. Needed where the scales are a vector of more than one.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! States the extents of a block that shares a scale, one an axis of the input; -1 is the whole axis. Others fail.
  bool setBlockShape(Dims const& blockShape) noexcept { return mImpl->setBlockShape(blockShape); }
  //! The extents that setBlockShape stated; none by default.
  TRT_NODISCARD Dims getBlockShape() const noexcept { return mImpl->getBlockShape(); }
  //! Sets the type of the output: kINT8, kFP8, kINT4 or kFP4; kUINT8 is an extension of Kiln.
  void setToType(DataType toType) noexcept { mImpl->setToType(toType); }
  //! The type of the output; kINT8 by default.
  DataType getToType() const noexcept { return mImpl->getToType(); }

 protected:
  virtual ~IQuantizeLayer() noexcept = default;

  apiv::VQuantizeLayer* mImpl;
};

//! Softmax of rows of different lengths; the lengths are the second input.
class IRaggedSoftMaxLayer : public ILayer {
 protected:
  virtual ~IRaggedSoftMaxLayer() noexcept = default;

  apiv::VRaggedSoftMaxLayer* mImpl;
};

//! How elements are combined into one.
enum class ReduceOperation : int32_t {
  kSUM = 0,   //!< Their sum.
  kPROD = 1,  //!< Their product.
  kMAX = 2,   //!< The largest.
  kMIN = 3,   //!< The smallest.
  kAVG = 4,   //!< Their mean.
  kNONE = 5,  //!< Not at all; for collective layers that only move data.
};

template <>
struct impl::EnumMaxImpl<ReduceOperation> : impl::EnumCount<6> {};

//! Combines the elements along given axes.
class IReduceLayer : public ILayer {
 public:
  //! How elements are combined.
  void setOperation(ReduceOperation op) noexcept { mImpl->setOperation(op); }
  //! How elements are combined.
  ReduceOperation getOperation() const noexcept { return mImpl->getOperation(); }
  //! Bits of the axes to combine along; at least one.
  void setReduceAxes(uint32_t reduceAxes) noexcept { mImpl->setReduceAxes(reduceAxes); }
  //! Bits of the axes that are combined along.
  uint32_t getReduceAxes() const noexcept { return mImpl->getReduceAxes(); }
  //! Whether those axes stay, with extent 1.
  void setKeepDimensions(bool keepDimensions) noexcept { mImpl->setKeepDimensions(keepDimensions); }
  //! Whether those axes stay.
  bool getKeepDimensions() const noexcept { return mImpl->getKeepDimensions(); }

 protected:
  virtual ~IReduceLayer() noexcept = default;

  apiv::VReduceLayer* mImpl;
};

//! Where an output element x lies in the input of a resize.
enum class ResizeCoordinateTransformation : int32_t {
  //! x * (in - 1) / (out - 1): the first and last elements lie on each other.
  kALIGN_CORNERS = 0,
  //! x * in / out.
  kASYMMETRIC = 1,
  //! (x + 0.5) * in / out - 0.5: elements are areas, and the corners of the images lie on each other.
  kHALF_PIXEL = 2,
};

template <>
struct impl::EnumMaxImpl<ResizeCoordinateTransformation> : impl::EnumCount<3> {};

//! How a nearest resize rounds a coordinate.
enum class ResizeRoundMode : int32_t {
  kHALF_UP = 0,    //!< To the nearest, halves up.
  kHALF_DOWN = 1,  //!< To the nearest, halves down.
  kFLOOR = 2,      //!< Down.
  kCEIL = 3,       //!< Up.
};

template <>
struct impl::EnumMaxImpl<ResizeRoundMode> : impl::EnumCount<4> {};

//! Where a resize to extent 1 takes its element.
enum class ResizeSelector : int32_t {
  kFORMULA = 0,  //!< Where the coordinate transformation says.
  kUPPER = 1,    //!< The first element.
};

template <>
struct impl::EnumMaxImpl<ResizeSelector> : impl::EnumCount<2> {};

//! Enlarges or shrinks by interpolation.
class IResizeLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Extents of the output; scales and input 1 are dropped.
  void setOutputDimensions(Dims const& dimensions) noexcept { mImpl->setOutputDimensions(dimensions); }
  //! What setOutputDimensions set; nbDims is -1 if scales or input 1 decide.
  Dims getOutputDimensions() const noexcept { return mImpl->getOutputDimensions(); }
  //! A positive scale for each axis; extents and input 1 are dropped.
  void setScales(float const* scales, int32_t nbScales) noexcept { mImpl->setScales(scales, nbScales); }
  //! Copies the scales if there is room for them, and gives their number; 0 if none are set.
  int32_t getScales(int32_t size, float* scales) const noexcept { return mImpl->getScales(size, scales); }
  //! How samples are interpolated; kNEAREST until set.
  void setResizeMode(InterpolationMode interpolationMode) noexcept { mImpl->setResizeMode(interpolationMode); }
  //! What setResizeMode set.
  InterpolationMode getResizeMode() const noexcept { return mImpl->getResizeMode(); }
  //! Where an element of the output lies in the input.
  void setCoordinateTransformation(ResizeCoordinateTransformation coordTransform) noexcept {
    mImpl->setCoordinateTransformation(coordTransform);
  }
  //! What setCoordinateTransformation set.
  ResizeCoordinateTransformation getCoordinateTransformation() const noexcept {
    return mImpl->getCoordinateTransformation();
  }
  //! What an output of extent 1 reads.
  void setSelectorForSinglePixel(ResizeSelector selector) noexcept { mImpl->setSelectorForSinglePixel(selector); }
  //! What setSelectorForSinglePixel set.
  ResizeSelector getSelectorForSinglePixel() const noexcept { return mImpl->getSelectorForSinglePixel(); }
  //! How coordinates are rounded for kNEAREST.
  void setNearestRounding(ResizeRoundMode value) noexcept { mImpl->setNearestRounding(value); }
  //! What setNearestRounding set.
  ResizeRoundMode getNearestRounding() const noexcept { return mImpl->getNearestRounding(); }
  //! Coefficient of the cubic; -0.75 until set.
  void setCubicCoeff(float A) noexcept { mImpl->setCubicCoeff(A); }
  //! What setCubicCoeff set.
  float getCubicCoeff() const noexcept { return mImpl->getCubicCoeff(); }
  //! Whether what lies outside the input has no weight for kCUBIC.
  void setExcludeOutside(bool excludeFlag) noexcept { mImpl->setExcludeOutside(excludeFlag); }
  //! What setExcludeOutside set.
  bool getExcludeOutside() const noexcept { return mImpl->getExcludeOutside(); }

 protected:
  virtual ~IResizeLayer() noexcept = default;

  apiv::VResizeLayer* mImpl;
};

//! Reverses the beginning of every sequence; the lengths are the second input.
class IReverseSequenceLayer : public ILayer {
 public:
  //! Sets the axis of the sequences; 1 until set.
  void setBatchAxis(int32_t batchAxis) noexcept { mImpl->setBatchAxis(batchAxis); }
  //! Returns the axis of the sequences.
  int32_t getBatchAxis() const noexcept { return mImpl->getBatchAxis(); }
  //! Sets the axis along which sequences are reversed; 0 until set.
  void setSequenceAxis(int32_t sequenceAxis) noexcept { mImpl->setSequenceAxis(sequenceAxis); }
  //! Returns the axis along which sequences are reversed.
  int32_t getSequenceAxis() const noexcept { return mImpl->getSequenceAxis(); }

 protected:
  virtual ~IReverseSequenceLayer() noexcept = default;

  apiv::VReverseSequenceLayer* mImpl;
};

//! Rotates pairs of features by angles that depend on the position.
class IRotaryEmbeddingLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Sets whether pairs are neighbours; else they are halves apart.
  void setInterleaved(bool interleaved) noexcept { mImpl->setInterleaved(interleaved); }
  //! Returns whether pairs are neighbours.
  TRT_NODISCARD bool getInterleaved() const noexcept { return mImpl->getInterleaved(); }
  //! Sets how many channels are rotated: even, 0 for all; false on an error.
  TRT_NODISCARD bool setRotaryEmbeddingDim(int32_t rotaryEmbeddingDim) noexcept {
    return mImpl->setRotaryEmbeddingDim(rotaryEmbeddingDim);
  }
  //! Returns how many channels are rotated; 0: all.
  TRT_NODISCARD int32_t getRotaryEmbeddingDim() const noexcept { return mImpl->getRotaryEmbeddingDim(); }

 protected:
  virtual ~IRotaryEmbeddingLayer() noexcept = default;

  apiv::VRotaryEmbeddingLayer* mImpl;
};

//! How many coefficients a scale layer has.
enum class ScaleMode : int32_t {
  kUNIFORM = 0,      //!< One for the tensor.
  kCHANNEL = 1,      //!< One a channel.
  kELEMENTWISE = 2,  //!< One an element.
};

template <>
struct impl::EnumMaxImpl<ScaleMode> : impl::EnumCount<3> {};

//! (x * scale + shift) ^ power, for the tensor, a channel or an element.
class IScaleLayer : public ILayer {
 public:
  //! Which elements share a coefficient.
  void setMode(ScaleMode mode) noexcept { mImpl->setMode(mode); }
  //! Which elements share a coefficient.
  ScaleMode getMode() const noexcept { return mImpl->getMode(); }
  //! What is added; empty for 0.
  void setShift(Weights shift) noexcept { mImpl->setShift(shift); }
  //! What is added.
  Weights getShift() const noexcept { return mImpl->getShift(); }
  //! What is multiplied by; empty for 1.
  void setScale(Weights scale) noexcept { mImpl->setScale(scale); }
  //! What is multiplied by.
  Weights getScale() const noexcept { return mImpl->getScale(); }
  //! The exponent; empty for 1.
  void setPower(Weights power) noexcept { mImpl->setPower(power); }
  //! The exponent.
  Weights getPower() const noexcept { return mImpl->getPower(); }
  //! Axis of the channels.
  int32_t getChannelAxis() const noexcept { return mImpl->getChannelAxis(); }
  //! Axis of the channels, counted from the front.
  void setChannelAxis(int32_t channelAxis) noexcept { mImpl->setChannelAxis(channelAxis); }

 protected:
  virtual ~IScaleLayer() noexcept = default;

  apiv::VScaleLayer* mImpl;
};

//! What the indices of a scatter layer choose.
enum class ScatterMode : int32_t {
  kELEMENT = 0,  //!< One element each along one axis, as ONNX ScatterElements.
  kND = 1,       //!< Slices at index tuples, as ONNX ScatterND.
};

template <>
struct impl::EnumMaxImpl<ScatterMode> : impl::EnumCount<2> {};

//! Writes updates into a copy of the data at given indices.
class IScatterLayer : public ILayer {
 public:
  //! Sets what an index chooses.
  void setMode(ScatterMode mode) noexcept { mImpl->setMode(mode); }
  //! Returns what an index chooses.
  ScatterMode getMode() const noexcept { return mImpl->getMode(); }
  //! Sets the axis along which indices of ScatterMode::kELEMENT count.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! Returns the axis along which indices of ScatterMode::kELEMENT count.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  virtual ~IScatterLayer() noexcept = default;

  apiv::VScatterLayer* mImpl;
};

//! Picks from two tensors by a condition, element by element, with broadcasting.
class ISelectLayer : public ILayer {
 protected:
  virtual ~ISelectLayer() noexcept = default;

  apiv::VSelectLayer* mImpl;
};

//! The extents of a tensor as a tensor of INT64.
class IShapeLayer : public ILayer {
 protected:
  virtual ~IShapeLayer() noexcept = default;

  apiv::VShapeLayer* mImpl;
};

//! Transposes, reshapes, and transposes again; each is optional.
class IShuffleLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Order of axes before the reshape; of its entries those of the rank count.
  void setFirstTranspose(Permutation permutation) noexcept { mImpl->setFirstTranspose(permutation); }
  //! What setFirstTranspose set; the identity until then.
  Permutation getFirstTranspose() const noexcept { return mImpl->getFirstTranspose(); }
  //! Extents to reshape to, one at most being -1; input 1 is dropped.
  void setReshapeDimensions(Dims const& dimensions) noexcept { mImpl->setReshapeDimensions(dimensions); }
  //! What setReshapeDimensions set; nbDims is -1 if nothing was, or if input 1 says them.
  Dims getReshapeDimensions() const noexcept { return mImpl->getReshapeDimensions(); }
  //! Order of axes after the reshape; of its entries those of the rank count.
  void setSecondTranspose(Permutation permutation) noexcept { mImpl->setSecondTranspose(permutation); }
  //! What setSecondTranspose set; the identity until then.
  Permutation getSecondTranspose() const noexcept { return mImpl->getSecondTranspose(); }
  //! Whether 0 among the extents copies the one of the input; true until set.
  void setZeroIsPlaceholder(bool zeroIsPlaceholder) noexcept { mImpl->setZeroIsPlaceholder(zeroIsPlaceholder); }
  //! What setZeroIsPlaceholder set.
  bool getZeroIsPlaceholder() const noexcept { return mImpl->getZeroIsPlaceholder(); }

 protected:
  virtual ~IShuffleLayer() noexcept = default;

  apiv::VShuffleLayer* mImpl;
};

//! Part of a tensor: start, size and stride of every axis.
class ISliceLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Where to begin, for each axis; input 1 is dropped.
  void setStart(Dims const& start) noexcept { mImpl->setStart(start); }
  //! What addSlice or setStart set; nbDims is -1 if input 1 says it.
  Dims getStart() const noexcept { return mImpl->getStart(); }
  //! Extents of the output; input 2 is dropped.
  void setSize(Dims const& size) noexcept { mImpl->setSize(size); }
  //! What addSlice or setSize set; nbDims is -1 if input 2 says it.
  Dims getSize() const noexcept { return mImpl->getSize(); }
  //! Steps between elements, which may be negative; input 3 is dropped.
  void setStride(Dims const& stride) noexcept { mImpl->setStride(stride); }
  //! What addSlice or setStride set; nbDims is -1 if input 3 says it.
  Dims getStride() const noexcept { return mImpl->getStride(); }
  //! What coordinates outside the input read; kSTRICT_BOUNDS until set.
  void setMode(SampleMode mode) noexcept { mImpl->setMode(mode); }
  //! What setMode set.
  SampleMode getMode() const noexcept { return mImpl->getMode(); }
  //! Axes that the other lists are of; all, in order, until set. Input 5 is dropped.
  void setAxes(Dims const& axes) noexcept { mImpl->setAxes(axes); }
  //! What setAxes set; nbDims is -1 if input 5 says it.
  Dims getAxes() const noexcept { return mImpl->getAxes(); }

 protected:
  virtual ~ISliceLayer() noexcept = default;

  apiv::VSliceLayer* mImpl;
};

//! exp(x) divided by its sum along an axis.
class ISoftMaxLayer : public ILayer {
 public:
  //! The bit of the axis; one bit.
  void setAxes(uint32_t axes) noexcept { mImpl->setAxes(axes); }
  //! The bit of the axis.
  uint32_t getAxes() const noexcept { return mImpl->getAxes(); }

 protected:
  virtual ~ISoftMaxLayer() noexcept = default;

  apiv::VSoftMaxLayer* mImpl;
};

//! Removes axes of extent 1.
class ISqueezeLayer : public ILayer {
 public:
  using ILayer::setInput;

 protected:
  virtual ~ISqueezeLayer() noexcept = default;

  apiv::VSqueezeLayer* mImpl;
};

//! Which elements a top-k layer picks.
enum class TopKOperation : int32_t {
  kMAX = 0,  //!< The largest.
  kMIN = 1,  //!< The smallest.
};

template <>
struct impl::EnumMaxImpl<TopKOperation> : impl::EnumCount<2> {};

//! The k largest or smallest elements along an axis and their indices.
class ITopKLayer : public ILayer {
 public:
  using ILayer::setInput;
  //! Sets whether the largest or the smallest elements come first.
  void setOperation(TopKOperation op) noexcept { mImpl->setOperation(op); }
  //! Returns whether the largest or the smallest elements come first.
  TopKOperation getOperation() const noexcept { return mImpl->getOperation(); }
  //! Sets how many elements of each row are kept, and removes a tensor that gave it.
  void setK(int32_t k) noexcept { mImpl->setK(k); }
  //! Returns how many elements are kept; a tensor in input 1 overrides it.
  int32_t getK() const noexcept { return mImpl->getK(); }
  //! Sets the axis of the rows by its bit.
  void setReduceAxes(uint32_t reduceAxes) noexcept { mImpl->setReduceAxes(reduceAxes); }
  //! Returns the bit of the axis of the rows.
  uint32_t getReduceAxes() const noexcept { return mImpl->getReduceAxes(); }
  //! Sets the type of the indices, INT32 or INT64; false on an error.
  bool setIndicesType(DataType type) noexcept { return mImpl->setIndicesType(type); }
  //! Returns the type of the indices.
  DataType getIndicesType() const noexcept { return mImpl->getIndicesType(); }

 protected:
  virtual ~ITopKLayer() noexcept = default;

  apiv::VTopKLayer* mImpl;
};

//! Function of every element x.
enum class UnaryOperation : int32_t {
  kEXP = 0,     //!< exp(x).
  kLOG = 1,     //!< Natural logarithm.
  kSQRT = 2,    //!< Square root.
  kRECIP = 3,   //!< 1 / x.
  kABS = 4,     //!< |x|.
  kNEG = 5,     //!< -x.
  kSIN = 6,     //!< Sine.
  kCOS = 7,     //!< Cosine.
  kTAN = 8,     //!< Tangent.
  kSINH = 9,    //!< Hyperbolic sine.
  kCOSH = 10,   //!< Hyperbolic cosine.
  kASIN = 11,   //!< Inverse sine.
  kACOS = 12,   //!< Inverse cosine.
  kATAN = 13,   //!< Inverse tangent.
  kASINH = 14,  //!< Inverse hyperbolic sine.
  kACOSH = 15,  //!< Inverse hyperbolic cosine.
  kATANH = 16,  //!< Inverse hyperbolic tangent.
  kCEIL = 17,   //!< Rounded up.
  kFLOOR = 18,  //!< Rounded down.
  kERF = 19,    //!< Gauss error function.
  kNOT = 20,    //!< Not, of booleans.
  kSIGN = 21,   //!< -1, 0 or 1.
  kROUND = 22,  //!< Rounded to the nearest, halves to even.
  kISINF = 23,  //!< Whether x is infinite, as a boolean.
  kISNAN = 24,  //!< Whether x is not a number, as a boolean.
};

template <>
struct impl::EnumMaxImpl<UnaryOperation> : impl::EnumCount<25> {};

//! A function of one variable, applied to every element.
class IUnaryLayer : public ILayer {
 public:
  //! The function of an element.
  void setOperation(UnaryOperation op) noexcept { mImpl->setOperation(op); }
  //! The function of an element.
  UnaryOperation getOperation() const noexcept { return mImpl->getOperation(); }

 protected:
  virtual ~IUnaryLayer() noexcept = default;

  apiv::VUnaryLayer* mImpl;
};

//! Inserts axes of extent 1.
class IUnsqueezeLayer : public ILayer {
 public:
  using ILayer::setInput;

 protected:
  virtual ~IUnsqueezeLayer() noexcept = default;

  apiv::VUnsqueezeLayer* mImpl;
};

//! Base of the layers at the boundary of a conditional.
class IIfConditionalBoundaryLayer : public ILayer {
 public:
  //! The conditional that the layer belongs to.
  IIfConditional* getConditional() const noexcept { return mBoundary->getConditional(); }

 protected:
  virtual ~IIfConditionalBoundaryLayer() noexcept = default;

  apiv::VConditionalBoundaryLayer* mBoundary;
};

//! The condition of a conditional: a boolean scalar.
class IConditionLayer : public IIfConditionalBoundaryLayer {
 protected:
  virtual ~IConditionLayer() noexcept = default;

  apiv::VConditionLayer* mImpl;
};

//! A tensor that enters both branches of a conditional.
class IIfConditionalInputLayer : public IIfConditionalBoundaryLayer {
 protected:
  virtual ~IIfConditionalInputLayer() noexcept = default;

  apiv::VConditionalInputLayer* mImpl;
};

//! A tensor that leaves a conditional: from the branch that was taken.
class IIfConditionalOutputLayer : public IIfConditionalBoundaryLayer {
 protected:
  virtual ~IIfConditionalOutputLayer() noexcept = default;

  apiv::VConditionalOutputLayer* mImpl;
};

//! Two branches of which one runs. What is computed from the tensors that addInput gives belongs to the branch whose
//! output needs it; all else runs before.
class IIfConditional : public INoCopy {
 public:
  //! Sets the boolean scalar, from outside the branches, that says which one runs. Null on an error, and if there is
  //! a condition already.
  IConditionLayer* setCondition(ITensor& condition) noexcept { return mImpl->setCondition(condition); }
  //! A tensor of the branch that ran. Types and ranks must agree; extents may differ. Null on an error.
  IIfConditionalOutputLayer* addOutput(ITensor& trueSubgraphOutput, ITensor& falseSubgraphOutput) noexcept {
    return mImpl->addOutput(trueSubgraphOutput, falseSubgraphOutput);
  }
  //! Lets a tensor into the branches; null on an error.
  IIfConditionalInputLayer* addInput(ITensor& input) noexcept { return mImpl->addInput(input); }
  //! Names the conditional, for messages and the step that it becomes.
  void setName(char const* name) noexcept { mImpl->setName(name); }
  //! The conditional's name.
  char const* getName() const noexcept { return mImpl->getName(); }

 protected:
  virtual ~IIfConditional() noexcept = default;

  apiv::VIfConditional* mImpl;
};

//! Base of the layers at the boundary of a loop.
class ILoopBoundaryLayer : public ILayer {
 public:
  //! The loop that the layer belongs to.
  ILoop* getLoop() const noexcept { return mBoundary->getLoop(); }

 protected:
  virtual ~ILoopBoundaryLayer() noexcept = default;

  apiv::VLoopBoundaryLayer* mBoundary;
};

//! How a loop ends.
enum class TripLimit : int32_t {
  kCOUNT = 0,  //!< After a number of iterations that is known when it begins.
  kWHILE = 1,  //!< When a condition becomes false.
};

template <>
struct impl::EnumMaxImpl<TripLimit> : impl::EnumCount<2> {};

//! Says when a loop ends.
class ITripLimitLayer : public ILoopBoundaryLayer {
 public:
  //! How the layer ends the loop.
  TripLimit getTripLimit() const noexcept { return mImpl->getTripLimit(); }

 protected:
  virtual ~ITripLimitLayer() noexcept = default;

  apiv::VTripLimitLayer* mImpl;
};

//! A value carried from one iteration to the next: input 0 is the first, from outside the loop, and input 1 what the
//! next iteration gets. setInput(1, ...) is called when that has been added.
class IRecurrenceLayer : public ILoopBoundaryLayer {
 public:
  using ILayer::setInput;

 protected:
  virtual ~IRecurrenceLayer() noexcept = default;

  apiv::VRecurrenceLayer* mImpl;
};

//! Slices of a tensor, one an iteration.
class IIteratorLayer : public ILoopBoundaryLayer {
 public:
  //! The axis along which slices are taken; they do not have it.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! The axis of the slices, from the front.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }
  //! Whether the last slice comes first.
  void setReverse(bool reverse) noexcept { mImpl->setReverse(reverse); }
  //! Whether the last slice comes first; false until it is set.
  bool getReverse() const noexcept { return mImpl->getReverse(); }

 protected:
  virtual ~IIteratorLayer() noexcept = default;

  apiv::VIteratorLayer* mImpl;
};

//! What leaves a loop.
enum class LoopOutput : int32_t {
  kLAST_VALUE = 0,   //!< The value after the last iteration.
  kCONCATENATE = 1,  //!< The values of all iterations along a new axis.
  kREVERSE = 2,      //!< The same, the last iteration first.
};

template <>
struct impl::EnumMaxImpl<LoopOutput> : impl::EnumCount<3> {};

//! A tensor that leaves a loop. Outputs that concatenate take their length as input 1: a scalar that is known before
//! the run, no less than the number of iterations. What no iteration gives is zero.
class ILoopOutputLayer : public ILoopBoundaryLayer {
 public:
  using ILayer::setInput;
  //! What of the tensor's values leaves the loop.
  LoopOutput getLoopOutput() const noexcept { return mImpl->getLoopOutput(); }
  //! The new axis of outputs that concatenate.
  void setAxis(int32_t axis) noexcept { mImpl->setAxis(axis); }
  //! The new axis, as it was given.
  int32_t getAxis() const noexcept { return mImpl->getAxis(); }

 protected:
  virtual ~ILoopOutputLayer() noexcept = default;

  apiv::VLoopOutputLayer* mImpl;
};

//! Layers that run again and again: those that are computed from its recurrences and iterators, up to its outputs.
class ILoop : public INoCopy {
 public:
  //! Carries a value from iteration to iteration; null on an error.
  IRecurrenceLayer* addRecurrence(ITensor& initialValue) noexcept { return mImpl->addRecurrence(initialValue); }
  //! Ends the loop: by a count, INT32 or INT64, or by a boolean that is checked before each iteration. There is one
  //! of each kind at most; null on an error.
  ITripLimitLayer* addTripLimit(ITensor& tensor, TripLimit limit) noexcept {
    return mImpl->addTripLimit(tensor, limit);
  }
  //! Gives each iteration a slice of a tensor, which has at least as many as there are iterations; null on an error.
  IIteratorLayer* addIterator(ITensor& tensor, int32_t axis = 0, bool reverse = false) noexcept {
    return mImpl->addIterator(tensor, axis, reverse);
  }
  //! Lets a tensor out: the last value of a recurrence, or those of all iterations along an axis. Null on an error.
  ILoopOutputLayer* addLoopOutput(ITensor& tensor, LoopOutput outputKind, int32_t axis = 0) noexcept {
    return mImpl->addLoopOutput(tensor, outputKind, axis);
  }
  //! Names the loop, for messages and the step that it becomes.
  void setName(char const* name) noexcept { mImpl->setName(name); }
  //! The loop's name.
  char const* getName() const noexcept { return mImpl->getName(); }

 protected:
  virtual ~ILoop() noexcept = default;

  apiv::VLoop* mImpl;
};

//! Base of the layers at the boundary of an attention.
class IAttentionBoundaryLayer : public ILayer {
 public:
  //! The attention that the layer belongs to.
  IAttention* getAttention() const noexcept { return mBoundary->getAttention(); }

 protected:
  virtual ~IAttentionBoundaryLayer() noexcept = default;

  apiv::VAttentionBoundaryLayer* mBoundary;
};

//! The queries, keys and values that enter an attention.
class IAttentionInputLayer : public IAttentionBoundaryLayer {
 public:
  using ILayer::setInput;

 protected:
  virtual ~IAttentionInputLayer() noexcept = default;

  apiv::VAttentionInputLayer* mImpl;
};

//! The result that leaves an attention.
class IAttentionOutputLayer : public IAttentionBoundaryLayer {
 protected:
  virtual ~IAttentionOutputLayer() noexcept = default;

  apiv::VAttentionOutputLayer* mImpl;
};

//! What is done to the scores of an attention before they weigh the values.
enum class AttentionNormalizationOp : int32_t {
  kNONE = 0,     //!< Nothing.
  kSOFTMAX = 1,  //!< A softmax along the keys.
};

template <>
struct impl::EnumMaxImpl<AttentionNormalizationOp> : impl::EnumCount<2> {};

//! Normalized scores of queries and keys, times values, as one unit.
class IAttention : public INoCopy {
 public:
  //! Sets what is done to the scores; false on an error.
  bool setNormalizationOperation(AttentionNormalizationOp op) noexcept { return mImpl->setNormalizationOperation(op); }
  //! Returns what is done to the scores.
  AttentionNormalizationOp getNormalizationOperation() const noexcept { return mImpl->getNormalizationOperation(); }
  //! Sets which keys a query sees (kBOOL), or what is added to scores; false on an error, or if it is causal.
  bool setMask(ITensor& mask) noexcept { return mImpl->setMask(mask); }
  //! Returns the mask; null if there is none.
  ITensor* getMask() noexcept { return mImpl->getMask(); }
  //! Sets whether query i sees the keys 0 to i alone; false on an error, or if there is a mask.
  bool setCausal(bool isCausal) noexcept { return mImpl->setCausal(isCausal); }
  //! Returns whether that is so.
  bool getCausal() const noexcept { return mImpl->getCausal(); }
  //! Sets whether several kernels may run it; Kiln takes several wherever no fused kernel fits.
  bool setDecomposable(bool decomposable) noexcept { return mImpl->setDecomposable(decomposable); }
  //! Returns what was set.
  bool getDecomposable() const noexcept { return mImpl->getDecomposable(); }
  //! Replaces queries (0), keys (1) or values (2); false on an error.
  bool setInput(int32_t index, ITensor& input) noexcept { return mImpl->setInput(index, input); }
  //! Returns 3.
  int32_t getNbInputs() const noexcept { return mImpl->getNbInputs(); }
  //! Returns queries, keys or values; null for another index.
  ITensor* getInput(int32_t index) const noexcept { return mImpl->getInput(index); }
  //! Returns 1.
  int32_t getNbOutputs() const noexcept { return mImpl->getNbOutputs(); }
  //! Returns the result; null for an index other than 0.
  ITensor* getOutput(int32_t index) const noexcept { return mImpl->getOutput(index); }
  //! Names it, for messages; the text is copied. False on an error.
  bool setName(char const* name) noexcept { return mImpl->setName(name); }
  //! Returns its name.
  char const* getName() const noexcept { return mImpl->getName(); }
  //! Sets the scale by which normalized scores are quantized and back: one number; false on an error.
  bool setNormalizationQuantizeScale(ITensor& tensor) noexcept { return mImpl->setNormalizationQuantizeScale(tensor); }
  //! Returns the scale of normalized scores; null if there is none.
  ITensor* getNormalizationQuantizeScale() const noexcept { return mImpl->getNormalizationQuantizeScale(); }
  //! Sets the type that normalized scores are quantized to, kFP8 or kINT8; false on an error.
  bool setNormalizationQuantizeToType(DataType type) noexcept { return mImpl->setNormalizationQuantizeToType(type); }
  //! Returns the type that normalized scores are quantized to; kFLOAT: they are not.
  DataType getNormalizationQuantizeToType() const noexcept { return mImpl->getNormalizationQuantizeToType(); }
  //! Attaches a text, which is copied; false on an error.
  bool setMetadata(char const* metadata) noexcept { return mImpl->setMetadata(metadata); }
  //! Returns that text; empty by default.
  char const* getMetadata() const noexcept { return mImpl->getMetadata(); }
  //! Sets a wish for that many devices, 1 at least; one runs it. False on an error.
  bool setNbRanks(int32_t nbRanks) noexcept { return mImpl->setNbRanks(nbRanks); }
  //! Returns that number.
  int32_t getNbRanks() const noexcept { return mImpl->getNbRanks(); }

 protected:
  virtual ~IAttention() noexcept = default;

  apiv::VAttention* mImpl;
};

//! What the devices of a group do with their tensors together.
enum class CollectiveOperation : int32_t {
  kALL_REDUCE = 0,      //!< Combine element by element; every device gets the result.
  kALL_GATHER = 1,      //!< Concatenate; every device gets the result.
  kBROADCAST = 2,       //!< One device's tensor goes to all.
  kREDUCE = 3,          //!< Combine element by element; one device gets the result.
  kREDUCE_SCATTER = 4,  //!< Combine element by element; every device gets its share of the result.
};

template <>
struct impl::EnumMaxImpl<CollectiveOperation> : impl::EnumCount<5> {};

//! Kind of network; a bit number in NetworkDefinitionCreationFlags.
enum class NetworkDefinitionCreationFlag : int32_t {
  //! The batch is a dimension like others. Deprecated: all networks are so.
  kEXPLICIT_BATCH TRT_DEPRECATED_ENUM = 0,
  //! Types follow from the network's definition alone; the builder chooses none.
  kSTRONGLY_TYPED = 1,
  //! Of Python plugins that can do both, compile at run time.
  kPREFER_JIT_PYTHON_PLUGINS = 2,
  //! Of Python plugins that can do both, compile at build time.
  kPREFER_AOT_PYTHON_PLUGINS = 3,
};

template <>
struct impl::EnumMaxImpl<NetworkDefinitionCreationFlag> : impl::EnumCount<4> {};

//! A network to be built: tensors, and the layers that compute them.
class INetworkDefinition : public INoCopy {
 public:
  virtual ~INetworkDefinition() noexcept = default;
  //! Adds an input; an extent of -1 is known at run time. Null if the name is taken, the type cannot be an input or the
  //! extents are not valid.
  ITensor* addInput(char const* name, DataType type, Dims const& dimensions) noexcept {
    return mImpl->addInput(name, type, dimensions);
  }
  //! Makes a tensor an output; an input cannot be one.
  void markOutput(ITensor& tensor) noexcept { mImpl->markOutput(tensor); }
  //! Lets a debug listener see the tensor when the engine runs; false on an error.
  bool markDebug(ITensor& tensor) noexcept { return mImpl->markDebug(tensor); }
  //! Takes that back, also where the tensor was not marked; false on an error.
  bool unmarkDebug(ITensor& tensor) noexcept { return mImpl->unmarkDebug(tensor); }
  //! Whether the tensor is marked for debugging.
  bool isDebugTensor(ITensor const& tensor) const noexcept { return mImpl->isDebugTensor(tensor); }
  //! Lets a debug listener see all tensors that no fusion makes disappear, under the inspector's names for them.
  bool markUnfusedTensorsAsDebugTensors() noexcept { return mImpl->markUnfusedTensorsAsDebugTensors(); }
  //! Takes that back; false on an error.
  bool unmarkUnfusedTensorsAsDebugTensors() noexcept { return mImpl->unmarkUnfusedTensorsAsDebugTensors(); }
  //! Adds a function of every element. As all add calls: null, with an error, if the arguments are not valid.
  IActivationLayer* addActivation(ITensor& input, ActivationType type) noexcept {
    return mImpl->addActivation(input, type);
  }
  //! Adds local response normalization over an odd window of channels; null on an error.
  ILRNLayer* addLRN(ITensor& input, int64_t window, float alpha, float beta, float k) noexcept {
    return mImpl->addLRN(input, window, alpha, beta, k);
  }
  //! Adds (x * scale + shift) ^ power of an image batch; empty weights are 0, 1 and 1. Null on an error.
  IScaleLayer* addScale(ITensor& input, ScaleMode mode, Weights shift, Weights scale, Weights power) noexcept {
    return mImpl->addScale(input, mode, shift, scale, power);
  }
  //! Adds a softmax; along axis 0 if the rank is below 4, else along rank - 3, until setAxes is called.
  ISoftMaxLayer* addSoftMax(ITensor& input) noexcept { return mImpl->addSoftMax(input); }
  //! Joins tensors along axis rank - 3 (0 if below), until setAxis is called; null on an error.
  IConcatenationLayer* addConcatenation(ITensor* const* inputs, int32_t nbInputs) noexcept {
    return mImpl->addConcatenation(inputs, nbInputs);
  }
  //! Adds a function of two tensors of one rank, extents of 1 being repeated; null on an error.
  IElementWiseLayer* addElementWise(ITensor& input1, ITensor& input2, ElementWiseOperation op) noexcept {
    return mImpl->addElementWise(input1, input2, op);
  }
  //! Adds a function of every element; null on an error.
  IUnaryLayer* addUnary(ITensor& input, UnaryOperation operation) noexcept { return mImpl->addUnary(input, operation); }
  //! Adds a layer that transposes and reshapes; it does nothing until that is set. Null on an error.
  IShuffleLayer* addShuffle(ITensor& input) noexcept { return mImpl->addShuffle(input); }
  //! Turns indices into vectors: values holds off and on, depth their length, axis where they go; null on an error.
  IOneHotLayer* addOneHot(ITensor& indices, ITensor& values, ITensor& depth, int32_t axis) noexcept {
    return mImpl->addOneHot(indices, values, depth, axis);
  }
  //! Number of layers.
  int32_t getNbLayers() const noexcept { return mImpl->getNbLayers(); }
  //! The layer of this index, in the order of adding; null if out of range.
  ILayer* getLayer(int32_t index) const noexcept { return mImpl->getLayer(index); }
  //! Number of inputs.
  int32_t getNbInputs() const noexcept { return mImpl->getNbInputs(); }
  //! The input of this index; null if out of range.
  ITensor* getInput(int32_t index) const noexcept { return mImpl->getInput(index); }
  //! Number of outputs.
  int32_t getNbOutputs() const noexcept { return mImpl->getNbOutputs(); }
  //! The output of this index; null if out of range.
  ITensor* getOutput(int32_t index) const noexcept { return mImpl->getOutput(index); }
  //! Combines elements along the axes whose bits are set; null on an error.
  IReduceLayer* addReduce(ITensor& input, ReduceOperation operation, uint32_t reduceAxes,
                          bool keepDimensions) noexcept {
    return mImpl->addReduce(input, operation, reduceAxes, keepDimensions);
  }
  //! The k best elements along the axis whose bit is set, with indices of INT32. Deprecated: name the type of the
  //! indices.
  TRT_DEPRECATED ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k, uint32_t reduceAxes) noexcept {
    return mImpl->addTopK(input, op, k, reduceAxes);
  }
  //! The k best elements along the axis whose bit is set, with indices of INT32 or INT64; null on an error.
  ITopKLayer* addTopK(ITensor& input, TopKOperation op, int32_t k, uint32_t reduceAxes, DataType indicesType) noexcept {
    return mImpl->addTopKV2(input, op, k, reduceAxes, indicesType);
  }
  //! Picks slices along an axis; null on an error.
  IGatherLayer* addGather(ITensor& data, ITensor& indices, int32_t axis) noexcept {
    return mImpl->addGather(data, indices, axis);
  }
  //! Picks slices or elements as the mode says; null on an error.
  IGatherLayer* addGatherV2(ITensor& data, ITensor& indices, GatherMode mode) noexcept {
    return mImpl->addGatherV2(data, indices, mode);
  }
  //! Softmax of rows whose lengths are in bounds; null on an error.
  IRaggedSoftMaxLayer* addRaggedSoftMax(ITensor& input, ITensor& bounds) noexcept {
    return mImpl->addRaggedSoftMax(input, bounds);
  }
  //! Adds matrix products of the last axes, the others being broadcast; null on an error.
  IMatrixMultiplyLayer* addMatrixMultiply(ITensor& input0, MatrixOperation op0, ITensor& input1,
                                          MatrixOperation op1) noexcept {
    return mImpl->addMatrixMultiply(input0, op0, input1, op1);
  }
  //! Indices of the elements that are not zero, of INT32. Deprecated: name the type of the indices.
  TRT_DEPRECATED INonZeroLayer* addNonZero(ITensor& input) noexcept { return mImpl->addNonZero(input); }
  //! Indices of the elements that are not zero, of INT32 or INT64; null on an error.
  INonZeroLayer* addNonZero(ITensor& input, DataType indicesType) noexcept {
    return mImpl->addNonZeroV2(input, indicesType);
  }
  //! Adds constants; their number must be the product of the extents, else null. The values must live until the build
  //! is done.
  IConstantLayer* addConstant(Dims const& dimensions, Weights weights) noexcept {
    return mImpl->addConstant(dimensions, weights);
  }
  //! Passes a tensor on; null on an error.
  IIdentityLayer* addIdentity(ITensor& input) noexcept { return mImpl->addIdentity(input); }
  //! Converts elements to a type; null on an error.
  ICastLayer* addCast(ITensor& input, DataType toType) noexcept { return mImpl->addCast(input, toType); }
  //! Forgets a tensor that nothing uses.
  void removeTensor(ITensor& tensor) noexcept { mImpl->removeTensor(tensor); }
  //! Makes an output an inner tensor again.
  void unmarkOutput(ITensor& tensor) noexcept { mImpl->unmarkOutput(tensor); }
  //! Adds a plugin of version 2, which is cloned. Deprecated: use addPluginV3.
  TRT_DEPRECATED IPluginV2Layer* addPluginV2(ITensor* const* inputs, int32_t nbInputs, IPluginV2& plugin) noexcept {
    return mImpl->addPluginV2(inputs, nbInputs, plugin);
  }
  //! Adds a plugin of version 3, which is cloned; shape inputs are values that are known when shapes are. Null on an
  //! error.
  IPluginV3Layer* addPluginV3(ITensor* const* inputs, int32_t nbInputs, ITensor* const* shapeInputs,
                              int32_t nbShapeInputs, IPluginV3& plugin) noexcept {
    return mImpl->addPluginV3(inputs, nbInputs, shapeInputs, nbShapeInputs, plugin);
  }
  //! Adds a part of a tensor: of each axis size elements from start, stride apart; null on an error.
  ISliceLayer* addSlice(ITensor& input, Dims const& start, Dims const& size, Dims const& stride) noexcept {
    return mImpl->addSlice(input, start, size, stride);
  }
  //! Name of the network, which engines inherit; at most 4096 characters.
  void setName(char const* name) noexcept { mImpl->setName(name); }
  //! Name of the network.
  char const* getName() const noexcept { return mImpl->getName(); }
  //! The extents of a tensor as a tensor of INT64; null on an error.
  IShapeLayer* addShape(ITensor& input) noexcept { return mImpl->addShape(input); }
  //! Always false. Deprecated: there are no implicit batches.
  TRT_DEPRECATED bool hasImplicitBatchDimension() const noexcept { return mImpl->hasImplicitBatchDimension(); }
  //! The flags that the network was created with.
  NetworkDefinitionCreationFlags getFlags() const noexcept { return mImpl->getFlags(); }
  //! Whether it was created with this flag.
  bool getFlag(NetworkDefinitionCreationFlag networkDefinitionCreationFlag) const noexcept {
    return mImpl->getFlag(networkDefinitionCreationFlag);
  }
  //! Makes a shape tensor an output whose values are on the host; false if it is none.
  bool markOutputForShapes(ITensor& tensor) noexcept { return mImpl->markOutputForShapes(tensor); }
  //! Takes that back; false if it was not marked.
  bool unmarkOutputForShapes(ITensor& tensor) noexcept { return mImpl->unmarkOutputForShapes(tensor); }
  //! x if x >= 0, else x * slope; null on an error.
  IParametricReLULayer* addParametricReLU(ITensor& input, ITensor& slope) noexcept {
    return mImpl->addParametricReLU(input, slope);
  }
  //! Adds a convolution with a kernel of 2 or 3 extents; empty kernel weights come from input 1. Null on an error.
  IConvolutionLayer* addConvolutionNd(ITensor& input, int64_t nbOutputMaps, Dims const& kernelSize,
                                      Weights kernelWeights, Weights biasWeights) noexcept {
    return mImpl->addConvolutionNd(input, nbOutputMaps, kernelSize, kernelWeights, biasWeights);
  }
  //! Adds pooling of windows of 2 or 3 extents; null on an error.
  IPoolingLayer* addPoolingNd(ITensor& input, PoolingType type, Dims const& windowSize) noexcept {
    return mImpl->addPoolingNd(input, type, windowSize);
  }
  //! Adds a transposed convolution; weights as for addConvolutionNd. Null on an error.
  IDeconvolutionLayer* addDeconvolutionNd(ITensor& input, int64_t nbOutputMaps, Dims kernelSize, Weights kernelWeights,
                                          Weights biasWeights) noexcept {
    return mImpl->addDeconvolutionNd(input, nbOutputMaps, kernelSize, kernelWeights, biasWeights);
  }
  //! As addScale, with the axis of the channels; null on an error.
  IScaleLayer* addScaleNd(ITensor& input, ScaleMode mode, Weights shift, Weights scale, Weights power,
                          int32_t channelAxis) noexcept {
    return mImpl->addScaleNd(input, mode, shift, scale, power, channelAxis);
  }
  //! Adds a resize; its extents or scales are set on the layer. Null on an error.
  IResizeLayer* addResize(ITensor& input) noexcept { return mImpl->addResize(input); }
  //! Adds a loop; its layers tell its boundary. Null on an error.
  ILoop* addLoop() noexcept { return mImpl->addLoop(); }
  //! Adds a conditional; its layers tell its boundary. Null on an error.
  IIfConditional* addIfConditional() noexcept { return mImpl->addIfConditional(); }
  //! Picks from two tensors by a condition; null on an error.
  ISelectLayer* addSelect(ITensor& condition, ITensor& thenInput, ITensor& elseInput) noexcept {
    return mImpl->addSelect(condition, thenInput, elseInput);
  }
  //! Fails at build or run time with the message unless all of the condition's elements are true; null on an error.
  IAssertionLayer* addAssertion(ITensor& condition, char const* message) noexcept {
    return mImpl->addAssertion(condition, message);
  }
  //! Adds a tensor of a sequence or random numbers. Deprecated: name the type.
  TRT_DEPRECATED IFillLayer* addFill(Dims const& dimensions, FillOperation op) noexcept {
    return mImpl->addFill(dimensions, op);
  }
  //! Adds a tensor of a sequence or random numbers; null on an error.
  IFillLayer* addFill(Dims const& dimensions, FillOperation op, DataType outputType) noexcept {
    return mImpl->addFillV2(dimensions, op, outputType);
  }
  //! Adds zeros to, or with negative numbers cuts from, the last two axes; null on an error.
  IPaddingLayer* addPaddingNd(ITensor& input, Dims const& prePadding, Dims const& postPadding) noexcept {
    return mImpl->addPaddingNd(input, prePadding, postPadding);
  }
  //! Name by which a refitter finds the weights with these values; false if no layer has them.
  bool setWeightsName(Weights weights, char const* name) noexcept { return mImpl->setWeightsName(weights, name); }
  //! Where errors are recorded from now on; null: nowhere but in the log.
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  //! What setErrorRecorder set, or null.
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  //! Quantized values times their scale. Deprecated: name the type.
  TRT_DEPRECATED IDequantizeLayer* addDequantize(ITensor& input, ITensor& scale) noexcept {
    return mImpl->addDequantize(input, scale);
  }
  //! Quantized values times their scale, as the given type; null on an error.
  IDequantizeLayer* addDequantize(ITensor& input, ITensor& scale, DataType outputType) noexcept {
    return mImpl->addDequantizeV2(input, scale, outputType);
  }
  //! Writes updates into a copy of the data; null on an error.
  IScatterLayer* addScatter(ITensor& data, ITensor& indices, ITensor& updates, ScatterMode mode) noexcept {
    return mImpl->addScatter(data, indices, updates, mode);
  }
  //! Divides by a scale and rounds. Deprecated: name the type.
  TRT_DEPRECATED IQuantizeLayer* addQuantize(ITensor& input, ITensor& scale) noexcept {
    return mImpl->addQuantize(input, scale);
  }
  //! Divides by a scale and rounds to the given type; null on an error.
  IQuantizeLayer* addQuantize(ITensor& input, ITensor& scale, DataType outputType) noexcept {
    return mImpl->addQuantizeV2(input, scale, outputType);
  }
  //! Quantizes in blocks along an axis. Deprecated: use addDynamicQuantizeV2.
  TRT_DEPRECATED IDynamicQuantizeLayer* addDynamicQuantize(ITensor& input, int32_t axis, int32_t blockSize,
                                                           DataType outputType, DataType scaleType) noexcept {
    return mImpl->addDynamicQuantize(input, axis, blockSize, outputType, scaleType);
  }
  //! Quantizes in blocks of the given shape with scales computed from the data; null on an error.
  IDynamicQuantizeLayer* addDynamicQuantizeV2(ITensor& input, Dims const& blockShape, DataType outputType,
                                              DataType scaleType) noexcept {
    return mImpl->addDynamicQuantizeV2(input, blockShape, outputType, scaleType);
  }
  //! A sum of products as the equation says, for instance "ij,jk->ik"; null on an error.
  IEinsumLayer* addEinsum(ITensor* const* inputs, int32_t nbInputs, char const* equation) noexcept {
    return mImpl->addEinsum(inputs, nbInputs, equation);
  }
  //! Samples an image at the positions of a grid; null on an error.
  IGridSampleLayer* addGridSample(ITensor& input, ITensor& grid) noexcept { return mImpl->addGridSample(input, grid); }
  //! The best boxes that do not overlap much, with indices of INT32. Deprecated: name the type of the indices.
  TRT_DEPRECATED INMSLayer* addNMS(ITensor& boxes, ITensor& scores, ITensor& maxOutputBoxesPerClass) noexcept {
    return mImpl->addNMS(boxes, scores, maxOutputBoxesPerClass);
  }
  //! The best boxes that do not overlap much, with indices of INT32 or INT64; null on an error.
  INMSLayer* addNMS(ITensor& boxes, ITensor& scores, ITensor& maxOutputBoxesPerClass, DataType indicesType) noexcept {
    return mImpl->addNMSV2(boxes, scores, maxOutputBoxesPerClass, indicesType);
  }
  //! Reverses the first sequenceLens elements of every sequence; null on an error.
  IReverseSequenceLayer* addReverseSequence(ITensor& input, ITensor& sequenceLens) noexcept {
    return mImpl->addReverseSequence(input, sequenceLens);
  }
  //! Adds a normalization over the axes whose bits are set. Deprecated: use addNormalizationV2.
  TRT_DEPRECATED INormalizationLayer* addNormalization(ITensor& input, ITensor& scale, ITensor& bias,
                                                       uint32_t axesMask) noexcept {
    return mImpl->addNormalization(input, scale, bias, axesMask);
  }
  //! Running sums along an axis; null on an error.
  ICumulativeLayer* addCumulative(ITensor& input, ITensor& axis, CumulativeOperation operation, bool exclusive,
                                  bool reverse) noexcept {
    return mImpl->addCumulative(input, axis, operation, exclusive, reverse);
  }
  //! Adds an attention; causal: a query sees no later key. Null on an error.
  IAttention* addAttention(ITensor& query, ITensor& key, ITensor& value, AttentionNormalizationOp normOp,
                           bool causal) noexcept {
    return mImpl->addAttention(query, key, value, normOp, causal);
  }
  //! Rotates pairs of features; interleaved: pairs are neighbours, not halves. Null on an error.
  IRotaryEmbeddingLayer* addRotaryEmbedding(ITensor& input, ITensor& cosCache, ITensor& sinCache, bool interleaved,
                                            int32_t rotaryEmbeddingDim) noexcept {
    return mImpl->addRotaryEmbedding(input, cosCache, sinCache, interleaved, rotaryEmbeddingDim);
  }
  //! Writes new keys or values into a cache at the given rows; null on an error.
  IKVCacheUpdateLayer* addKVCacheUpdate(ITensor& cache, ITensor& update, ITensor& writeIndices,
                                        KVCacheMode cacheMode) noexcept {
    return mImpl->addKVCacheUpdate(cache, update, writeIndices, cacheMode);
  }
  //! Adds a mixture of experts; null on an error.
  IMoELayer* addMoE(ITensor& hiddenStates, ITensor& selectedExpertsForTokens,
                    ITensor& scoresForSelectedExperts) noexcept {
    return mImpl->addMoE(hiddenStates, selectedExpertsForTokens, scoresForSelectedExperts);
  }
  //! Exchanges a tensor between devices; null on an error.
  TRT_NODISCARD IDistCollectiveLayer* addDistCollective(ITensor& input, CollectiveOperation distCollectiveOp,
                                                        ReduceOperation reduceOp, int64_t root, int64_t* groups,
                                                        int64_t groupSize) noexcept {
    return mImpl->addDistCollective(input, distCollectiveOp, reduceOp, root, groups, groupSize);
  }
  //! The builder that made the network.
  virtual IBuilder& getBuilder() const noexcept { return mImpl->getBuilder(); }
  //! Lets a refitter replace the weights of this name, if BuilderFlag::kREFIT_INDIVIDUAL is set; false if there are
  //! none.
  bool markWeightsRefittable(char const* name) noexcept { return mImpl->markWeightsRefittable(name); }
  //! Takes that back; false if there are no weights of this name.
  bool unmarkWeightsRefittable(char const* name) noexcept { return mImpl->unmarkWeightsRefittable(name); }
  //! Whether the weights of this name are marked.
  bool areWeightsMarkedRefittable(char const* name) const noexcept { return mImpl->areWeightsMarkedRefittable(name); }
  //! Removes axes of extent 1; axes must be constant. Null on an error.
  ISqueezeLayer* addSqueeze(ITensor& input, ITensor& axes) noexcept { return mImpl->addSqueeze(input, axes); }
  //! Inserts axes of extent 1; axes must be constant. Null on an error.
  IUnsqueezeLayer* addUnsqueeze(ITensor& input, ITensor& axes) noexcept { return mImpl->addUnsqueeze(input, axes); }
  //! Adds a normalization over the axes whose bits are set, with scale and bias; null on an error.
  TRT_NODISCARD INormalizationLayer* addNormalizationV2(ITensor& input, ITensor& scale, ITensor& bias,
                                                        uint32_t axesMask) noexcept {
    return mImpl->addNormalizationV2(input, scale, bias, axesMask);
  }

 protected:
  apiv::VNetworkDefinition* mImpl;
};

//! How ranges for INT8 are found from sample data. Deprecated: use explicit quantization.
enum class CalibrationAlgoType : int32_t {
  //! Quantile and cut-off given by the program. Deprecated: use explicit quantization.
  kLEGACY_CALIBRATION TRT_DEPRECATED_ENUM = 0,
  //! Least loss of information, after fusion of layers. Deprecated: use explicit quantization.
  kENTROPY_CALIBRATION TRT_DEPRECATED_ENUM = 1,
  //! Least loss of information, before fusion of layers. Deprecated: use explicit quantization.
  kENTROPY_CALIBRATION_2 TRT_DEPRECATED_ENUM = 2,
  //! Smallest and largest value seen. Deprecated: use explicit quantization.
  kMINMAX_CALIBRATION TRT_DEPRECATED_ENUM = 3,
};

template <>
struct impl::EnumMaxImpl<CalibrationAlgoType> : impl::EnumCount<4> {};

//! Supplies sample data to find ranges for INT8. Deprecated: use explicit quantization.
class TRT_DEPRECATED IInt8Calibrator : public IVersionedInterface {
 public:
  TRT_DEPRECATED virtual int32_t getBatchSize() const noexcept = 0;
  virtual bool getBatch(void** bindings, char const** names, int32_t nbBindings) noexcept = 0;
  virtual void const* readCalibrationCache(size_t& length) noexcept = 0;
  virtual void writeCalibrationCache(void const* ptr, size_t length) noexcept = 0;
  virtual CalibrationAlgoType getAlgorithm() noexcept = 0;
  ~IInt8Calibrator() noexcept override = default;
};

namespace v_1_0 {

//! Calibration by quantile and cut-off. Deprecated: use explicit quantization.
class TRT_DEPRECATED IInt8LegacyCalibrator : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IInt8Calibrator", 1, 0}; }
  CalibrationAlgoType getAlgorithm() noexcept override { return CalibrationAlgoType::kLEGACY_CALIBRATION; }
  virtual double getQuantile() const noexcept = 0;
  virtual double getRegressionCutoff() const noexcept = 0;
  virtual void const* readHistogramCache(size_t& length) noexcept = 0;
  virtual void writeHistogramCache(void const* ptr, size_t length) noexcept = 0;
  ~IInt8LegacyCalibrator() noexcept override = default;
};

}  // namespace v_1_0

//! The version in use.
using IInt8LegacyCalibrator = v_1_0::IInt8LegacyCalibrator;

namespace v_1_0 {

//! Calibration by least loss of information. Deprecated: use explicit quantization.
class TRT_DEPRECATED IInt8EntropyCalibrator : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IInt8EntropyCalibrator", 1, 0}; }
  CalibrationAlgoType getAlgorithm() noexcept override { return CalibrationAlgoType::kENTROPY_CALIBRATION; }
  ~IInt8EntropyCalibrator() noexcept override = default;
};

}  // namespace v_1_0

//! The version in use.
using IInt8EntropyCalibrator = v_1_0::IInt8EntropyCalibrator;

namespace v_1_0 {

//! Calibration by least loss of information, before fusion. Deprecated: use explicit quantization.
class TRT_DEPRECATED IInt8EntropyCalibrator2 : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IInt8EntropyCalibrator2", 1, 0}; }
  CalibrationAlgoType getAlgorithm() noexcept override { return CalibrationAlgoType::kENTROPY_CALIBRATION_2; }
  ~IInt8EntropyCalibrator2() noexcept override = default;
};

}  // namespace v_1_0

//! The version in use.
using IInt8EntropyCalibrator2 = v_1_0::IInt8EntropyCalibrator2;

namespace v_1_0 {

//! Calibration by smallest and largest value. Deprecated: use explicit quantization.
class TRT_DEPRECATED IInt8MinMaxCalibrator : public IInt8Calibrator {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IInt8MinMaxCalibrator", 1, 0}; }
  CalibrationAlgoType getAlgorithm() noexcept override { return CalibrationAlgoType::kMINMAX_CALIBRATION; }
  ~IInt8MinMaxCalibrator() noexcept override = default;
};

}  // namespace v_1_0

//! The version in use.
using IInt8MinMaxCalibrator = v_1_0::IInt8MinMaxCalibrator;

//! Format of an input or output of an algorithm. Deprecated: use an editable timing cache.
class TRT_DEPRECATED IAlgorithmIOInfo : public INoCopy {
 public:
  //! Type of the elements in memory.
  DataType getDataType() const noexcept { return mImpl->getDataType(); }
  //! Strides at the optimum: in elements, or in vectors where the format has them.
  Dims getStrides() const noexcept { return mImpl->getStrides(); }
  //! The axis that vectors are cut from; -1 if there are none.
  int64_t getVectorizedDim() const noexcept { return mImpl->getVectorizedDim(); }
  //! The length of a vector; 1 if there are none.
  int64_t getComponentsPerElement() const noexcept { return mImpl->getComponentsPerElement(); }

 protected:
  virtual ~IAlgorithmIOInfo() noexcept = default;

  apiv::VAlgorithmIOInfo* mImpl;
};

//! Implementation and tactic of an algorithm. Deprecated: use an editable timing cache.
class TRT_DEPRECATED IAlgorithmVariant : public INoCopy {
 public:
  //! The kind of implementation: the same number in every build.
  int64_t getImplementation() const noexcept { return mImpl->getImplementation(); }
  //! The tactic: the same number whenever the same network is built for the same device.
  int64_t getTactic() const noexcept { return mImpl->getTactic(); }

 protected:
  virtual ~IAlgorithmVariant() noexcept = default;

  apiv::VAlgorithmVariant* mImpl;
};

//! A layer for which an algorithm is chosen. Deprecated: use an editable timing cache.
class TRT_DEPRECATED IAlgorithmContext : public INoCopy {
 public:
  //! Name of the layers that run as one; no two layers of a build have the same.
  char const* getName() const noexcept { return mImpl->getName(); }
  //! The profile's dimensions of an input, or of an output behind the inputs; nbDims is -1 out of range.
  Dims getDimensions(int32_t index, OptProfileSelector select) const noexcept {
    return mImpl->getDimensions(index, select);
  }
  //! Number of inputs, constants left out.
  int32_t getNbInputs() const noexcept { return mImpl->getNbInputs(); }
  //! Number of outputs.
  int32_t getNbOutputs() const noexcept { return mImpl->getNbOutputs(); }

 protected:
  virtual ~IAlgorithmContext() noexcept = default;

  apiv::VAlgorithmContext* mImpl;
};

//! One way to compute a layer. Deprecated: use an editable timing cache.
class TRT_DEPRECATED IAlgorithm : public INoCopy {
 public:
  //! The numbers that identify it in another build.
  IAlgorithmVariant const& getAlgorithmVariant() const noexcept { return mImpl->getAlgorithmVariant(); }
  //! The measured time in milliseconds; 0 if nothing was measured.
  float getTimingMSec() const noexcept { return mImpl->getTimingMSec(); }
  //! Bytes of workspace at the optimum.
  size_t getWorkspaceSize() const noexcept { return mImpl->getWorkspaceSize(); }
  //! The format of an input, or of an output behind the inputs; null out of range.
  IAlgorithmIOInfo const* getAlgorithmIOInfoByIndex(int32_t index) const noexcept {
    return mImpl->getAlgorithmIOInfoByIndex(index);
  }

 protected:
  virtual ~IAlgorithm() noexcept = default;

  apiv::VAlgorithm* mImpl;
};

namespace v_1_0 {

//! Chooses the algorithms of layers. Deprecated: use an editable timing cache.
class TRT_DEPRECATED IAlgorithmSelector : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IAlgorithmSelector", 1, 0}; }
  //! Chooses among a layer's algorithms: writes their indices and returns how many; none leaves the choice to the
  //! build.
  virtual int32_t selectAlgorithms(IAlgorithmContext const& context, IAlgorithm const* const* choices,
                                   int32_t nbChoices, int32_t* selection) noexcept = 0;
  //! Hears of the layers of a profile, and of the algorithm that each got.
  virtual void reportAlgorithms(IAlgorithmContext const* const* algoContexts, IAlgorithm const* const* algoChoices,
                                int32_t nbAlgorithms) noexcept = 0;
  virtual ~IAlgorithmSelector() noexcept = default;
};

}  // namespace v_1_0

//! The version in use.
using IAlgorithmSelector = v_1_0::IAlgorithmSelector;

namespace v_1_0 {

//! What was measured: a hash.
struct TimingCacheKey {
  uint8_t data[16];  //!< The bytes of the hash.
};

}  // namespace v_1_0

//! The version in use.
using TimingCacheKey = v_1_0::TimingCacheKey;

namespace v_1_0 {

//! The best tactic of a key.
struct TimingCacheValue {
  //! Stands for no tactic.
  static constexpr uint64_t kINVALID_TACTIC_HASH = UINT64_MAX;

  uint64_t tacticHash;  //!< Hash of the tactic.
  float timingMSec;     //!< Its time, ms.
};

}  // namespace v_1_0

//! The version in use.
using TimingCacheValue = v_1_0::TimingCacheValue;

//! Measurements of earlier builds, so that the next one is quick and makes the same choices.
class ITimingCache : public INoCopy {
 public:
  virtual ~ITimingCache() noexcept = default;
  //! Its entries as bytes, for IBuilderConfig::createTimingCache; the caller deletes them.
  IHostMemory* serialize() const noexcept { return mImpl->serialize(); }
  //! Takes over the entries of another cache; false if that was made on another device, unless mismatches are to be
  //! ignored.
  bool combine(ITimingCache const& inputCache, bool ignoreMismatch) noexcept {
    return mImpl->combine(inputCache, ignoreMismatch);
  }
  //! Forgets all entries.
  bool reset() noexcept { return mImpl->reset(); }
  //! Writes as many keys as fit and answers how many there are; -1 on an error.
  int64_t queryKeys(TimingCacheKey* keyBuffer, int64_t capacity) const noexcept {
    return mImpl->queryKeys(keyBuffer, capacity);
  }
  //! An entry's value; its tactic is kINVALID_TACTIC_HASH if there is no such entry.
  TimingCacheValue query(TimingCacheKey const& key) const noexcept { return mImpl->query(key); }
  //! Sets an entry; false if its tactic is not the one that the key is of.
  bool update(TimingCacheKey const& key, TimingCacheValue const& value) noexcept { return mImpl->update(key, value); }

 protected:
  apiv::VTimingCache* mImpl;
};

namespace v_1_0 {

//! Learns how far a build is, and can stop it. May be called by several threads at a time.
class IProgressMonitor : public IVersionedInterface {
 public:
  IProgressMonitor() = default;
  virtual ~IProgressMonitor() noexcept = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IProgressMonitor", 1, 0}; }
  //! A phase of so many steps begins, within another or (null) within none.
  virtual void phaseStart(char const* phaseName, char const* parentPhase, int32_t nbSteps) noexcept = 0;
  //! A step of a phase is done; answering false stops the build.
  virtual bool stepComplete(char const* phaseName, int32_t step) noexcept = 0;
  //! A phase is over, also where the build was stopped.
  virtual void phaseFinish(char const* phaseName) noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IProgressMonitor = v_1_0::IProgressMonitor;

//! Choices for a build; a bit number in BuilderFlags.
enum class BuilderFlag : int32_t {
  //! Weakly typed networks may compute in half precision. Deprecated: use a strongly typed network.
  kFP16 TRT_DEPRECATED_ENUM = 0,
  //! Weakly typed networks may compute in 8-bit integers. Deprecated: use a strongly typed network with explicit
  //! quantization.
  kINT8 TRT_DEPRECATED_ENUM = 1,
  //! Wait and check for errors after every layer.
  kDEBUG = 2,
  //! Layers that the chosen accelerator (DLA) cannot run go to the GPU.
  kGPU_FALLBACK = 3,
  //! Keep what is needed to replace any weights of the engine later.
  kREFIT = 4,
  //! Measure everything anew, also what this build has already measured.
  kDISABLE_TIMING_CACHE = 5,
  //! Single-precision products may round their inputs to 10 bits of mantissa. On by default.
  kTF32 = 6,
  //! Look for weights with 2:4 structured sparsity and use kernels made for them.
  kSPARSE_WEIGHTS = 7,
  //! Accept only what the safety-certified runtime can run. Deprecated: use EngineCapability::kSAFETY.
  kSAFETY_SCOPE TRT_DEPRECATED_ENUM = 8,
  //! Fail if a layer cannot run in the precision set for it. Deprecated: use a strongly typed network.
  kOBEY_PRECISION_CONSTRAINTS TRT_DEPRECATED_ENUM = 9,
  //! Warn and use another precision if a layer cannot run in the one set for it. Deprecated: use a strongly typed
  //! network.
  kPREFER_PRECISION_CONSTRAINTS TRT_DEPRECATED_ENUM = 10,
  //! Add no reformatting at inputs and outputs, even if that costs time. Deprecated: nothing replaces it.
  kDIRECT_IO TRT_DEPRECATED_ENUM = 11,
  //! Fail if the algorithm selector returns no choice for a layer. Deprecated with IAlgorithmSelector: use an editable
  //! timing cache.
  kREJECT_EMPTY_ALGORITHMS TRT_DEPRECATED_ENUM = 12,
  //! The plan can be run by later versions of the library.
  kVERSION_COMPATIBLE = 13,
  //! Leave the lean runtime out of a version-compatible plan.
  kEXCLUDE_LEAN_RUNTIME = 14,
  //! Weakly typed networks may compute in 8-bit floats. Deprecated: use a strongly typed network.
  kFP8 TRT_DEPRECATED_ENUM = 15,
  //! Fail if a measurement is needed that the timing cache does not have; nothing without setTimingCache.
  kERROR_ON_TIMING_CACHE_MISS = 16,
  //! Weakly typed networks may compute in bfloat16. Deprecated: use a strongly typed network.
  kBF16 TRT_DEPRECATED_ENUM = 17,
  //! Keep no compiled kernels in the timing cache.
  kDISABLE_COMPILATION_CACHE = 18,
  //! Leave out of the plan the weights that a refit can supply.
  kSTRIP_PLAN = 19,
  //! Old name of kSTRIP_PLAN. Deprecated: use kSTRIP_PLAN.
  kWEIGHTLESS TRT_DEPRECATED_ENUM = kSTRIP_PLAN,
  //! The engine will be refitted only with the weights that it was built with, which leaves more room for optimization.
  kREFIT_IDENTICAL = 20,
  //! Weights may stay on the host and be copied to the device while the engine runs.
  kWEIGHT_STREAMING = 21,
  //! Weakly typed networks may hold weights in 4-bit integers. Deprecated: use a strongly typed network.
  kINT4 TRT_DEPRECATED_ENUM = 22,
  //! Only the weights marked with INetworkDefinition::markWeightsRefittable can be replaced later.
  kREFIT_INDIVIDUAL = 23,
  //! Rule out optimizations that are wrong for infinities and not-a-number.
  kSTRICT_NANS = 24,
  //! Report the memory that the build uses.
  kMONITOR_MEMORY = 25,
  //! Weakly typed networks may compute in 4-bit floats. Deprecated: use a strongly typed network.
  kFP4 TRT_DEPRECATED_ENUM = 26,
  //! The timing cache can be queried and its choices replaced.
  kEDITABLE_TIMING_CACHE = 27,
  //! A layer's result for one item does not depend on how many items are computed with it.
  kDISTRIBUTIVE_INDEPENDENCE = 28,
};

template <>
struct impl::EnumMaxImpl<BuilderFlag> : impl::EnumCount<29> {};

//! On which devices a plan must run.
enum class HardwareCompatibilityLevel : int32_t {
  kNONE = 0,                     //!< On the kind of device that it was built on.
  kAMPERE_PLUS = 1,              //!< On devices of the Ampere architecture and later.
  kSAME_COMPUTE_CAPABILITY = 2,  //!< On devices of the same compute capability.
};

template <>
struct impl::EnumMaxImpl<HardwareCompatibilityLevel> : impl::EnumCount<3> {};

//! Memory that a build may be limited in.
enum class MemoryPoolType : int32_t {
  kWORKSPACE = 0,             //!< Device memory for the intermediate results of one layer, bytes.
  kDLA_MANAGED_SRAM = 1,      //!< On-chip memory of an accelerator for one subgraph, bytes.
  kDLA_LOCAL_DRAM = 2,        //!< Memory of an accelerator for intermediate results, bytes.
  kDLA_GLOBAL_DRAM = 3,       //!< Memory of an accelerator for weights and metadata, bytes.
  kTACTIC_DRAM = 4,           //!< Device memory that a tactic may need while it is timed, bytes.
  kTACTIC_SHARED_MEMORY = 5,  //!< Shared memory of a block that a kernel may use, bytes.
};

template <>
struct impl::EnumMaxImpl<MemoryPoolType> : impl::EnumCount<6> {};

//! Features that a build may switch on ahead of time.
enum class PreviewFeature : int32_t {
  kPROFILE_SHARING_0806 TRT_DEPRECATED_ENUM = 0,  //!< Contexts may share a profile. Deprecated: always on.
  kALIASED_PLUGIN_IO_10_03 = 1,                   //!< A plugin's output may share memory with an input.
  kRUNTIME_ACTIVATION_RESIZE_10_10 = 2,           //!< Memory for activations can follow the shapes at run time.
  kMULTIDEVICE_RUNTIME_10_16 = 3,                 //!< An engine may run on several devices.
};

template <>
struct impl::EnumMaxImpl<PreviewFeature> : impl::EnumCount<4> {};

//! Choices for implicit quantization; a bit number in QuantizationFlags.
enum class QuantizationFlag : int32_t {
  //! Calibrate the network before layers are fused. Deprecated: use explicit quantization.
  kCALIBRATE_BEFORE_FUSION TRT_DEPRECATED_ENUM = 0,
};

template <>
struct impl::EnumMaxImpl<QuantizationFlag> : impl::EnumCount<1> {};

//! System that a plan is for.
enum class RuntimePlatform : int32_t {
  kSAME_AS_BUILD = 0,  //!< That of the build.
  kWINDOWS_AMD64 = 1,  //!< Windows on AMD64.
};

template <>
struct impl::EnumMaxImpl<RuntimePlatform> : impl::EnumCount<2> {};

//! How long a build looks for ways to keep data in on-chip memory across layers.
enum class TilingOptimizationLevel : int32_t {
  kNONE = 0,      //!< Not at all.
  kFAST = 1,      //!< A quick search.
  kMODERATE = 2,  //!< A longer search.
  kFULL = 3,      //!< All that is known.
};

template <>
struct impl::EnumMaxImpl<TilingOptimizationLevel> : impl::EnumCount<4> {};

//! Choices for a build.
class IBuilderConfig : public INoCopy {
 public:
  virtual ~IBuilderConfig() noexcept = default;
  //! How many runs a measurement is the mean of.
  virtual void setAvgTimingIterations(int32_t avgTiming) noexcept { mImpl->setAvgTimingIterations(avgTiming); }
  //! What setAvgTimingIterations set; 1 by default.
  int32_t getAvgTimingIterations() const noexcept { return mImpl->getAvgTimingIterations(); }
  //! Kind of runtime to build for.
  void setEngineCapability(EngineCapability capability) noexcept { mImpl->setEngineCapability(capability); }
  //! What setEngineCapability set; kSTANDARD by default.
  EngineCapability getEngineCapability() const noexcept { return mImpl->getEngineCapability(); }
  //! Where ranges for INT8 come from. Deprecated: use explicit quantization.
  TRT_DEPRECATED void setInt8Calibrator(IInt8Calibrator* calibrator) noexcept { mImpl->setInt8Calibrator(calibrator); }
  //! What setInt8Calibrator set, or null. Deprecated: use explicit quantization.
  TRT_DEPRECATED IInt8Calibrator* getInt8Calibrator() const noexcept { return mImpl->getInt8Calibrator(); }
  //! Replaces all flags.
  void setFlags(BuilderFlags builderFlags) noexcept { mImpl->setFlags(builderFlags); }
  //! All flags; kTF32 is set by default.
  BuilderFlags getFlags() const noexcept { return mImpl->getFlags(); }
  //! Clears one flag.
  void clearFlag(BuilderFlag builderFlag) noexcept { mImpl->clearFlag(builderFlag); }
  //! Sets one flag.
  void setFlag(BuilderFlag builderFlag) noexcept { mImpl->setFlag(builderFlag); }
  //! Whether a flag is set.
  bool getFlag(BuilderFlag builderFlag) const noexcept { return mImpl->getFlag(builderFlag); }
  //! Device that a layer is to run on.
  void setDeviceType(ILayer const* layer, DeviceType deviceType) noexcept { mImpl->setDeviceType(layer, deviceType); }
  //! Device of a layer; the default one if none was set.
  DeviceType getDeviceType(ILayer const* layer) const noexcept { return mImpl->getDeviceType(layer); }
  //! Whether setDeviceType was called for a layer.
  bool isDeviceTypeSet(ILayer const* layer) const noexcept { return mImpl->isDeviceTypeSet(layer); }
  //! Back to the default device.
  void resetDeviceType(ILayer const* layer) noexcept { mImpl->resetDeviceType(layer); }
  //! Whether an accelerator can run a layer; false without one.
  bool canRunOnDLA(ILayer const* layer) const noexcept { return mImpl->canRunOnDLA(layer); }
  //! Accelerator to build for; the call does nothing where there is none.
  void setDLACore(int32_t dlaCore) noexcept { mImpl->setDLACore(dlaCore); }
  //! What setDLACore set; -1 by default, and where there is no accelerator.
  int32_t getDLACore() const noexcept { return mImpl->getDLACore(); }
  //! Device of layers for which none is set.
  void setDefaultDeviceType(DeviceType deviceType) noexcept { mImpl->setDefaultDeviceType(deviceType); }
  //! What setDefaultDeviceType set; kGPU by default.
  DeviceType getDefaultDeviceType() const noexcept { return mImpl->getDefaultDeviceType(); }
  //! Back to the state after creation.
  void reset() noexcept { mImpl->reset(); }
  //! Stream on which measurements run.
  void setProfileStream(cudaStream_t stream) noexcept { mImpl->setProfileStream(stream); }
  //! What setProfileStream set, or null.
  cudaStream_t getProfileStream() const noexcept { return mImpl->getProfileStream(); }
  //! Adds a profile and gives its index; -1 if it is not valid.
  int32_t addOptimizationProfile(IOptimizationProfile const* profile) noexcept {
    return mImpl->addOptimizationProfile(profile);
  }
  //! Number of profiles.
  int32_t getNbOptimizationProfiles() const noexcept { return mImpl->getNbOptimizationProfiles(); }
  //! How much the engine tells about its layers.
  void setProfilingVerbosity(ProfilingVerbosity verbosity) noexcept { mImpl->setProfilingVerbosity(verbosity); }
  //! What setProfilingVerbosity set; kLAYER_NAMES_ONLY by default.
  ProfilingVerbosity getProfilingVerbosity() const noexcept { return mImpl->getProfilingVerbosity(); }
  //! Who chooses algorithms. Deprecated: use an editable timing cache.
  TRT_DEPRECATED void setAlgorithmSelector(IAlgorithmSelector* selector) noexcept {
    mImpl->setAlgorithmSelector(selector);
  }
  //! What setAlgorithmSelector set, or null. Deprecated: use an editable timing cache.
  TRT_DEPRECATED IAlgorithmSelector* getAlgorithmSelector() const noexcept { return mImpl->getAlgorithmSelector(); }
  //! Shapes for calibration; false on an error. Deprecated: use explicit quantization.
  TRT_DEPRECATED bool setCalibrationProfile(IOptimizationProfile const* profile) noexcept {
    return mImpl->setCalibrationProfile(profile);
  }
  //! What setCalibrationProfile set, or null. Deprecated: use explicit quantization.
  TRT_DEPRECATED IOptimizationProfile const* getCalibrationProfile() noexcept { return mImpl->getCalibrationProfile(); }
  //! Replaces all quantization flags. Deprecated: use explicit quantization.
  TRT_DEPRECATED void setQuantizationFlags(QuantizationFlags flags) noexcept { mImpl->setQuantizationFlags(flags); }
  //! All quantization flags. Deprecated: use explicit quantization.
  TRT_DEPRECATED QuantizationFlags getQuantizationFlags() const noexcept { return mImpl->getQuantizationFlags(); }
  //! Clears one of them. Deprecated: use explicit quantization.
  TRT_DEPRECATED void clearQuantizationFlag(QuantizationFlag flag) noexcept { mImpl->clearQuantizationFlag(flag); }
  //! Sets one of them. Deprecated: use explicit quantization.
  TRT_DEPRECATED void setQuantizationFlag(QuantizationFlag flag) noexcept { mImpl->setQuantizationFlag(flag); }
  //! Whether one of them is set. Deprecated: use explicit quantization.
  TRT_DEPRECATED bool getQuantizationFlag(QuantizationFlag flag) const noexcept {
    return mImpl->getQuantizationFlag(flag);
  }
  //! Where kernels may come from; false if a source is not known.
  bool setTacticSources(TacticSources tacticSources) noexcept { return mImpl->setTacticSources(tacticSources); }
  //! What setTacticSources set; kEDGE_MASK_CONVOLUTIONS and kJIT_CONVOLUTIONS by default.
  TacticSources getTacticSources() const noexcept { return mImpl->getTacticSources(); }
  //! A timing cache from bytes that ITimingCache::serialize gave, or an empty one for size 0, which the caller deletes;
  //! null if the bytes are no cache.
  ITimingCache* createTimingCache(void const* blob, size_t size) const noexcept {
    return mImpl->createTimingCache(blob, size);
  }
  //! Uses a cache for builds; false if it was made for another device or version, unless that is to be ignored.
  bool setTimingCache(ITimingCache const& cache, bool ignoreMismatch) noexcept {
    return mImpl->setTimingCache(cache, ignoreMismatch);
  }
  //! The object that setTimingCache was given, or null.
  ITimingCache const* getTimingCache() const noexcept { return mImpl->getTimingCache(); }
  //! Limits a kind of memory, bytes.
  void setMemoryPoolLimit(MemoryPoolType pool, size_t poolSize) noexcept { mImpl->setMemoryPoolLimit(pool, poolSize); }
  //! Limit of a kind of memory, bytes; by default what the device has, of kTACTIC_SHARED_MEMORY 1 GiB.
  size_t getMemoryPoolLimit(MemoryPoolType pool) const noexcept { return mImpl->getMemoryPoolLimit(pool); }
  //! Switches a feature on or off.
  void setPreviewFeature(PreviewFeature feature, bool enable) noexcept { mImpl->setPreviewFeature(feature, enable); }
  //! Whether a feature is on.
  bool getPreviewFeature(PreviewFeature feature) const noexcept { return mImpl->getPreviewFeature(feature); }
  //! How long to look for fast kernels: 0 (hardly) to 5 (all that is known).
  void setBuilderOptimizationLevel(int32_t level) noexcept { mImpl->setBuilderOptimizationLevel(level); }
  //! What setBuilderOptimizationLevel set; 3 by default.
  int32_t getBuilderOptimizationLevel() noexcept { return mImpl->getBuilderOptimizationLevel(); }
  //! On which devices the plan must run.
  void setHardwareCompatibilityLevel(HardwareCompatibilityLevel hardwareCompatibilityLevel) noexcept {
    mImpl->setHardwareCompatibilityLevel(hardwareCompatibilityLevel);
  }
  //! What setHardwareCompatibilityLevel set; kNONE by default.
  HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept {
    return mImpl->getHardwareCompatibilityLevel();
  }
  //! Plugin libraries that a version-compatible plan is to carry.
  void setPluginsToSerialize(char const* const* paths, int32_t nbPaths) noexcept {
    mImpl->setPluginsToSerialize(paths, nbPaths);
  }
  //! Path of one of them; null if out of range.
  char const* getPluginToSerialize(int32_t index) const noexcept { return mImpl->getPluginToSerialize(index); }
  //! Number of them.
  int32_t getNbPluginsToSerialize() const noexcept { return mImpl->getNbPluginsToSerialize(); }
  //! Streams that an execution may use beside the one it is given.
  void setMaxAuxStreams(int32_t nbStreams) noexcept { mImpl->setMaxAuxStreams(nbStreams); }
  //! What setMaxAuxStreams set; -1: the library decides.
  int32_t getMaxAuxStreams() const noexcept { return mImpl->getMaxAuxStreams(); }
  //! Who learns how far the build is; null: nobody.
  void setProgressMonitor(IProgressMonitor* monitor) noexcept { mImpl->setProgressMonitor(monitor); }
  //! What setProgressMonitor set, or null.
  IProgressMonitor* getProgressMonitor() const noexcept { return mImpl->getProgressMonitor(); }
  //! System to build for.
  void setRuntimePlatform(RuntimePlatform runtimePlatform) noexcept { mImpl->setRuntimePlatform(runtimePlatform); }
  //! What setRuntimePlatform set; kSAME_AS_BUILD by default.
  RuntimePlatform getRuntimePlatform() const noexcept { return mImpl->getRuntimePlatform(); }
  //! Most tactics to time for a layer; -1: the library decides.
  void setMaxNbTactics(int32_t maxNbTactics) noexcept { mImpl->setMaxNbTactics(maxNbTactics); }
  //! What setMaxNbTactics set; -1 by default.
  int32_t getMaxNbTactics() const noexcept { return mImpl->getMaxNbTactics(); }
  //! How long to look for ways to keep data on chip; false if the level is not known.
  bool setTilingOptimizationLevel(TilingOptimizationLevel level) noexcept {
    return mImpl->setTilingOptimizationLevel(level);
  }
  //! What setTilingOptimizationLevel set; kNONE by default.
  TilingOptimizationLevel getTilingOptimizationLevel() const noexcept { return mImpl->getTilingOptimizationLevel(); }
  //! Share of the L2 cache for that, bytes; false if negative.
  bool setL2LimitForTiling(int64_t size) noexcept { return mImpl->setL2LimitForTiling(size); }
  //! What setL2LimitForTiling set.
  int64_t getL2LimitForTiling() const noexcept { return mImpl->getL2LimitForTiling(); }
  //! Where to measure if not here; false if it is not supported.
  bool setRemoteAutoTuningConfig(char const* config) noexcept { return mImpl->setRemoteAutoTuningConfig(config); }
  //! What setRemoteAutoTuningConfig set, or null.
  char const* getRemoteAutoTuningConfig() const noexcept { return mImpl->getRemoteAutoTuningConfig(); }

 protected:
  apiv::VBuilderConfig* mImpl;
};

//! Makes networks and configurations, and builds plans of them.
class IBuilder : public INoCopy {
 public:
  virtual ~IBuilder() noexcept = default;
  //! Whether half precision is faster than single here. Deprecated: use a strongly typed network.
  TRT_DEPRECATED bool platformHasFastFp16() const noexcept { return mImpl->platformHasFastFp16(); }
  //! Whether 8-bit integers are faster than floats here. Deprecated: use a strongly typed network.
  TRT_DEPRECATED bool platformHasFastInt8() const noexcept { return mImpl->platformHasFastInt8(); }
  //! Largest batch of an accelerator; 0 without one.
  int32_t getMaxDLABatchSize() const noexcept { return mImpl->getMaxDLABatchSize(); }
  //! Number of accelerators; 0 without any.
  int32_t getNbDLACores() const noexcept { return mImpl->getNbDLACores(); }
  //! Allocator for device memory, which must outlive the builder; null: the default one.
  void setGpuAllocator(IGpuAllocator* allocator) noexcept { mImpl->setGpuAllocator(allocator); }
  //! A configuration with default choices, which the caller deletes; null on an error.
  IBuilderConfig* createBuilderConfig() noexcept { return mImpl->createBuilderConfig(); }
  //! An empty network, which the caller deletes before the builder; null if a flag is not known.
  INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept {
    return mImpl->createNetworkV2(flags);
  }
  //! An empty profile that lives as long as the builder; null on an error.
  IOptimizationProfile* createOptimizationProfile() noexcept { return mImpl->createOptimizationProfile(); }
  //! Where errors are recorded from now on; null: nowhere but in the log.
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  //! What setErrorRecorder set, or null.
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  //! Back to the state after creation.
  void reset() noexcept { mImpl->reset(); }
  //! Whether TF32 is faster than single precision here. Deprecated: nothing replaces it.
  TRT_DEPRECATED bool platformHasTf32() const noexcept { return mImpl->platformHasTf32(); }
  //! Builds a plan, which the caller deletes; null, with an error, if the network cannot be built.
  IHostMemory* buildSerializedNetwork(INetworkDefinition& network, IBuilderConfig& config) noexcept {
    return mImpl->buildSerializedNetwork(network, config);
  }
  //! Builds a plan and writes it; false if it cannot be built or written.
  bool buildSerializedNetworkToStream(INetworkDefinition& network, IBuilderConfig& config,
                                      IStreamWriter& writer) noexcept {
    return mImpl->buildSerializedNetworkToStream(network, config, writer);
  }
  //! The same, and the source text of kernels, if any; the caller deletes both.
  IHostMemory* buildSerializedNetwork(INetworkDefinition& network, IBuilderConfig& config,
                                      IHostMemory*& kernelText) noexcept {
    return mImpl->buildSerializedNetworkWithKernelText(network, config, kernelText);
  }
  //! Builds an engine without the detour of a plan; null, with an error, if the network cannot be built.
  ICudaEngine* buildEngineWithConfig(INetworkDefinition& network, IBuilderConfig& config) noexcept {
    return mImpl->buildEngineWithConfig(network, config);
  }
  //! Whether the network can be built with these choices; if not, the log says why.
  bool isNetworkSupported(INetworkDefinition const& network, IBuilderConfig const& config) const noexcept {
    return mImpl->isNetworkSupported(network, config);
  }
  //! The logger that the builder was created with.
  ILogger* getLogger() const noexcept { return mImpl->getLogger(); }
  //! Threads that the builder may use, the caller's included; false if less than 1.
  bool setMaxThreads(int32_t maxThreads) noexcept { return mImpl->setMaxThreads(maxThreads); }
  //! What setMaxThreads set; 1 by default.
  int32_t getMaxThreads() const noexcept { return mImpl->getMaxThreads(); }
  //! The builder's plugin registry, whose parent is the process's.
  IPluginRegistry& getPluginRegistry() noexcept { return mImpl->getPluginRegistry(); }

 protected:
  apiv::VBuilder* mImpl;
};

namespace safe {
//! The plugin registry of safety-certified engines, which Kiln does not have.
class IPluginRegistry;
}  // namespace safe

//! The registry whose plugins a builder for this capability may use; the same as getPluginRegistry() for kSTANDARD,
//! null where there is none.
extern "C" TENSORRTAPI nvinfer1::IPluginRegistry* getBuilderPluginRegistry(
    nvinfer1::EngineCapability capability) noexcept;

//! Always null. Deprecated: use getBuilderPluginRegistry.
extern "C" TRT_DEPRECATED_API nvinfer1::safe::IPluginRegistry* getBuilderSafePluginRegistry(
    nvinfer1::EngineCapability capability) noexcept;

//! Folder in which parts of the library that are loaded on demand are looked for; false if the path is null.
extern "C" TENSORRTAPI bool setInternalLibraryPath(AsciiChar const* path) noexcept;

namespace {

//! Creates a builder that reports to the logger; null, with a message to the logger, if the library is older than these
//! headers. The caller deletes it, after its networks and configurations.
inline IBuilder* createInferBuilder(ILogger& logger) noexcept {
  return static_cast<IBuilder*>(createInferBuilder_INTERNAL(&logger, NV_TENSORRT_VERSION));
}

}  // namespace
}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_H
