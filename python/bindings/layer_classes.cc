#include "layer_classes.h"

#include "convert.h"
#include "kept_weights.h"

namespace kiln::python {
namespace {

using namespace nvinfer1;

template <class L, class... Others>
constexpr bool kIsOneOf = (std::is_same_v<L, Others> || ...);
template <class L>
constexpr bool kHasWeights = kIsOneOf<L, IConvolutionLayer, IDeconvolutionLayer, IScaleLayer, IConstantLayer>;
template <class L>
constexpr bool kRedefinesType = kIsOneOf<L, IActivationLayer, IPoolingLayer>;

template <class L>
nb::object show(ILayer* layer, nb::handle network) {
  // An object of its own: the program may hold the layer as an object of its derived class, too.
  if constexpr (kRedefinesType<L>) return nb::inst_reference(nb::type<ILayer>(), layer, network);
  if constexpr (kHasWeights<L>) KeptWeights::of_network(network).note(*layer);
  return nb::cast(static_cast<L*>(layer), nb::rv_policy::reference_internal, network);
}

/// A class of layers in Python.
struct LayerClass {
  nb::handle (*type)();
  nb::object (*show)(ILayer* layer, nb::handle network);
};
template <class L>
constexpr LayerClass kClass = {[] { return nb::type<L>(); }, &show<L>};

LayerClass class_of(LayerType type) {
  switch (type) {
    case LayerType::kCONVOLUTION: return kClass<IConvolutionLayer>;
    case LayerType::kCAST: return kClass<ICastLayer>;
    case LayerType::kACTIVATION: return kClass<IActivationLayer>;
    case LayerType::kPOOLING: return kClass<IPoolingLayer>;
    case LayerType::kLRN: return kClass<ILRNLayer>;
    case LayerType::kSCALE: return kClass<IScaleLayer>;
    case LayerType::kSOFTMAX: return kClass<ISoftMaxLayer>;
    case LayerType::kDECONVOLUTION: return kClass<IDeconvolutionLayer>;
    case LayerType::kCONCATENATION: return kClass<IConcatenationLayer>;
    case LayerType::kELEMENTWISE: return kClass<IElementWiseLayer>;
    case LayerType::kUNARY: return kClass<IUnaryLayer>;
    case LayerType::kPADDING: return kClass<IPaddingLayer>;
    case LayerType::kSHUFFLE: return kClass<IShuffleLayer>;
    case LayerType::kREDUCE: return kClass<IReduceLayer>;
    case LayerType::kTOPK: return kClass<ITopKLayer>;
    case LayerType::kGATHER: return kClass<IGatherLayer>;
    case LayerType::kMATRIX_MULTIPLY: return kClass<IMatrixMultiplyLayer>;
    case LayerType::kRAGGED_SOFTMAX: return kClass<IRaggedSoftMaxLayer>;
    case LayerType::kCONSTANT: return kClass<IConstantLayer>;
    case LayerType::kIDENTITY: return kClass<IIdentityLayer>;
    case LayerType::kPLUGIN_V2: return kClass<IPluginV2Layer>;
    case LayerType::kSLICE: return kClass<ISliceLayer>;
    case LayerType::kSHAPE: return kClass<IShapeLayer>;
    case LayerType::kPARAMETRIC_RELU: return kClass<IParametricReLULayer>;
    case LayerType::kRESIZE: return kClass<IResizeLayer>;
    case LayerType::kTRIP_LIMIT: return kClass<ITripLimitLayer>;
    case LayerType::kRECURRENCE: return kClass<IRecurrenceLayer>;
    case LayerType::kITERATOR: return kClass<IIteratorLayer>;
    case LayerType::kLOOP_OUTPUT: return kClass<ILoopOutputLayer>;
    case LayerType::kSELECT: return kClass<ISelectLayer>;
    case LayerType::kFILL: return kClass<IFillLayer>;
    case LayerType::kQUANTIZE: return kClass<IQuantizeLayer>;
    case LayerType::kDEQUANTIZE: return kClass<IDequantizeLayer>;
    case LayerType::kCONDITION: return kClass<IConditionLayer>;
    case LayerType::kCONDITIONAL_INPUT: return kClass<IIfConditionalInputLayer>;
    case LayerType::kCONDITIONAL_OUTPUT: return kClass<IIfConditionalOutputLayer>;
    case LayerType::kSCATTER: return kClass<IScatterLayer>;
    case LayerType::kEINSUM: return kClass<IEinsumLayer>;
    case LayerType::kASSERTION: return kClass<IAssertionLayer>;
    case LayerType::kONE_HOT: return kClass<IOneHotLayer>;
    case LayerType::kNON_ZERO: return kClass<INonZeroLayer>;
    case LayerType::kGRID_SAMPLE: return kClass<IGridSampleLayer>;
    case LayerType::kNMS: return kClass<INMSLayer>;
    case LayerType::kREVERSE_SEQUENCE: return kClass<IReverseSequenceLayer>;
    case LayerType::kNORMALIZATION: return kClass<INormalizationLayer>;
    case LayerType::kPLUGIN_V3: return kClass<IPluginV3Layer>;
    case LayerType::kSQUEEZE: return kClass<ISqueezeLayer>;
    case LayerType::kUNSQUEEZE: return kClass<IUnsqueezeLayer>;
    case LayerType::kCUMULATIVE: return kClass<ICumulativeLayer>;
    case LayerType::kDYNAMIC_QUANTIZE: return kClass<IDynamicQuantizeLayer>;
    case LayerType::kATTENTION_INPUT: return kClass<IAttentionInputLayer>;
    case LayerType::kATTENTION_OUTPUT: return kClass<IAttentionOutputLayer>;
    case LayerType::kROTARY_EMBEDDING: return kClass<IRotaryEmbeddingLayer>;
    case LayerType::kKVCACHE_UPDATE: return kClass<IKVCacheUpdateLayer>;
    case LayerType::kMOE: return kClass<IMoELayer>;
    case LayerType::kDIST_COLLECTIVE: return kClass<IDistCollectiveLayer>;
    case LayerType::kPLUGIN: break;  // no interface has it any more
  }
  return kClass<ILayer>;
}

}  // namespace

nb::object layer_for_python(ILayer* layer, nb::handle network) {
  return layer ? class_of(layer->getType()).show(layer, network) : nb::none();
}

void check_layer_class(const ILayer& layer, nb::handle type) {
  const nb::handle own = class_of(layer.getType()).type();
  if (PyType_Check(type.ptr()) != 0 &&
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(own.ptr()), reinterpret_cast<PyTypeObject*>(type.ptr())) != 0)
    return;
  throw nb::type_error(
      str("a layer of ", nb::repr(own).c_str(), " cannot be given ", nb::repr(type).c_str(), " as its class").c_str());
}

}  // namespace kiln::python
