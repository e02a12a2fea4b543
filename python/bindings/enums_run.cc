// Enums of types, engines and execution.

#include <NvInfer.h>

#include <utility>

#include "bindings.h"
#include "enums.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

/// The names that types have beside those of DataType, as in `trt.float32`.
void add_type_names(nb::module_& m) {
  const std::pair<const char*, DataType> names[] = {
      {"float32", DataType::kFLOAT}, {"float16", DataType::kHALF}, {"bfloat16", DataType::kBF16},
      {"int8", DataType::kINT8},     {"int32", DataType::kINT32},  {"int64", DataType::kINT64},
      {"bool", DataType::kBOOL},     {"uint8", DataType::kUINT8},  {"fp8", DataType::kFP8},
      {"int4", DataType::kINT4},     {"fp4", DataType::kFP4},      {"e8m0", DataType::kE8M0}};
  for (const auto& [name, type] : names) m.attr(name) = type;
}

}  // namespace

void bind_run_enums(nb::module_& m) {
  strict_enum<DataType>(m, "DataType", "Type of a tensor's or weight's elements.")
      .value("FLOAT", DataType::kFLOAT, "32-bit IEEE float.")
      .value("HALF", DataType::kHALF, "16-bit IEEE float.")
      .value("BF16", DataType::kBF16, "16-bit float with the exponent of a 32-bit one.")
      .value("INT8", DataType::kINT8, "Signed 8-bit integer; as a quantized type it stands for a value times a scale.")
      .value("INT32", DataType::kINT32, "Signed 32-bit integer.")
      .value("INT64", DataType::kINT64, "Signed 64-bit integer.")
      .value("BOOL", DataType::kBOOL, "One byte: 0 is false, 1 is true.")
      .value("UINT8", DataType::kUINT8,
             "Unsigned 8-bit integer; at a network's inputs and outputs only, converted by a cast.")
      .value("FP8", DataType::kFP8, "8-bit float: 4 bits of exponent, 3 of mantissa, no infinities.")
      .value("INT4", DataType::kINT4, "Signed 4-bit integer, two in a byte, the first in the lower half.")
      .value("FP4", DataType::kFP4, "4-bit float: 2 bits of exponent, 1 of mantissa, two in a byte.")
      .value("E8M0", DataType::kE8M0, "8 bits of exponent and nothing else: a power of two, used as a block scale.");
  strict_enum<WeightsRole>(m, "WeightsRole", "Which weights of a layer.")
      .value("KERNEL", WeightsRole::kKERNEL, "Those of a convolution, deconvolution or matrix.")
      .value("BIAS", WeightsRole::kBIAS, "Those that are added.")
      .value("SHIFT", WeightsRole::kSHIFT, "The shift of a scale layer.")
      .value("SCALE", WeightsRole::kSCALE, "The scale of a scale layer.")
      .value("CONSTANT", WeightsRole::kCONSTANT, "The values of a constant layer.")
      .value("ANY", WeightsRole::kANY, "Any of them.");
  strict_enum<APILanguage>(m, "APILanguage", "Language in which an interface is implemented.")
      .value("CPP", APILanguage::kCPP, "C++.")
      .value("PYTHON", APILanguage::kPYTHON, "Python.");
  int_enum<ErrorCode>(m, "ErrorCodeTRT", "Kind of an error, as the error recorder gets it.")
      .value("SUCCESS", ErrorCode::kSUCCESS, "No error.")
      .value("UNSPECIFIED_ERROR", ErrorCode::kUNSPECIFIED_ERROR, "None of the other kinds.")
      .value("INTERNAL_ERROR", ErrorCode::kINTERNAL_ERROR, "A defect of the library.")
      .value("INVALID_ARGUMENT", ErrorCode::kINVALID_ARGUMENT, "An argument that the call does not accept.")
      .value("INVALID_CONFIG", ErrorCode::kINVALID_CONFIG, "Settings that contradict each other or the state.")
      .value("FAILED_ALLOCATION", ErrorCode::kFAILED_ALLOCATION, "Not enough memory, of the host or the device.")
      .value("FAILED_INITIALIZATION", ErrorCode::kFAILED_INITIALIZATION,
             "Something that is needed could not be started.")
      .value("FAILED_EXECUTION", ErrorCode::kFAILED_EXECUTION, "A failure while a network ran.")
      .value("FAILED_COMPUTATION", ErrorCode::kFAILED_COMPUTATION, "A result that is not valid.")
      .value("INVALID_STATE", ErrorCode::kINVALID_STATE, "The object is not in a state for this call.")
      .value("UNSUPPORTED_STATE", ErrorCode::kUNSUPPORTED_STATE,
             "A combination that the library or the device cannot do.");
  int_enum<ExecutionContextAllocationStrategy>(m, "ExecutionContextAllocationStrategy",
                                               "When an execution context gets its memory for activations.")
      .value("STATIC", ExecutionContextAllocationStrategy::kSTATIC, "At once, for the profile that needs most.")
      .value("ON_PROFILE_CHANGE", ExecutionContextAllocationStrategy::kON_PROFILE_CHANGE,
             "When a profile is chosen, as much as that one needs.")
      .value("USER_MANAGED", ExecutionContextAllocationStrategy::kUSER_MANAGED,
             "The program supplies it with IExecutionContext::setDeviceMemoryV2.");
  int_enum<SerializationFlag>(m, "SerializationFlag", "Choices for writing a plan; a bit number in SerializationFlags.")
      .value("EXCLUDE_WEIGHTS", SerializationFlag::kEXCLUDE_WEIGHTS, "Leave out the weights that a refit can supply.")
      .value("EXCLUDE_LEAN_RUNTIME", SerializationFlag::kEXCLUDE_LEAN_RUNTIME, "Leave out the lean runtime.")
      .value("INCLUDE_REFIT", SerializationFlag::kINCLUDE_REFIT, "Keep what is needed to refit again.");
  strict_enum<LayerInformationFormat>(m, "LayerInformationFormat", "Form in which an engine inspector writes.")
      .value("ONELINE", LayerInformationFormat::kONELINE, "Text, one line a layer.")
      .value("JSON", LayerInformationFormat::kJSON, "JSON.");
  strict_enum<TensorLocation>(m, "TensorLocation", "Which memory holds a tensor.")
      .value("DEVICE", TensorLocation::kDEVICE, "That of the device.")
      .value("HOST", TensorLocation::kHOST, "That of the host: shape tensors.");
  strict_enum<TensorIOMode>(m, "TensorIOMode", "Role of a tensor of an engine.")
      .value("NONE", TensorIOMode::kNONE, "Neither input nor output, or not a tensor of the engine.")
      .value("INPUT", TensorIOMode::kINPUT, "Input.")
      .value("OUTPUT", TensorIOMode::kOUTPUT, "Output.");
  int_enum<EngineStat>(m, "EngineStat", "Number about an engine.")
      .value("TOTAL_WEIGHTS_SIZE", EngineStat::kTOTAL_WEIGHTS_SIZE, "Size of all weights, bytes.")
      .value("STRIPPED_WEIGHTS_SIZE", EngineStat::kSTRIPPED_WEIGHTS_SIZE,
             "Size of the weights that were left out of the plan, bytes.");
  int_enum<AllocatorFlag>(m, "AllocatorFlag",
                          "What an allocator is told about a request; a bit number in AllocatorFlags.")
      .value("RESIZABLE", AllocatorFlag::kRESIZABLE, "The memory may later be passed to IGpuAllocator::reallocate.");
  int_enum<SeekPosition>(m, "SeekPosition", "Where an offset of a stream reader counts from.")
      .value("SET", SeekPosition::kSET, "The beginning.")
      .value("CUR", SeekPosition::kCUR, "The current position.")
      .value("END", SeekPosition::kEND, "The end.");
  strict_enum<TempfileControlFlag>(
      m, "TempfileControlFlag",
      "How a runtime may store libraries that a plan holds; a bit number in TempfileControlFlags.")
      .value("ALLOW_IN_MEMORY_FILES", TempfileControlFlag::kALLOW_IN_MEMORY_FILES, "As files in memory.")
      .value("ALLOW_TEMPORARY_FILES", TempfileControlFlag::kALLOW_TEMPORARY_FILES,
             "As files in the temporary directory.");
  add_type_names(m);
}

}  // namespace kiln::python
