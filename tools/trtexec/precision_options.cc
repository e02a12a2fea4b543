#include "precision_options.h"

#include "io_formats.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;
using nvinfer1::DeviceType;

PrecisionConstraints read_constraints(const Arguments& arguments) {
  const std::string mode = arguments.text("--precisionConstraints", "none");
  if (mode == "none") return PrecisionConstraints::kNone;
  if (mode == "prefer") return PrecisionConstraints::kPrefer;
  if (mode == "obey") return PrecisionConstraints::kObey;
  fail("--precisionConstraints: '", mode, "' must be none, prefer or obey");
}

/// The entries of a list "layer:value,...", with what `read` makes of a value.
template <class T, class Read>
LayerChoices<T> read_choices(const Arguments& arguments, std::string_view flag, Read read) {
  LayerChoices<T> choices;
  const std::string* list = arguments.find(flag);
  if (!list) return choices;
  for (const auto& [name, value] : parse_pairs_that_repeat(*list, flag)) {
    require(std::ranges::count(name, '*') <= 1, flag, ": '", name, "' has more than one '*'");
    choices.emplace_back(name, read(value));
  }
  return choices;
}

LayerChoices<DataType> read_layer_types(const Arguments& arguments) {
  constexpr std::string_view kFlag = "--layerPrecisions";
  return read_choices<DataType>(arguments, kFlag, [&](const std::string& type) { return parse_type(type, kFlag); });
}

LayerChoices<std::vector<DataType>> read_output_types(const Arguments& arguments) {
  constexpr std::string_view kFlag = "--layerOutputTypes";
  return read_choices<std::vector<DataType>>(arguments, kFlag, [&](const std::string& list) {
    std::vector<DataType> types;
    for (const std::string& type : split(list, '+')) types.push_back(parse_type(type, kFlag));
    require(!types.empty(), kFlag, ": '", list, "' names no type");
    return types;
  });
}

LayerChoices<DeviceType> read_devices(const Arguments& arguments) {
  constexpr std::string_view kFlag = "--layerDeviceTypes";
  return read_choices<DeviceType>(arguments, kFlag, [&](const std::string& device) {
    require(device == "GPU" || device == "DLA", kFlag, ": '", device, "' is neither GPU nor DLA");
    return device == "GPU" ? DeviceType::kGPU : DeviceType::kDLA;
  });
}

void read_types(const Arguments& arguments, PrecisionOptions& options, std::vector<std::string>& warnings) {
  const bool best = arguments.has("--best");
  options.strongly_typed = arguments.has("--stronglyTyped");
  require(!best || !options.strongly_typed,
          "--best and --stronglyTyped exclude each other: the builder chooses types, or the network has them");
  const std::pair<std::string_view, bool PrecisionOptions::*> kTypes[] = {{"--fp16", &PrecisionOptions::fp16},
                                                                          {"--bf16", &PrecisionOptions::bf16},
                                                                          {"--int8", &PrecisionOptions::int8},
                                                                          {"--fp8", &PrecisionOptions::fp8},
                                                                          {"--int4", &PrecisionOptions::int4}};
  if (best) options.fp16 = options.bf16 = options.int8 = true;
  for (const auto& [flag, field] : kTypes) {
    if (!arguments.has(flag)) continue;
    if (options.strongly_typed)
      warnings.emplace_back(str("--stronglyTyped takes all types from the network: ", flag, " is ignored"));
    else
      options.*field = true;
  }
  require(!options.fp8 || !options.int8, "--fp8 and --int8", best ? " (which --best implies)" : "",
          " exclude each other");
}

void read_calibration(const Arguments& arguments, PrecisionOptions& options, std::vector<std::string>& warnings) {
  options.calibration_cache = arguments.text("--calib");
  options.calibration_shapes = read_calibration_shapes(arguments);
  arguments.read("--calibProfile", options.calibration_profile, 0);
  if (!options.calibration_shapes.empty() && arguments.has("--calibProfile"))
    warnings.emplace_back("--calibProfile does nothing beside --optShapesCalib");
  if (!options.int8 && !options.fp16 && !options.calibration_cache.empty())
    warnings.emplace_back("--calib does nothing without --int8 or --fp16");
}

}  // namespace

PrecisionOptions read_precisions(const Arguments& arguments, std::vector<std::string>& warnings) {
  PrecisionOptions options;
  read_types(arguments, options, warnings);
  options.tf32 = !arguments.has("--noTF32");
  options.constraints = read_constraints(arguments);
  options.layers = read_layer_types(arguments);
  options.outputs = read_output_types(arguments);
  options.devices = read_devices(arguments);
  read_calibration(arguments, options, warnings);
  const bool has_choices = !options.layers.empty() || !options.outputs.empty();
  if (has_choices && options.constraints == PrecisionConstraints::kNone)
    warnings.emplace_back(
        "--layerPrecisions and --layerOutputTypes do nothing without --precisionConstraints=prefer or obey");
  if (!has_choices && options.constraints != PrecisionConstraints::kNone)
    warnings.emplace_back("--precisionConstraints does nothing without --layerPrecisions or --layerOutputTypes");
  require(!has_choices || options.constraints == PrecisionConstraints::kNone || !options.strongly_typed,
          "--layerPrecisions and --layerOutputTypes: the network is strongly typed, so that it has all types itself");
  return options;
}

std::string describe(const PrecisionOptions& options) {
  if (options.strongly_typed) return "Strongly Typed";
  std::string text = str("FP32", options.fp16 ? "+FP16" : "", options.bf16 ? "+BF16" : "", options.int8 ? "+INT8" : "",
                         options.fp8 ? "+FP8" : "", options.int4 ? "+INT4" : "");
  if (options.constraints == PrecisionConstraints::kObey) text += " (obey precision constraints)";
  if (options.constraints == PrecisionConstraints::kPrefer) text += " (prefer precision constraints)";
  return text;
}

}  // namespace kiln::cli::trtexec
