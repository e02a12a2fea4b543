// Enums of networks: kinds of layers and what layers can do.

#include <NvInfer.h>

#include "bindings.h"
#include "enums.h"

namespace kiln::python {

using namespace nvinfer1;

void bind_layers_enums(nb::module_& m) {
  strict_enum<LayerType>(m, "LayerType", "Which class a layer has.")
      .value("CONVOLUTION", LayerType::kCONVOLUTION, "IConvolutionLayer.")
      .value("GRID_SAMPLE", LayerType::kGRID_SAMPLE, "IGridSampleLayer.")
      .value("NMS", LayerType::kNMS, "INMSLayer.")
      .value("ACTIVATION", LayerType::kACTIVATION, "IActivationLayer.")
      .value("POOLING", LayerType::kPOOLING, "IPoolingLayer.")
      .value("LRN", LayerType::kLRN, "ILRNLayer.")
      .value("SCALE", LayerType::kSCALE, "IScaleLayer.")
      .value("SOFTMAX", LayerType::kSOFTMAX, "ISoftMaxLayer.")
      .value("DECONVOLUTION", LayerType::kDECONVOLUTION, "IDeconvolutionLayer.")
      .value("CONCATENATION", LayerType::kCONCATENATION, "IConcatenationLayer.")
      .value("ELEMENTWISE", LayerType::kELEMENTWISE, "IElementWiseLayer.")
      .value("PLUGIN", LayerType::kPLUGIN, "A plugin layer of an interface that is gone.")
      .value("UNARY", LayerType::kUNARY, "IUnaryLayer.")
      .value("PADDING", LayerType::kPADDING, "IPaddingLayer.")
      .value("SHUFFLE", LayerType::kSHUFFLE, "IShuffleLayer.")
      .value("REDUCE", LayerType::kREDUCE, "IReduceLayer.")
      .value("TOPK", LayerType::kTOPK, "ITopKLayer.")
      .value("GATHER", LayerType::kGATHER, "IGatherLayer.")
      .value("MATRIX_MULTIPLY", LayerType::kMATRIX_MULTIPLY, "IMatrixMultiplyLayer.")
      .value("RAGGED_SOFTMAX", LayerType::kRAGGED_SOFTMAX, "IRaggedSoftMaxLayer.")
      .value("CONSTANT", LayerType::kCONSTANT, "IConstantLayer.")
      .value("IDENTITY", LayerType::kIDENTITY, "IIdentityLayer.")
      .value("CAST", LayerType::kCAST, "ICastLayer.")
      .value("PLUGIN_V2", LayerType::kPLUGIN_V2, "IPluginV2Layer.")
      .value("SLICE", LayerType::kSLICE, "ISliceLayer.")
      .value("SHAPE", LayerType::kSHAPE, "IShapeLayer.")
      .value("PARAMETRIC_RELU", LayerType::kPARAMETRIC_RELU, "IParametricReLULayer.")
      .value("RESIZE", LayerType::kRESIZE, "IResizeLayer.")
      .value("TRIP_LIMIT", LayerType::kTRIP_LIMIT, "ITripLimitLayer.")
      .value("RECURRENCE", LayerType::kRECURRENCE, "IRecurrenceLayer.")
      .value("ITERATOR", LayerType::kITERATOR, "IIteratorLayer.")
      .value("LOOP_OUTPUT", LayerType::kLOOP_OUTPUT, "ILoopOutputLayer.")
      .value("SELECT", LayerType::kSELECT, "ISelectLayer.")
      .value("ASSERTION", LayerType::kASSERTION, "IAssertionLayer.")
      .value("FILL", LayerType::kFILL, "IFillLayer.")
      .value("QUANTIZE", LayerType::kQUANTIZE, "IQuantizeLayer.")
      .value("DEQUANTIZE", LayerType::kDEQUANTIZE, "IDequantizeLayer.")
      .value("CONDITION", LayerType::kCONDITION, "IConditionLayer.")
      .value("CONDITIONAL_INPUT", LayerType::kCONDITIONAL_INPUT, "IIfConditionalInputLayer.")
      .value("CONDITIONAL_OUTPUT", LayerType::kCONDITIONAL_OUTPUT, "IIfConditionalOutputLayer.")
      .value("SCATTER", LayerType::kSCATTER, "IScatterLayer.")
      .value("EINSUM", LayerType::kEINSUM, "IEinsumLayer.")
      .value("ONE_HOT", LayerType::kONE_HOT, "IOneHotLayer.")
      .value("NON_ZERO", LayerType::kNON_ZERO, "INonZeroLayer.")
      .value("REVERSE_SEQUENCE", LayerType::kREVERSE_SEQUENCE, "IReverseSequenceLayer.")
      .value("NORMALIZATION", LayerType::kNORMALIZATION, "INormalizationLayer.")
      .value("PLUGIN_V3", LayerType::kPLUGIN_V3, "IPluginV3Layer.")
      .value("SQUEEZE", LayerType::kSQUEEZE, "ISqueezeLayer.")
      .value("UNSQUEEZE", LayerType::kUNSQUEEZE, "IUnsqueezeLayer.")
      .value("CUMULATIVE", LayerType::kCUMULATIVE, "ICumulativeLayer.")
      .value("DYNAMIC_QUANTIZE", LayerType::kDYNAMIC_QUANTIZE, "IDynamicQuantizeLayer.")
      .value("ATTENTION_INPUT", LayerType::kATTENTION_INPUT, "IAttentionInputLayer.")
      .value("ATTENTION_OUTPUT", LayerType::kATTENTION_OUTPUT, "IAttentionOutputLayer.")
      .value("ROTARY_EMBEDDING", LayerType::kROTARY_EMBEDDING, "IRotaryEmbeddingLayer.")
      .value("KV_CACHE_UPDATE", LayerType::kKVCACHE_UPDATE, "IKVCacheUpdateLayer.")
      .value("MOE", LayerType::kMOE, "IMoELayer.")
      .value("DIST_COLLECTIVE", LayerType::kDIST_COLLECTIVE, "IDistCollectiveLayer.");
  int_enum<TensorFormat>(m, "TensorFormat", "How the elements of a tensor lie in memory.")
      .value("LINEAR", TensorFormat::kLINEAR, "Row by row, the last axis innermost.")
      .value("CHW2", TensorFormat::kCHW2, "Pairs of channels innermost; the number of channels is rounded up to 2.")
      .value("HWC8", TensorFormat::kHWC8, "Channels innermost; their number is rounded up to 8.")
      .value("CHW4", TensorFormat::kCHW4, "Fours of channels innermost; the number of channels is rounded up to 4.")
      .value("CHW16", TensorFormat::kCHW16,
             "Sixteens of channels innermost; the number of channels is rounded up to 16.")
      .value("CHW32", TensorFormat::kCHW32,
             "Thirty-twos of channels innermost; the number of channels is rounded up to 32.")
      .value("DHWC8", TensorFormat::kDHWC8, "Volumes, channels innermost; their number is rounded up to 8.")
      .value("CDHW32", TensorFormat::kCDHW32,
             "Volumes, thirty-twos of channels innermost; the number of channels is rounded up to 32.")
      .value("HWC", TensorFormat::kHWC, "Channels innermost, not rounded.")
      .value("DLA_LINEAR", TensorFormat::kDLA_LINEAR, "Planar, rows rounded up to 64 bytes, for an accelerator.")
      .value("DLA_HWC4", TensorFormat::kDLA_HWC4,
             "Images of 1, 3 or 4 channels, channels innermost, rows rounded up, for an accelerator.")
      .value("HWC16", TensorFormat::kHWC16, "Channels innermost; their number is rounded up to 16.")
      .value("DHWC", TensorFormat::kDHWC, "Volumes, channels innermost, not rounded.");
  strict_enum<PaddingMode>(m, "PaddingMode", "How output extents of convolutions and poolings follow from padding.")
      .value("EXPLICIT_ROUND_DOWN", PaddingMode::kEXPLICIT_ROUND_DOWN,
             "Padding as set; a window that does not fit is left out.")
      .value("EXPLICIT_ROUND_UP", PaddingMode::kEXPLICIT_ROUND_UP,
             "Padding as set; a window that does not fit is filled up.")
      .value("SAME_UPPER", PaddingMode::kSAME_UPPER,
             "Output is input / stride, rounded up; an odd element of padding goes to the end.")
      .value("SAME_LOWER", PaddingMode::kSAME_LOWER,
             "Output is input / stride, rounded up; an odd element of padding goes to the beginning.");
  strict_enum<ActivationType>(m, "ActivationType", "Function that an activation layer applies to every element x.")
      .value("RELU", ActivationType::kRELU, "max(0, x).")
      .value("SIGMOID", ActivationType::kSIGMOID, "1 / (1 + exp(-x)).")
      .value("TANH", ActivationType::kTANH, "tanh(x).")
      .value("LEAKY_RELU", ActivationType::kLEAKY_RELU, "x if x >= 0, else alpha * x.")
      .value("ELU", ActivationType::kELU, "x if x >= 0, else alpha * (exp(x) - 1).")
      .value("SELU", ActivationType::kSELU, "beta * x if x > 0, else beta * (alpha * exp(x) - alpha).")
      .value("SOFTSIGN", ActivationType::kSOFTSIGN, "x / (1 + |x|).")
      .value("SOFTPLUS", ActivationType::kSOFTPLUS, "alpha * log(exp(beta * x) + 1).")
      .value("CLIP", ActivationType::kCLIP, "x limited to [alpha, beta].")
      .value("HARD_SIGMOID", ActivationType::kHARD_SIGMOID, "alpha * x + beta, limited to [0, 1].")
      .value("SCALED_TANH", ActivationType::kSCALED_TANH, "alpha * tanh(beta * x).")
      .value("THRESHOLDED_RELU", ActivationType::kTHRESHOLDED_RELU, "x if x > alpha, else 0.")
      .value("GELU_ERF", ActivationType::kGELU_ERF, "0.5 * x * (1 + erf(x / sqrt(2))).")
      .value("GELU_TANH", ActivationType::kGELU_TANH, "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).");
  strict_enum<PoolingType>(m, "PoolingType", "What a pooling layer computes of a window.")
      .value("MAX", PoolingType::kMAX, "The largest element.")
      .value("AVERAGE", PoolingType::kAVERAGE, "The mean.")
      .value("MAX_AVERAGE_BLEND", PoolingType::kMAX_AVERAGE_BLEND,
             "(1 - f) * largest + f * mean, f being the blend factor.");
  strict_enum<ScaleMode>(m, "ScaleMode", "How many coefficients a scale layer has.")
      .value("UNIFORM", ScaleMode::kUNIFORM, "One for the tensor.")
      .value("CHANNEL", ScaleMode::kCHANNEL, "One a channel.")
      .value("ELEMENTWISE", ScaleMode::kELEMENTWISE, "One an element.");
  strict_enum<ElementWiseOperation>(m, "ElementWiseOperation", "Operation on the elements a and b of two tensors.")
      .value("SUM", ElementWiseOperation::kSUM, "a + b.")
      .value("PROD", ElementWiseOperation::kPROD, "a * b.")
      .value("MAX", ElementWiseOperation::kMAX, "The larger of a and b.")
      .value("MIN", ElementWiseOperation::kMIN, "The smaller of a and b.")
      .value("SUB", ElementWiseOperation::kSUB, "a - b.")
      .value("DIV", ElementWiseOperation::kDIV, "a / b; integers are truncated.")
      .value("POW", ElementWiseOperation::kPOW, "a to the power b.")
      .value("FLOOR_DIV", ElementWiseOperation::kFLOOR_DIV, "a / b, rounded down.")
      .value("AND", ElementWiseOperation::kAND, "Both, of booleans.")
      .value("OR", ElementWiseOperation::kOR, "Either, of booleans.")
      .value("XOR", ElementWiseOperation::kXOR, "One and not the other, of booleans.")
      .value("EQUAL", ElementWiseOperation::kEQUAL, "Whether a equals b, as a boolean.")
      .value("GREATER", ElementWiseOperation::kGREATER, "Whether a is greater than b, as a boolean.")
      .value("LESS", ElementWiseOperation::kLESS, "Whether a is less than b, as a boolean.");
  strict_enum<ScatterMode>(m, "ScatterMode", "What the indices of a scatter layer choose.")
      .value("ELEMENT", ScatterMode::kELEMENT, "One element each along one axis, as ONNX ScatterElements.")
      .value("ND", ScatterMode::kND, "Slices at index tuples, as ONNX ScatterND.");
  strict_enum<GatherMode>(m, "GatherMode", "What the indices of a gather layer choose.")
      .value("DEFAULT", GatherMode::kDEFAULT, "Slices of the data along one axis, as ONNX Gather.")
      .value("ELEMENT", GatherMode::kELEMENT, "One element each along one axis, as ONNX GatherElements.")
      .value("ND", GatherMode::kND, "Slices at index tuples, as ONNX GatherND.");
  strict_enum<UnaryOperation>(m, "UnaryOperation", "Function of every element x.")
      .value("EXP", UnaryOperation::kEXP, "exp(x).")
      .value("LOG", UnaryOperation::kLOG, "Natural logarithm.")
      .value("SQRT", UnaryOperation::kSQRT, "Square root.")
      .value("RECIP", UnaryOperation::kRECIP, "1 / x.")
      .value("ABS", UnaryOperation::kABS, "|x|.")
      .value("NEG", UnaryOperation::kNEG, "-x.")
      .value("SIN", UnaryOperation::kSIN, "Sine.")
      .value("COS", UnaryOperation::kCOS, "Cosine.")
      .value("TAN", UnaryOperation::kTAN, "Tangent.")
      .value("SINH", UnaryOperation::kSINH, "Hyperbolic sine.")
      .value("COSH", UnaryOperation::kCOSH, "Hyperbolic cosine.")
      .value("ASIN", UnaryOperation::kASIN, "Inverse sine.")
      .value("ACOS", UnaryOperation::kACOS, "Inverse cosine.")
      .value("ATAN", UnaryOperation::kATAN, "Inverse tangent.")
      .value("ASINH", UnaryOperation::kASINH, "Inverse hyperbolic sine.")
      .value("ACOSH", UnaryOperation::kACOSH, "Inverse hyperbolic cosine.")
      .value("ATANH", UnaryOperation::kATANH, "Inverse hyperbolic tangent.")
      .value("CEIL", UnaryOperation::kCEIL, "Rounded up.")
      .value("FLOOR", UnaryOperation::kFLOOR, "Rounded down.")
      .value("ERF", UnaryOperation::kERF, "Gauss error function.")
      .value("NOT", UnaryOperation::kNOT, "Not, of booleans.")
      .value("SIGN", UnaryOperation::kSIGN, "-1, 0 or 1.")
      .value("ROUND", UnaryOperation::kROUND, "Rounded to the nearest, halves to even.")
      .value("ISINF", UnaryOperation::kISINF, "Whether x is infinite, as a boolean.")
      .value("ISNAN", UnaryOperation::kISNAN, "Whether x is not a number, as a boolean.");
  strict_enum<ReduceOperation>(m, "ReduceOperation", "How elements are combined into one.")
      .value("SUM", ReduceOperation::kSUM, "Their sum.")
      .value("PROD", ReduceOperation::kPROD, "Their product.")
      .value("MAX", ReduceOperation::kMAX, "The largest.")
      .value("MIN", ReduceOperation::kMIN, "The smallest.")
      .value("AVG", ReduceOperation::kAVG, "Their mean.")
      .value("NONE", ReduceOperation::kNONE, "Not at all; for collective layers that only move data.");
  strict_enum<InterpolationMode>(m, "InterpolationMode", "How a value between samples is computed.")
      .value("NEAREST", InterpolationMode::kNEAREST, "The nearest sample.")
      .value("LINEAR", InterpolationMode::kLINEAR, "Linear along each axis.")
      .value("CUBIC", InterpolationMode::kCUBIC, "Cubic along each axis.");
  strict_enum<SampleMode>(m, "SampleMode", "What is read outside a tensor.")
      .value("STRICT_BOUNDS", SampleMode::kSTRICT_BOUNDS, "An error.")
      .value("WRAP", SampleMode::kWRAP, "The tensor repeated.")
      .value("CLAMP", SampleMode::kCLAMP, "The nearest element of the tensor.")
      .value("FILL", SampleMode::kFILL, "A given value; grid samples read 0.")
      .value("REFLECT", SampleMode::kREFLECT, "The tensor mirrored at its edges.");
  strict_enum<TopKOperation>(m, "TopKOperation", "Which elements a top-k layer picks.")
      .value("MAX", TopKOperation::kMAX, "The largest.")
      .value("MIN", TopKOperation::kMIN, "The smallest.");
  strict_enum<MatrixOperation>(m, "MatrixOperation", "How a matrix product reads an input.")
      .value("NONE", MatrixOperation::kNONE, "The last two axes are a matrix.")
      .value("TRANSPOSE", MatrixOperation::kTRANSPOSE, "The last two axes are a matrix to be transposed.")
      .value("VECTOR", MatrixOperation::kVECTOR, "The last axis is a vector.");
  strict_enum<CollectiveOperation>(m, "CollectiveOperation",
                                   "What the devices of a group do with their tensors together.")
      .value("ALL_REDUCE", CollectiveOperation::kALL_REDUCE,
             "Combine element by element; every device gets the result.")
      .value("ALL_GATHER", CollectiveOperation::kALL_GATHER, "Concatenate; every device gets the result.")
      .value("BROADCAST", CollectiveOperation::kBROADCAST, "One device's tensor goes to all.")
      .value("REDUCE", CollectiveOperation::kREDUCE, "Combine element by element; one device gets the result.")
      .value("REDUCE_SCATTER", CollectiveOperation::kREDUCE_SCATTER,
             "Combine element by element; every device gets its share of the result.");
  strict_enum<ResizeCoordinateTransformation>(m, "ResizeCoordinateTransformation",
                                              "Where an output element x lies in the input of a resize.")
      .value("ALIGN_CORNERS", ResizeCoordinateTransformation::kALIGN_CORNERS,
             "x * (in - 1) / (out - 1): the first and last elements lie on each other.")
      .value("ASYMMETRIC", ResizeCoordinateTransformation::kASYMMETRIC, "x * in / out.")
      .value("HALF_PIXEL", ResizeCoordinateTransformation::kHALF_PIXEL,
             "(x + 0.5) * in / out - 0.5: elements are areas, and the corners of the images lie on each other.");
  strict_enum<ResizeSelector>(m, "ResizeSelector", "Where a resize to extent 1 takes its element.")
      .value("FORMULA", ResizeSelector::kFORMULA, "Where the coordinate transformation says.")
      .value("UPPER", ResizeSelector::kUPPER, "The first element.");
  strict_enum<ResizeRoundMode>(m, "ResizeRoundMode", "How a nearest resize rounds a coordinate.")
      .value("HALF_UP", ResizeRoundMode::kHALF_UP, "To the nearest, halves up.")
      .value("HALF_DOWN", ResizeRoundMode::kHALF_DOWN, "To the nearest, halves down.")
      .value("FLOOR", ResizeRoundMode::kFLOOR, "Down.")
      .value("CEIL", ResizeRoundMode::kCEIL, "Up.");
  strict_enum<LoopOutput>(m, "LoopOutput", "What leaves a loop.")
      .value("LAST_VALUE", LoopOutput::kLAST_VALUE, "The value after the last iteration.")
      .value("CONCATENATE", LoopOutput::kCONCATENATE, "The values of all iterations along a new axis.")
      .value("REVERSE", LoopOutput::kREVERSE, "The same, the last iteration first.");
  strict_enum<TripLimit>(m, "TripLimit", "How a loop ends.")
      .value("COUNT", TripLimit::kCOUNT, "After a number of iterations that is known when it begins.")
      .value("WHILE", TripLimit::kWHILE, "When a condition becomes false.");
  strict_enum<BoundingBoxFormat>(m, "BoundingBoxFormat", "How four numbers describe a box.")
      .value("CORNER_PAIRS", BoundingBoxFormat::kCORNER_PAIRS,
             "Two opposite corners: x1, y1, x2, y2, in any order of the two.")
      .value("CENTER_SIZES", BoundingBoxFormat::kCENTER_SIZES, "Centre and extents: x, y, width, height.");
  strict_enum<FillOperation>(m, "FillOperation", "What a fill layer writes.")
      .value("LINSPACE", FillOperation::kLINSPACE,
             "A sequence: alpha, alpha + beta, alpha + 2 beta and so on along each axis.")
      .value("RANDOM_UNIFORM", FillOperation::kRANDOM_UNIFORM,
             "Random numbers, equally likely in [alpha, beta); each run of a context draws new ones.")
      .value("RANDOM_NORMAL", FillOperation::kRANDOM_NORMAL,
             "Random numbers of the normal distribution with mean alpha and deviation beta, new ones too.");
  strict_enum<CumulativeOperation>(m, "CumulativeOperation",
                                   "How a cumulative layer combines an element with those before it.")
      .value("SUM", CumulativeOperation::kSUM, "The running sum.");
  strict_enum<AttentionNormalizationOp>(m, "AttentionNormalizationOp",
                                        "What is done to the scores of an attention before they weigh the values.")
      .value("NONE", AttentionNormalizationOp::kNONE, "Nothing.")
      .value("SOFTMAX", AttentionNormalizationOp::kSOFTMAX, "A softmax along the keys.");
  strict_enum<KVCacheMode>(m, "KVCacheMode", "Layout of a key-value cache.")
      .value("LINEAR", KVCacheMode::kLINEAR, "One row after the other, new rows at the write index.");
  strict_enum<MoEActType>(m, "MoEActType", "Activation of a mixture-of-experts layer.")
      .value("NONE", MoEActType::kNONE, "None.")
      .value("SILU", MoEActType::kSILU, "x * sigmoid(x).");
}

}  // namespace kiln::python
