// Enums of plugins.

#include <NvInfer.h>
#include <impl/NvInferPythonPlugin.h>

#include "bindings.h"
#include "enums.h"

namespace kiln::python {

using namespace nvinfer1;

void bind_plugins_enums(nb::module_& m) {
  int_enum<DimensionOperation>(m, "DimensionOperation", "Operation on two dimension expressions.")
      .value("SUM", DimensionOperation::kSUM, "a + b.")
      .value("PROD", DimensionOperation::kPROD, "a * b.")
      .value("MAX", DimensionOperation::kMAX, "The larger of a and b.")
      .value("MIN", DimensionOperation::kMIN, "The smaller of a and b.")
      .value("SUB", DimensionOperation::kSUB, "a - b.")
      .value("EQUAL", DimensionOperation::kEQUAL, "1 if a equals b, else 0.")
      .value("LESS", DimensionOperation::kLESS, "1 if a is less than b, else 0.")
      .value("FLOOR_DIV", DimensionOperation::kFLOOR_DIV, "a / b, rounded down.")
      .value("CEIL_DIV", DimensionOperation::kCEIL_DIV, "a / b, rounded up.");
  strict_enum<PluginFieldType>(m, "PluginFieldType", "Type of a plugin attribute's elements.")
      .value("FLOAT16", PluginFieldType::kFLOAT16, "16-bit IEEE float.")
      .value("FLOAT32", PluginFieldType::kFLOAT32, "32-bit IEEE float.")
      .value("FLOAT64", PluginFieldType::kFLOAT64, "64-bit IEEE float.")
      .value("INT8", PluginFieldType::kINT8, "8-bit integer.")
      .value("INT16", PluginFieldType::kINT16, "16-bit integer.")
      .value("INT32", PluginFieldType::kINT32, "32-bit integer.")
      .value("CHAR", PluginFieldType::kCHAR, "A character of text.")
      .value("DIMS", PluginFieldType::kDIMS, "nvinfer1::Dims.")
      .value("UNKNOWN", PluginFieldType::kUNKNOWN, "Agreed between plugin and program.")
      .value("BF16", PluginFieldType::kBF16, "bfloat16.")
      .value("INT64", PluginFieldType::kINT64, "64-bit integer.")
      .value("FP8", PluginFieldType::kFP8, "8-bit float.")
      .value("INT4", PluginFieldType::kINT4, "4-bit integer, two in a byte.")
      .value("FP4", PluginFieldType::kFP4, "4-bit float, two in a byte.");
  strict_enum<PluginCreatorVersion>(
      m, "PluginCreatorVersion",
      "Version of a creator's interface. Deprecated: see IPluginCreatorInterface::getInterfaceInfo.")
      .value("V1", PluginCreatorVersion::kV1, "IPluginCreator. Deprecated: use IPluginCreatorV3One.")
      .value("V1_PYTHON", PluginCreatorVersion::kV1_PYTHON,
             "IPluginCreator in Python. Deprecated: use IPluginCreatorV3One.");
  int_enum<PluginCapabilityType>(m, "PluginCapabilityType",
                                 "Part of a plugin that IPluginV3::getCapabilityInterface asks for.")
      .value("CORE", PluginCapabilityType::kCORE, "Name, version, namespace.")
      .value("BUILD", PluginCapabilityType::kBUILD, "What the builder needs: types, shapes, formats.")
      .value("RUNTIME", PluginCapabilityType::kRUNTIME, "What running needs.");
  int_enum<TensorRTPhase>(m, "TensorRTPhase", "When a plugin is created.")
      .value("BUILD", TensorRTPhase::kBUILD, "While a network is defined or built.")
      .value("RUNTIME", TensorRTPhase::kRUNTIME, "While an engine is loaded.");
  int_enum<QuickPluginCreationRequest>(m, "QuickPluginCreationRequest",
                                       "Which form of a Python plugin its creator is asked for.")
      .value("UNKNOWN", QuickPluginCreationRequest::kUNKNOWN, "No wish.")
      .value("PREFER_JIT", QuickPluginCreationRequest::kPREFER_JIT, "Compiled at run time if there is such a form.")
      .value("PREFER_AOT", QuickPluginCreationRequest::kPREFER_AOT, "Compiled at build time if there is such a form.")
      .value("STRICT_JIT", QuickPluginCreationRequest::kSTRICT_JIT, "Compiled at run time, or null.")
      .value("STRICT_AOT", QuickPluginCreationRequest::kSTRICT_AOT, "Compiled at build time, or null.");
  int_enum<PluginArgType>(m, "PluginArgType", "Kind of an extra argument of a plugin's kernel.")
      .value("INT", PluginArgType::kINT, "Integer.");
  int_enum<PluginArgDataType>(m, "PluginArgDataType", "Type of an extra argument of a plugin's kernel.")
      .value("INT8", PluginArgDataType::kINT8, "8-bit integer.")
      .value("INT16", PluginArgDataType::kINT16, "16-bit integer.")
      .value("INT32", PluginArgDataType::kINT32, "32-bit integer.");
}

}  // namespace kiln::python
