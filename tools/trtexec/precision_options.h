/// Flags about the types that a network computes in.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "NvInferRuntime.h"
#include "NvInferRuntimeBase.h"
#include "cli/flags.h"
#include "cli/requested_shapes.h"

namespace kiln::cli::trtexec {

enum class PrecisionConstraints { kNone, kPrefer, kObey };

/// Choices for layers by name, in the order of the command line: the last whose name fits a layer is meant. A name may
/// have one '*'.
template <class T>
using LayerChoices = std::vector<std::pair<std::string, T>>;

struct PrecisionOptions {
  bool fp16 = false, bf16 = false, int8 = false, fp8 = false, int4 = false, tf32 = true, strongly_typed = false;
  PrecisionConstraints constraints = PrecisionConstraints::kNone;
  LayerChoices<nvinfer1::DataType> layers;
  LayerChoices<std::vector<nvinfer1::DataType>> outputs;  ///< one for each output, or one for all
  LayerChoices<nvinfer1::DeviceType> devices;
  std::string calibration_cache;  ///< a file
  NamedRanges calibration_shapes;
  int calibration_profile = 0;
};

/// Fails with the flag's name and what is wrong with it; adds what it finds odd to `warnings`.
PrecisionOptions read_precisions(const Arguments& arguments, std::vector<std::string>& warnings);

/// "FP32+FP16 (obey precision constraints)", as TensorRT's trtexec describes it.
std::string describe(const PrecisionOptions& options);

/// The choice for a layer: that of its very name, else the last whose pattern fits; null if there is none.
template <class T>
const T* choice_for(const LayerChoices<T>& choices, std::string_view layer) {
  const T* found = nullptr;
  bool is_exact = false;
  for (const auto& [name, choice] : choices) {
    if (name != layer && (is_exact || !matches(name, layer))) continue;
    is_exact = name == layer;
    found = &choice;
  }
  return found;
}

}  // namespace kiln::cli::trtexec
