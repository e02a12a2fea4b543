/// Options of the command line, with TensorRT's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "NvInfer.h"
#include "cli/requested_shapes.h"
#include "cli/tactic_sources.h"
#include "io_formats.h"
#include "precision_options.h"

namespace kiln::cli::trtexec {

enum class LayerDetail { kNamesOnly, kNone, kDetailed };

/// Flags of the ONNX parser.
struct ParserOptions {
  bool plugin_instance_norm = false, plugin_override = false, adjust_for_dla = false;
};

struct BuildOptions {
  std::string onnx, save, load;
  std::vector<NamedRanges> profiles;  ///< shapes by optimization profile; at least one, which may name no tensor
  PrecisionOptions precision;
  ParserOptions parser;
  std::vector<IoFormat> input_formats, output_formats;  ///< empty: the network's
  std::optional<int64_t> workspace_bytes, tactic_shared_bytes;
  std::optional<int> level;
  int avg_timing = 8;
  int max_aux_streams = -1, max_tactics = -1, tiling_level = 0;
  int64_t l2_limit = -1;
  TacticSourceChoice tactic_sources;
  std::string timing_cache;  ///< a file; empty: one of the build's own
  bool timing_cache_off = false, error_on_cache_miss = false, compilation_cache = true;
  bool skip_inference = false, direct_io = false, sparse_weights = false, distributive_independence = false,
       monitor_memory = false;
  std::vector<std::string> decomposable_attentions;  ///< names, with at most one '*' each
  std::vector<std::pair<nvinfer1::PreviewFeature, bool>> preview_features;
  nvinfer1::HardwareCompatibilityLevel hardware_level = nvinfer1::HardwareCompatibilityLevel::kNONE;
  nvinfer1::RuntimePlatform platform = nvinfer1::RuntimePlatform::kSAME_AS_BUILD;
  bool on_dla = false;  ///< with layers that a DLA does not take elsewhere
  LayerDetail detail = LayerDetail::kNamesOnly;
  std::vector<std::string> debug_tensors;  ///< names
  bool debugs_unfused = false;
};

/// The files that debug tensors are written to.
struct DebugTensorOptions {
  NamedTexts files;                  ///< by name
  std::vector<std::string> formats;  ///< for all of them: summary, numpy, string, raw
  bool is_on() const { return !files.empty() || !formats.empty(); }
};

enum class ContextMemory { kStatic, kProfile, kRuntime };

struct InferenceOptions {
  NamedExtents shapes;
  NamedTexts inputs;  ///< files by the name of their tensor
  int64_t iterations = 10;
  double duration_s = 3, warmup_ms = 200, idle_ms = 0, sleep_ms = 0;  ///< a duration of -1 never ends
  int streams = 1;
  std::optional<int> profile;  ///< of optimization; none: the first
  ContextMemory memory = ContextMemory::kStatic;
  double persistent_cache_ratio = 0;
  bool managed_memory = false, time_deserialize = false;
  bool transfers = true, overlap = true, spin = false, threads = false, separate_profile_run = false;
  bool cuda_graph = false;
  DebugTensorOptions debug_tensors;
};

struct ReportOptions {
  bool verbose = false, output = false, profile = false, layers = false, optimization_profile = false;
  bool raw_bindings = false;
  int64_t avg_runs = 10;
  std::vector<double> percentiles{90, 95, 99};
  std::string export_times, export_output, export_profile, export_layers;
  bool wants_profile() const { return profile || !export_profile.empty(); }
  bool wants_layers() const { return layers || !export_layers.empty(); }
  bool wants_outputs() const { return output || raw_bindings || !export_output.empty(); }
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
  bool by_stream = false;                 ///< plans are read in pieces instead of mapped
  bool only_version = false;              ///< the plan's version is all that is asked for
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
