// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "layer_classes.h"

#include "kept_weights.h"

namespace kiln::python {
namespace {

using namespace nvinfer1;

template <class L>
nb::object as(ILayer* layer, nb::handle network) {
  return nb::cast(static_cast<L*>(layer), nb::rv_policy::reference_internal, network);
}

/// An object of its own: the program may hold the layer as an object of its derived class, too.
nb::object as_base(ILayer* layer, nb::handle network) { return nb::inst_reference(nb::type<ILayer>(), layer, network); }

template <class L>
nb::object with_weights(ILayer* layer, nb::handle network) {
  KeptWeights::of_network(network).note(*layer);
  return as<L>(layer, network);
}

using Show = nb::object (*)(ILayer*, nb::handle);

/// How a layer of this type is shown.
Show show_of(LayerType type) {
  switch (type) {
    case LayerType::kCONVOLUTION: return with_weights<IConvolutionLayer>;
    case LayerType::kCAST: return as<ICastLayer>;
    case LayerType::kACTIVATION: return as_base;
    case LayerType::kPOOLING: return as_base;
    case LayerType::kLRN: return as<ILRNLayer>;
    case LayerType::kSCALE: return with_weights<IScaleLayer>;
    case LayerType::kSOFTMAX: return as<ISoftMaxLayer>;
    case LayerType::kDECONVOLUTION: return with_weights<IDeconvolutionLayer>;
    case LayerType::kCONCATENATION: return as<IConcatenationLayer>;
    case LayerType::kELEMENTWISE: return as<IElementWiseLayer>;
    case LayerType::kUNARY: return as<IUnaryLayer>;
    case LayerType::kPADDING: return as<IPaddingLayer>;
    case LayerType::kSHUFFLE: return as<IShuffleLayer>;
    case LayerType::kREDUCE: return as<IReduceLayer>;
    case LayerType::kTOPK: return as<ITopKLayer>;
    case LayerType::kGATHER: return as<IGatherLayer>;
    case LayerType::kMATRIX_MULTIPLY: return as<IMatrixMultiplyLayer>;
    case LayerType::kRAGGED_SOFTMAX: return as<IRaggedSoftMaxLayer>;
    case LayerType::kCONSTANT: return with_weights<IConstantLayer>;
    case LayerType::kIDENTITY: return as<IIdentityLayer>;
    case LayerType::kPLUGIN_V2: return as<IPluginV2Layer>;
    case LayerType::kSLICE: return as<ISliceLayer>;
    case LayerType::kSHAPE: return as<IShapeLayer>;
    case LayerType::kPARAMETRIC_RELU: return as<IParametricReLULayer>;
    case LayerType::kRESIZE: return as<IResizeLayer>;
    case LayerType::kTRIP_LIMIT: return as<ITripLimitLayer>;
    case LayerType::kRECURRENCE: return as<IRecurrenceLayer>;
    case LayerType::kITERATOR: return as<IIteratorLayer>;
    case LayerType::kLOOP_OUTPUT: return as<ILoopOutputLayer>;
    case LayerType::kSELECT: return as<ISelectLayer>;
    case LayerType::kFILL: return as<IFillLayer>;
    case LayerType::kQUANTIZE: return as<IQuantizeLayer>;
    case LayerType::kDEQUANTIZE: return as<IDequantizeLayer>;
    case LayerType::kCONDITION: return as<IConditionLayer>;
    case LayerType::kCONDITIONAL_INPUT: return as<IIfConditionalInputLayer>;
    case LayerType::kCONDITIONAL_OUTPUT: return as<IIfConditionalOutputLayer>;
    case LayerType::kSCATTER: return as<IScatterLayer>;
    case LayerType::kEINSUM: return as<IEinsumLayer>;
    case LayerType::kASSERTION: return as<IAssertionLayer>;
    case LayerType::kONE_HOT: return as<IOneHotLayer>;
    case LayerType::kNON_ZERO: return as<INonZeroLayer>;
    case LayerType::kGRID_SAMPLE: return as<IGridSampleLayer>;
    case LayerType::kNMS: return as<INMSLayer>;
    case LayerType::kREVERSE_SEQUENCE: return as<IReverseSequenceLayer>;
    case LayerType::kNORMALIZATION: return as<INormalizationLayer>;
    case LayerType::kPLUGIN_V3: return as<IPluginV3Layer>;
    case LayerType::kSQUEEZE: return as<ISqueezeLayer>;
    case LayerType::kUNSQUEEZE: return as<IUnsqueezeLayer>;
    case LayerType::kCUMULATIVE: return as<ICumulativeLayer>;
    case LayerType::kDYNAMIC_QUANTIZE: return as<IDynamicQuantizeLayer>;
    case LayerType::kATTENTION_INPUT: return as<IAttentionInputLayer>;
    case LayerType::kATTENTION_OUTPUT: return as<IAttentionOutputLayer>;
    case LayerType::kROTARY_EMBEDDING: return as<IRotaryEmbeddingLayer>;
    case LayerType::kKVCACHE_UPDATE: return as<IKVCacheUpdateLayer>;
    case LayerType::kMOE: return as<IMoELayer>;
    case LayerType::kDIST_COLLECTIVE: return as<IDistCollectiveLayer>;
    case LayerType::kPLUGIN: break;  // no interface has it any more
  }
  return as_base;
}

}  // namespace

nb::object layer_for_python(ILayer* layer, nb::handle network) {
  return layer ? show_of(layer->getType())(layer, network) : nb::none();
}

}  // namespace kiln::python
