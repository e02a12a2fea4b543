// Enums of builders, their configuration, and the parser.

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include "bindings.h"
#include "enums.h"

namespace kiln::python {

using namespace nvinfer1;

void bind_build_enums(nb::module_& m) {
  int_enum<EngineCapability>(m, "EngineCapability", "Kind of runtime that an engine is for.")
      .value("STANDARD", EngineCapability::kSTANDARD, "The normal runtime, all layers.")
      .value("SAFETY", EngineCapability::kSAFETY, "The safety-certified runtime and its layers.")
      .value("DLA_STANDALONE", EngineCapability::kDLA_STANDALONE, "A deep learning accelerator without this library.");
  int_enum<BuilderFlag>(m, "BuilderFlag", "Choices for a build; a bit number in BuilderFlags.")
      .value("FP16", BuilderFlag::kFP16,
             "Weakly typed networks may compute in half precision. Deprecated: use a strongly typed network.")
      .value("BF16", BuilderFlag::kBF16,
             "Weakly typed networks may compute in bfloat16. Deprecated: use a strongly typed network.")
      .value("INT8", BuilderFlag::kINT8,
             "Weakly typed networks may compute in 8-bit integers. Deprecated: use a strongly typed network with "
             "explicit quantization.")
      .value("DEBUG", BuilderFlag::kDEBUG, "Wait and check for errors after every layer.")
      .value("GPU_FALLBACK", BuilderFlag::kGPU_FALLBACK,
             "Layers that the chosen accelerator (DLA) cannot run go to the GPU.")
      .value("REFIT", BuilderFlag::kREFIT, "Keep what is needed to replace any weights of the engine later.")
      .value("DISABLE_TIMING_CACHE", BuilderFlag::kDISABLE_TIMING_CACHE,
             "Measure everything anew, also what this build has already measured.")
      .value("EDITABLE_TIMING_CACHE", BuilderFlag::kEDITABLE_TIMING_CACHE,
             "The timing cache can be queried and its choices replaced.")
      .value("TF32", BuilderFlag::kTF32,
             "Single-precision products may round their inputs to 10 bits of mantissa. On by default.")
      .value("SPARSE_WEIGHTS", BuilderFlag::kSPARSE_WEIGHTS,
             "Look for weights with 2:4 structured sparsity and use kernels made for them.")
      .value("SAFETY_SCOPE", BuilderFlag::kSAFETY_SCOPE,
             "Accept only what the safety-certified runtime can run. Deprecated: use EngineCapability::kSAFETY.")
      .value("OBEY_PRECISION_CONSTRAINTS", BuilderFlag::kOBEY_PRECISION_CONSTRAINTS,
             "Fail if a layer cannot run in the precision set for it. Deprecated: use a strongly typed network.")
      .value("PREFER_PRECISION_CONSTRAINTS", BuilderFlag::kPREFER_PRECISION_CONSTRAINTS,
             "Warn and use another precision if a layer cannot run in the one set for it. Deprecated: use a strongly "
             "typed network.")
      .value("DIRECT_IO", BuilderFlag::kDIRECT_IO,
             "Add no reformatting at inputs and outputs, even if that costs time. Deprecated: nothing replaces it.")
      .value("REJECT_EMPTY_ALGORITHMS", BuilderFlag::kREJECT_EMPTY_ALGORITHMS,
             "Fail if the algorithm selector returns no choice for a layer. Deprecated with IAlgorithmSelector: use an "
             "editable timing cache.")
      .value("VERSION_COMPATIBLE", BuilderFlag::kVERSION_COMPATIBLE,
             "The plan can be run by later versions of the library.")
      .value("EXCLUDE_LEAN_RUNTIME", BuilderFlag::kEXCLUDE_LEAN_RUNTIME,
             "Leave the lean runtime out of a version-compatible plan.")
      .value("FP8", BuilderFlag::kFP8,
             "Weakly typed networks may compute in 8-bit floats. Deprecated: use a strongly typed network.")
      .value("ERROR_ON_TIMING_CACHE_MISS", BuilderFlag::kERROR_ON_TIMING_CACHE_MISS,
             "Fail if a measurement is needed that the timing cache does not have; nothing without setTimingCache.")
      .value("DISABLE_COMPILATION_CACHE", BuilderFlag::kDISABLE_COMPILATION_CACHE,
             "Keep no compiled kernels in the timing cache.")
      .value("WEIGHTLESS", BuilderFlag::kWEIGHTLESS, "Old name of kSTRIP_PLAN. Deprecated: use kSTRIP_PLAN.")
      .value("STRIP_PLAN", BuilderFlag::kSTRIP_PLAN, "Leave out of the plan the weights that a refit can supply.")
      .value("REFIT_IDENTICAL", BuilderFlag::kREFIT_IDENTICAL,
             "The engine will be refitted only with the weights that it was built with, which leaves more room for "
             "optimization.")
      .value("WEIGHT_STREAMING", BuilderFlag::kWEIGHT_STREAMING,
             "Weights may stay on the host and be copied to the device while the engine runs.")
      .value("INT4", BuilderFlag::kINT4,
             "Weakly typed networks may hold weights in 4-bit integers. Deprecated: use a strongly typed network.")
      .value("REFIT_INDIVIDUAL", BuilderFlag::kREFIT_INDIVIDUAL,
             "Only the weights marked with INetworkDefinition::markWeightsRefittable can be replaced later.")
      .value("STRICT_NANS", BuilderFlag::kSTRICT_NANS,
             "Rule out optimizations that are wrong for infinities and not-a-number.")
      .value("MONITOR_MEMORY", BuilderFlag::kMONITOR_MEMORY, "Report the memory that the build uses.")
      .value("FP4", BuilderFlag::kFP4,
             "Weakly typed networks may compute in 4-bit floats. Deprecated: use a strongly typed network.")
      .value("DISTRIBUTIVE_INDEPENDENCE", BuilderFlag::kDISTRIBUTIVE_INDEPENDENCE,
             "A layer's result for one item does not depend on how many items are computed with it.");
  strict_enum<MemoryPoolType>(m, "MemoryPoolType", "Memory that a build may be limited in.")
      .value("WORKSPACE", MemoryPoolType::kWORKSPACE, "Device memory for the intermediate results of one layer, bytes.")
      .value("DLA_MANAGED_SRAM", MemoryPoolType::kDLA_MANAGED_SRAM,
             "On-chip memory of an accelerator for one subgraph, bytes.")
      .value("DLA_LOCAL_DRAM", MemoryPoolType::kDLA_LOCAL_DRAM,
             "Memory of an accelerator for intermediate results, bytes.")
      .value("DLA_GLOBAL_DRAM", MemoryPoolType::kDLA_GLOBAL_DRAM,
             "Memory of an accelerator for weights and metadata, bytes.")
      .value("TACTIC_DRAM", MemoryPoolType::kTACTIC_DRAM,
             "Device memory that a tactic may need while it is timed, bytes.")
      .value("TACTIC_SHARED_MEMORY", MemoryPoolType::kTACTIC_SHARED_MEMORY,
             "Shared memory of a block that a kernel may use, bytes.");
  int_enum<QuantizationFlag>(m, "QuantizationFlag",
                             "Choices for implicit quantization; a bit number in QuantizationFlags.")
      .value("CALIBRATE_BEFORE_FUSION", QuantizationFlag::kCALIBRATE_BEFORE_FUSION,
             "Calibrate the network before layers are fused. Deprecated: use explicit quantization.");
  strict_enum<PreviewFeature>(m, "PreviewFeature", "Features that a build may switch on ahead of time.")
      .value("PROFILE_SHARING_0806", PreviewFeature::kPROFILE_SHARING_0806,
             "Contexts may share a profile. Deprecated: always on.")
      .value("ALIASED_PLUGIN_IO_10_03", PreviewFeature::kALIASED_PLUGIN_IO_10_03,
             "A plugin's output may share memory with an input.")
      .value("RUNTIME_ACTIVATION_RESIZE_10_10", PreviewFeature::kRUNTIME_ACTIVATION_RESIZE_10_10,
             "Memory for activations can follow the shapes at run time.")
      .value("MULTIDEVICE_RUNTIME_10_16", PreviewFeature::kMULTIDEVICE_RUNTIME_10_16,
             "An engine may run on several devices.");
  strict_enum<HardwareCompatibilityLevel>(m, "HardwareCompatibilityLevel", "On which devices a plan must run.")
      .value("NONE", HardwareCompatibilityLevel::kNONE, "On the kind of device that it was built on.")
      .value("AMPERE_PLUS", HardwareCompatibilityLevel::kAMPERE_PLUS,
             "On devices of the Ampere architecture and later.")
      .value("SAME_COMPUTE_CAPABILITY", HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY,
             "On devices of the same compute capability.");
  strict_enum<RuntimePlatform>(m, "RuntimePlatform", "System that a plan is for.")
      .value("SAME_AS_BUILD", RuntimePlatform::kSAME_AS_BUILD, "That of the build.")
      .value("WINDOWS_AMD64", RuntimePlatform::kWINDOWS_AMD64, "Windows on AMD64.");
  strict_enum<DeviceType>(m, "DeviceType", "Kind of processor that a layer runs on.")
      .value("GPU", DeviceType::kGPU, "The GPU; in Kiln also the CPU, where there is no GPU.")
      .value("DLA", DeviceType::kDLA, "A deep learning accelerator of an embedded system.");
  strict_enum<ProfilingVerbosity>(m, "ProfilingVerbosity", "How much an engine tells about its layers.")
      .value("LAYER_NAMES_ONLY", ProfilingVerbosity::kLAYER_NAMES_ONLY, "What each layer is called, and no more.")
      .value("DETAILED", ProfilingVerbosity::kDETAILED,
             "What each layer is called, its parameters, formats and tactics.")
      .value("NONE", ProfilingVerbosity::kNONE, "Nothing.");
  int_enum<TacticSource>(m, "TacticSource", "Where kernels may come from; a bit number in TacticSources.")
      .value("CUBLAS", TacticSource::kCUBLAS, "cuBLAS. Deprecated: off by default; nothing replaces it.")
      .value("CUBLAS_LT", TacticSource::kCUBLAS_LT, "cuBLASLt; until sources are set Kiln times it, too. Deprecated.")
      .value("CUDNN", TacticSource::kCUDNN, "cuDNN. Deprecated: off by default; nothing replaces it.")
      .value("EDGE_MASK_CONVOLUTIONS", TacticSource::kEDGE_MASK_CONVOLUTIONS, "Convolutions by masks at the edges.")
      .value("JIT_CONVOLUTIONS", TacticSource::kJIT_CONVOLUTIONS, "Convolutions compiled when the engine is built.");
  strict_enum<TilingOptimizationLevel>(m, "TilingOptimizationLevel",
                                       "How long a build looks for ways to keep data in on-chip memory across layers.")
      .value("NONE", TilingOptimizationLevel::kNONE, "Not at all.")
      .value("FAST", TilingOptimizationLevel::kFAST, "A quick search.")
      .value("MODERATE", TilingOptimizationLevel::kMODERATE, "A longer search.")
      .value("FULL", TilingOptimizationLevel::kFULL, "All that is known.");
  int_enum<NetworkDefinitionCreationFlag>(m, "NetworkDefinitionCreationFlag",
                                          "Kind of network; a bit number in NetworkDefinitionCreationFlags.")
      .value("EXPLICIT_BATCH", NetworkDefinitionCreationFlag::kEXPLICIT_BATCH,
             "The batch is a dimension like others. Deprecated: all networks are so.")
      .value("STRONGLY_TYPED", NetworkDefinitionCreationFlag::kSTRONGLY_TYPED,
             "Types follow from the network's definition alone; the builder chooses none.")
      .value("PREFER_AOT_PYTHON_PLUGINS", NetworkDefinitionCreationFlag::kPREFER_AOT_PYTHON_PLUGINS,
             "Of Python plugins that can do both, compile at build time.")
      .value("PREFER_JIT_PYTHON_PLUGINS", NetworkDefinitionCreationFlag::kPREFER_JIT_PYTHON_PLUGINS,
             "Of Python plugins that can do both, compile at run time.");
  strict_enum<CalibrationAlgoType>(
      m, "CalibrationAlgoType",
      "How ranges for INT8 are found from sample data. Deprecated: use explicit quantization.")
      .value("LEGACY_CALIBRATION", CalibrationAlgoType::kLEGACY_CALIBRATION,
             "Quantile and cut-off given by the program. Deprecated: use explicit quantization.")
      .value("ENTROPY_CALIBRATION", CalibrationAlgoType::kENTROPY_CALIBRATION,
             "Least loss of information, after fusion of layers. Deprecated: use explicit quantization.")
      .value("ENTROPY_CALIBRATION_2", CalibrationAlgoType::kENTROPY_CALIBRATION_2,
             "Least loss of information, before fusion of layers. Deprecated: use explicit quantization.")
      .value("MINMAX_CALIBRATION", CalibrationAlgoType::kMINMAX_CALIBRATION,
             "Smallest and largest value seen. Deprecated: use explicit quantization.");
  strict_enum<nvonnxparser::OnnxParserFlag>(m, "OnnxParserFlag",
                                            "Choices for parsing; a bit number in OnnxParserFlags.")
      .value("NATIVE_INSTANCENORM", nvonnxparser::OnnxParserFlag::kNATIVE_INSTANCENORM,
             "Instance normalizations become a layer, not a plugin. On by default.")
      .value("ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA",
             nvonnxparser::OnnxParserFlag::kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA,
             "Accept unsigned and asymmetric quantization, for accelerators.")
      .value("REPORT_CAPABILITY_DLA", nvonnxparser::OnnxParserFlag::kREPORT_CAPABILITY_DLA,
             "Ask whether an accelerator can run a node when support is reported.")
      .value("ENABLE_PLUGIN_OVERRIDE", nvonnxparser::OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE,
             "A registered plugin of an operator's name goes before the parser's own import.")
      .value("ADJUST_FOR_DLA", nvonnxparser::OnnxParserFlag::kADJUST_FOR_DLA,
             "Change the network so that more of it can run on an accelerator.");
  strict_enum<nvonnxparser::ErrorCode>(m, "ErrorCode", "Kind of a parser's error.")
      .value("SUCCESS", nvonnxparser::ErrorCode::kSUCCESS, "No error.")
      .value("INTERNAL_ERROR", nvonnxparser::ErrorCode::kINTERNAL_ERROR, "A defect of the parser.")
      .value("MEM_ALLOC_FAILED", nvonnxparser::ErrorCode::kMEM_ALLOC_FAILED, "Not enough memory.")
      .value("MODEL_DESERIALIZE_FAILED", nvonnxparser::ErrorCode::kMODEL_DESERIALIZE_FAILED,
             "The file or buffer is not a valid model.")
      .value("INVALID_VALUE", nvonnxparser::ErrorCode::kINVALID_VALUE, "An argument that the call does not accept.")
      .value("INVALID_GRAPH", nvonnxparser::ErrorCode::kINVALID_GRAPH, "The graph contradicts itself.")
      .value("INVALID_NODE", nvonnxparser::ErrorCode::kINVALID_NODE, "A node contradicts its operator's definition.")
      .value("UNSUPPORTED_GRAPH", nvonnxparser::ErrorCode::kUNSUPPORTED_GRAPH,
             "The graph has something that the parser cannot do.")
      .value("UNSUPPORTED_NODE", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE,
             "An operator that the parser does not know.")
      .value("UNSUPPORTED_NODE_ATTR", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_ATTR,
             "A value of an attribute that is not supported.")
      .value("UNSUPPORTED_NODE_INPUT", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_INPUT,
             "An input that is not supported.")
      .value("UNSUPPORTED_NODE_DATATYPE", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_DATATYPE,
             "A type that is not supported.")
      .value("UNSUPPORTED_NODE_DYNAMIC", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_DYNAMIC,
             "A shape or value that has to be known and is not.")
      .value("UNSUPPORTED_NODE_SHAPE", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_SHAPE,
             "A shape that is not supported.")
      .value("REFIT_FAILED", nvonnxparser::ErrorCode::kREFIT_FAILED, "Weights could not be replaced.");
}

}  // namespace kiln::python
