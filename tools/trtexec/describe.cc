#include "cli/text.h"
#include "options.h"
#include "values.h"

namespace kiln::cli::trtexec {
namespace {

const char* enabled(bool on) { return on ? "Enabled" : "Disabled"; }

std::string pool(const std::optional<int64_t>& bytes, double unit, const char* name) {
  return bytes ? str(static_cast<double>(*bytes) / unit, name) : "default";
}

std::string range_text(const ShapeRange& range) {
  return str(shape_text(range.min), "+", shape_text(range.opt), "+", shape_text(range.max));
}

std::string_view timing_cache_mode(const BuildOptions& build) {
  if (build.timing_cache_off) return "disable";
  return build.timing_cache.empty() ? "local" : "global";
}

/// The choices for layers as they were given, but for spaces.
template <class T, class Text>
std::string choices(const LayerChoices<T>& choices, Text text) {
  std::string line;
  for (const auto& [name, choice] : choices) line += str(line.empty() ? "" : ",", name, ":", text(choice));
  return line;
}

std::string types_text(const std::vector<nvinfer1::DataType>& types) {
  std::string text;
  for (const nvinfer1::DataType type : types) text += str(text.empty() ? "" : "+", type_name(type));
  return text;
}

void describe_precision(const PrecisionOptions& precision, std::vector<std::string>& lines) {
  const auto device = [](nvinfer1::DeviceType type) { return type == nvinfer1::DeviceType::kDLA ? "DLA" : "GPU"; };
  const bool has_no_cache = precision.calibration_cache.empty();
  lines.insert(lines.end(),
               {str("Precision: ", describe(precision)), str("LayerPrecisions: ", choices(precision.layers, type_name)),
                str("LayerOutputTypes: ", choices(precision.outputs, types_text)),
                str("Layer Device Types: ", choices(precision.devices, device)),
                str("Calibration: ", precision.int8 && has_no_cache ? "Dynamic" : precision.calibration_cache)});
}

void describe_build(const BuildOptions& build, std::vector<std::string>& lines) {
  lines.insert(lines.end(), {
                                "=== Build Options ===",
                                str("Memory Pools: workspace: ", pool(build.workspace_bytes, 1 << 20, " MiB"),
                                    ", tacticSharedMem: ", pool(build.tactic_shared_bytes, 1 << 10, " KiB")),
                                str("avgTiming: ", build.avg_timing),
                            });
  describe_precision(build.precision, lines);
  lines.insert(lines.end(), {
                                str("ONNX Plugin InstanceNorm: ", enabled(build.parser.plugin_instance_norm)),
                                str("ONNX kENABLE_PLUGIN_OVERRIDE flag: ", enabled(build.parser.plugin_override)),
                                str("Sparsity: ", enabled(build.sparse_weights)),
                                str("Allow GPU fallback for DLA: ", enabled(build.on_dla)),
                                str("DirectIO mode: ", enabled(build.direct_io)),
                                str("Skip inference: ", enabled(build.skip_inference)),
                                str("Save engine: ", build.save),
                                str("Load engine: ", build.load),
                                str("Profiling verbosity: ", static_cast<int>(build.detail)),
                                str("Tactic sources: ", describe(build.tactic_sources)),
                                str("timingCacheMode: ", timing_cache_mode(build)),
                                str("timingCacheFile: ", build.timing_cache),
                                str("Enable Compilation Cache: ", enabled(build.compilation_cache)),
                                str("errorOnTimingCacheMiss: ", enabled(build.error_on_cache_miss)),
                                str("MaxAuxStreams: ", build.max_aux_streams),
                                str("BuilderOptimizationLevel: ", build.level.value_or(-1)),
                                str("MaxTactics: ", build.max_tactics),
                                str("Calibration Profile Index: ", build.precision.calibration_profile),
                            });
  for (size_t profile = 0; profile < build.profiles.size(); ++profile)
    for (const auto& [name, range] : build.profiles[profile])
      lines.push_back(str("Input build shape (profile ", profile, "): ", name, "=", range_text(range)));
  for (const auto& [name, range] : build.precision.calibration_shapes)
    lines.push_back(str("Input calibration shape : ", name, "=", range_text(range)));
}

void describe_inference(const InferenceOptions& inference, std::vector<std::string>& lines) {
  lines.insert(lines.end(), {"=== Inference Options ===", "Batch: Explicit"});
  for (const auto& [name, shape] : inference.shapes)
    lines.push_back(str("Input inference shape : ", name, "=", shape_text(shape)));
  lines.insert(lines.end(), {
                                str("Iterations: ", inference.iterations),
                                str("Duration: ", inference.duration_s, "s (+ ", inference.warmup_ms, "ms warm up)"),
                                str("Sleep time: ", inference.sleep_ms, "ms"),
                                str("Idle time: ", inference.idle_ms, "ms"),
                                str("Inference Streams: ", inference.streams),
                                str("ExposeDMA: ", enabled(!inference.overlap)),
                                str("Data transfers: ", enabled(inference.transfers)),
                                str("Spin-wait: ", enabled(inference.spin)),
                                str("Multithreading: ", enabled(inference.threads)),
                                str("CUDA Graph: ", enabled(inference.cuda_graph)),
                                str("Separate profiling: ", enabled(inference.separate_profile_run)),
                                str("Time Deserialize: ", enabled(inference.time_deserialize)),
                                str("Persistent Cache Ratio: ", inference.persistent_cache_ratio),
                                str("Optimization Profile Index: ", inference.profile.value_or(0)),
                                "Inputs:",
                            });
  for (const auto& [name, file] : inference.inputs) lines.push_back(str(name, "<-", file));
}

void describe_report(const ReportOptions& report, std::vector<std::string>& lines) {
  std::string percentiles;
  for (double percentile : report.percentiles) percentiles += str(percentiles.empty() ? "" : ",", percentile);
  lines.insert(lines.end(), {
                                "=== Reporting Options ===",
                                str("Verbose: ", enabled(report.verbose)),
                                str("Averages: ", report.avg_runs, " inferences"),
                                str("Percentiles: ", percentiles),
                                str("Dump output: ", enabled(report.output)),
                                str("Profile: ", enabled(report.profile)),
                                str("Export timing to JSON file: ", report.export_times),
                                str("Export output to JSON file: ", report.export_output),
                                str("Export profile to JSON file: ", report.export_profile),
                            });
}

void describe_plugins(const PluginOptions& plugins, std::vector<std::string>& lines) {
  const auto list = [&](const char* label, const std::vector<std::string>& libraries) {
    std::string line = label;
    for (const std::string& library : libraries) line += " " + library;
    lines.push_back(std::move(line));
  };
  list("Plugins:", plugins.statics);
  list("setPluginsToSerialize:", plugins.serialized);
  list("dynamicPlugins:", plugins.dynamics);
  lines.push_back(str("ignoreParsedPluginLibs: ", plugins.ignore_parsed ? 1 : 0));
}

}  // namespace

std::vector<std::string> describe(const Options& options) {
  const BuildOptions& build = options.build;
  std::vector<std::string> lines{"=== Model Options ===", str("Format: ", build.onnx.empty() ? "*" : "ONNX"),
                                 str("Model: ", build.onnx), "Output:"};
  if (build.load.empty()) describe_build(build, lines);
  lines.insert(lines.end(), {"", "=== System Options ===", str("Device: ", options.device)});
  describe_plugins(options.plugins, lines);
  const auto allowed = [&](nvinfer1::TempfileControlFlag kind) {
    return options.runtime.temporary_files >> static_cast<int>(kind) & 1 ? "allow" : "deny";
  };
  lines.push_back(str("tempdir: ", options.runtime.temporary_directory));
  lines.push_back(str("tempfileControls: in_memory:", allowed(nvinfer1::TempfileControlFlag::kALLOW_IN_MEMORY_FILES),
                      ",temporary:", allowed(nvinfer1::TempfileControlFlag::kALLOW_TEMPORARY_FILES)));
  lines.push_back("");
  describe_inference(options.inference, lines);
  describe_report(options.report, lines);
  lines.push_back("");
  return lines;
}

}  // namespace kiln::cli::trtexec
