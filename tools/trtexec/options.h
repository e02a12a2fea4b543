/// Options of the command line, with TensorRT's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/requested_shapes.h"
#include "cli/tactic_sources.h"
#include "io_formats.h"

namespace kiln::cli::trtexec {

enum class LayerDetail { kNamesOnly, kNone, kDetailed };

struct BuildOptions {
  std::string onnx, save, load;
  NamedRanges shapes;
  bool fp16 = false, bf16 = false, tf32 = true, strongly_typed = false, skip_inference = false;
  std::vector<IoFormat> input_formats, output_formats;  ///< empty: the network's
  std::optional<int64_t> workspace_bytes, tactic_shared_bytes;
  std::optional<int> level;
  int avg_timing = 8;
  int max_aux_streams = -1;
  TacticSourceChoice tactic_sources;
  std::string timing_cache;
  bool error_on_cache_miss = false;
  LayerDetail detail = LayerDetail::kNamesOnly;
};

struct InferenceOptions {
  NamedExtents shapes;
  NamedTexts inputs;  ///< files by the name of their tensor
  int64_t iterations = 10;
  double duration_s = 3, warmup_ms = 200, idle_ms = 0;  ///< a duration of -1 never ends
  int streams = 1;
  bool transfers = true, overlap = true, spin = false, threads = false, separate_profile_run = false;
  bool cuda_graph = false;
};

struct ReportOptions {
  bool verbose = false, output = false, profile = false, layers = false, optimization_profile = false;
  int64_t avg_runs = 10;
  std::vector<double> percentiles{90, 95, 99};
  std::string export_times, export_output, export_profile, export_layers;
  bool wants_profile() const { return profile || !export_profile.empty(); }
  bool wants_layers() const { return layers || !export_layers.empty(); }
  bool wants_outputs() const { return output || !export_output.empty(); }
};

/// Libraries of plugins, in the order of the command line.
struct PluginOptions {
  std::vector<std::string> statics;     ///< loaded as they are: they register themselves
  std::vector<std::string> dynamics;    ///< loaded by the registries of builder and runtime
  std::vector<std::string> serialized;  ///< to be part of the plan
  bool ignore_parsed = false;           ///< those that the parser names are not to be part of it
};

/// What the runtime may do with code that a plan holds.
struct RuntimeOptions {
  bool host_code_allowed = false;         ///< a plan that was built in the same run is trusted without it
  std::string temporary_directory;        ///< empty: the system's
  uint32_t temporary_files = kAllOfThem;  ///< a bit for each nvinfer1::TempfileControlFlag
  static constexpr uint32_t kAllOfThem = 3;
};

struct Options {
  BuildOptions build;
  InferenceOptions inference;
  ReportOptions report;
  PluginOptions plugins;
  RuntimeOptions runtime;
  int device = 0;
  std::vector<std::string> warnings;  ///< about what was asked for, to be printed once
};

/// Fails with the flag's name and what is wrong with it.
Options parse_options(std::span<const char* const> words);

/// The options as lines of text, in sections under TensorRT's labels.
std::vector<std::string> describe(const Options& options);

}  // namespace kiln::cli::trtexec
