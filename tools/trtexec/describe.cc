#include "cli/text.h"
#include "options.h"

namespace kiln::cli::trtexec {
namespace {

const char* enabled(bool on) { return on ? "Enabled" : "Disabled"; }

std::string precision(const BuildOptions& build) {
  if (build.strongly_typed) return "Strongly Typed";
  return str("FP32", build.fp16 ? "+FP16" : "", build.bf16 ? "+BF16" : "");
}

std::string pool(const std::optional<int64_t>& bytes, double unit, const char* name) {
  return bytes ? str(static_cast<double>(*bytes) / unit, name) : "default";
}

void describe_build(const BuildOptions& build, std::vector<std::string>& lines) {
  lines.insert(lines.end(), {
                                "=== Build Options ===",
                                str("Memory Pools: workspace: ", pool(build.workspace_bytes, 1 << 20, " MiB"),
                                    ", tacticSharedMem: ", pool(build.tactic_shared_bytes, 1 << 10, " KiB")),
                                str("avgTiming: ", build.avg_timing),
                                str("Precision: ", precision(build)),
                                str("Skip inference: ", enabled(build.skip_inference)),
                                str("Save engine: ", build.save),
                                str("Load engine: ", build.load),
                                str("Profiling verbosity: ", static_cast<int>(build.detail)),
                                str("Tactic sources: ", describe(build.tactic_sources)),
                                str("timingCacheMode: ", build.timing_cache.empty() ? "local" : "global"),
                                str("timingCacheFile: ", build.timing_cache),
                                str("MaxAuxStreams: ", build.max_aux_streams),
                                str("BuilderOptimizationLevel: ", build.level.value_or(-1)),
                            });
  for (const auto& [name, range] : build.shapes)
    lines.push_back(str("Input build shape (profile 0): ", name, "=", shape_text(range.min), "+", shape_text(range.opt),
                        "+", shape_text(range.max)));
}

void describe_inference(const InferenceOptions& inference, std::vector<std::string>& lines) {
  lines.insert(lines.end(), {"=== Inference Options ===", "Batch: Explicit"});
  for (const auto& [name, shape] : inference.shapes)
    lines.push_back(str("Input inference shape : ", name, "=", shape_text(shape)));
  lines.insert(lines.end(), {
                                str("Iterations: ", inference.iterations),
                                str("Duration: ", inference.duration_s, "s (+ ", inference.warmup_ms, "ms warm up)"),
                                str("Idle time: ", inference.idle_ms, "ms"),
                                str("Inference Streams: ", inference.streams),
                                str("ExposeDMA: ", enabled(!inference.overlap)),
                                str("Data transfers: ", enabled(inference.transfers)),
                                str("Spin-wait: ", enabled(inference.spin)),
                                str("Multithreading: ", enabled(inference.threads)),
                                str("CUDA Graph: ", enabled(inference.cuda_graph)),
                                str("Separate profiling: ", enabled(inference.separate_profile_run)),
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
