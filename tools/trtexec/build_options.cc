#include "build_options.h"

#include <algorithm>
#include <cstdlib>

#include "cli/text.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::HardwareCompatibilityLevel;
using nvinfer1::PreviewFeature;
using nvinfer1::RuntimePlatform;

void read_pools(const Arguments& arguments, BuildOptions& build, std::vector<std::string>& warnings) {
  const std::string* list = arguments.find("--memPoolSize");
  if (!list) return;
  for (const auto& [pool, size] : parse_pairs(*list, "--memPoolSize")) {
    const std::string what = str("--memPoolSize: pool '", pool, "'");
    const int64_t bytes = parse_size(size, 'M', what);
    if (pool == "workspace")
      build.workspace_bytes = bytes;
    else if (pool == "tacticSharedMem")
      build.tactic_shared_bytes = bytes;
    else if (pool == "dlaSRAM" || pool == "dlaLocalDRAM" || pool == "dlaGlobalDRAM")
      warnings.push_back(str(what, " does nothing: there is no DLA"));
    else
      fail(what, " is none of workspace, tacticSharedMem, dlaSRAM, dlaLocalDRAM and dlaGlobalDRAM");
  }
}

LayerDetail read_detail(const Arguments& arguments, std::vector<std::string>& warnings) {
  std::string mode = arguments.text("--profilingVerbosity", "layer_names_only");
  if (mode == "default" || mode == "verbose") {
    const std::string now = mode == "default" ? "layer_names_only" : "detailed";
    warnings.push_back(str("--profilingVerbosity=", mode, " is deprecated; it means ", now));
    mode = now;
  }
  if (mode == "layer_names_only") return LayerDetail::kNamesOnly;
  if (mode == "none") return LayerDetail::kNone;
  if (mode == "detailed") return LayerDetail::kDetailed;
  fail("--profilingVerbosity: '", mode, "' must be layer_names_only, detailed or none");
}

constexpr std::pair<std::string_view, PreviewFeature> kPreviewFeatures[] = {
    {"aliasedPluginIO1003", PreviewFeature::kALIASED_PLUGIN_IO_10_03},
    {"runtimeActivationResize", PreviewFeature::kRUNTIME_ACTIVATION_RESIZE_10_10},
    {"multiDeviceRuntime", PreviewFeature::kMULTIDEVICE_RUNTIME_10_16}};
/// What became how it always is.
constexpr std::string_view kOldPreviewFeatures[] = {"profileSharing0806", "fasterDynamicShapes0805",
                                                    "disableExternalTacticSourcesForCore0805"};

void read_preview(const Arguments& arguments, BuildOptions& build, std::vector<std::string>& warnings) {
  for (const std::string& entry : split(arguments.text("--preview"), ',')) {
    require(entry.starts_with('+') || entry.starts_with('-'), "--preview: '", entry,
            "' begins with neither + (on) nor - (off)");
    const std::string_view name = trim(std::string_view(entry).substr(1));
    if (std::ranges::find(kOldPreviewFeatures, name) != std::end(kOldPreviewFeatures)) {
      warnings.push_back(str("--preview: ", name, " is no preview any more and cannot be switched"));
      continue;
    }
    const auto known = std::ranges::find(kPreviewFeatures, name, &std::pair<std::string_view, PreviewFeature>::first);
    require(known != std::end(kPreviewFeatures), "--preview: '", name,
            "' is none of aliasedPluginIO1003, runtimeActivationResize, multiDeviceRuntime, profileSharing0806");
    build.preview_features.emplace_back(known->second, entry[0] == '+');
  }
}

bool read_sparsity(const Arguments& arguments) {
  const std::string mode = arguments.text("--sparsity", "disable");
  require(mode == "disable" || mode == "enable" || mode == "force", "--sparsity: '", mode,
          "' must be disable, enable or force");
  require(mode != "force",
          "--sparsity=force is not in Kiln: it would replace weights of the model. Prune the model (polygraphy surgeon "
          "prune) and give --sparsity=enable");
  return mode == "enable";
}

/// What a builder may look at and need not heed.
void read_hints(const Arguments& arguments, BuildOptions& build, std::vector<std::string>& warnings) {
  arguments.read("--maxTactics", build.max_tactics, -1);
  require(build.max_tactics != 0,
          "--maxTactics: 0 variants cannot be chosen from; -1, the builder's choice, or 1 at least");
  arguments.read("--tilingOptimizationLevel", build.tiling_level, 0, 3);
  arguments.read("--l2LimitForTiling", build.l2_limit, -1, INT64_MAX);
  build.sparse_weights = read_sparsity(arguments);
  for (const std::string& name : split(arguments.text("--markDebug"), ','))
    if (!name.empty()) build.debug_tensors.push_back(unquoted(name));
  build.debugs_unfused = arguments.has("--markUnfusedTensorsAsDebugTensors");
  build.direct_io = arguments.has("--directIO");
  if (build.direct_io) warnings.push_back("--directIO is deprecated");
  build.distributive_independence = arguments.has("--distributiveIndependence");
  build.monitor_memory = arguments.has("--monitorMemory");
  for (const std::string& name : split(arguments.text("--decomposableAttentions"), ','))
    build.decomposable_attentions.push_back(unquoted(name));
  read_preview(arguments, build, warnings);
}

void read_parser(const Arguments& arguments, BuildOptions& build, std::vector<std::string>& warnings) {
  build.parser.plugin_instance_norm = arguments.has("--pluginInstanceNorm") || arguments.has("--pi");
  build.parser.plugin_override = arguments.has("--enablePluginOverride");
  build.parser.adjust_for_dla = arguments.has("--adjustForDLA");
  if (build.parser.plugin_instance_norm)
    warnings.push_back(
        "--pluginInstanceNorm changes nothing: InstanceNormalization is made of layers, whose kernels are the same");
  if (build.parser.adjust_for_dla) warnings.push_back("--adjustForDLA changes nothing: there is no DLA");
}

/// In small letters, since TensorRT's trtexec takes both.
std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// What the plan is to run on.
void read_targets(const Arguments& arguments, BuildOptions& build, std::vector<std::string>& warnings) {
  const std::string level = in_small_letters(arguments.text("--hardwareCompatibilityLevel", "none"));
  if (level == "ampere+")
    build.hardware_level = HardwareCompatibilityLevel::kAMPERE_PLUS;
  else if (level == "samecomputecapability")
    build.hardware_level = HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY;
  else
    require(level == "none", "--hardwareCompatibilityLevel: '", level,
            "' must be none, ampere+ or sameComputeCapability");
  const std::string platform = arguments.text("--runtimePlatform", "SameAsBuild");
  require(platform == "SameAsBuild" || platform == "WindowsAMD64", "--runtimePlatform: '", platform,
          "' must be SameAsBuild or WindowsAMD64");
  require(platform == "SameAsBuild", "--runtimePlatform=WindowsAMD64 is not in Kiln: it makes plans for Linux only");
  if (arguments.has("--excludeLeanRuntime"))
    warnings.push_back("--excludeLeanRuntime changes nothing: plans hold no runtime");
  require(!build.parser.plugin_instance_norm || build.hardware_level != HardwareCompatibilityLevel::kAMPERE_PLUS,
          "--pluginInstanceNorm and --hardwareCompatibilityLevel=ampere+ exclude each other");
  if (arguments.has("--consistency") && !arguments.has("--safe"))
    warnings.push_back("--consistency does nothing without --safe");
  int core = -1;
  arguments.read("--useDLACore", core, 0);
  build.on_dla = core >= 0;
  require(!build.on_dla || arguments.has("--allowGPUFallback"), "--useDLACore: there is no DLA, so core ", core,
          " cannot be used; with --allowGPUFallback all layers run elsewhere");
  if (!build.on_dla && arguments.has("--allowGPUFallback"))
    warnings.push_back("--allowGPUFallback does nothing without --useDLACore");
}

/// A path, in which '~' at its beginning is the user's folder: shells leave it alone behind '='.
std::string read_path(const Arguments& arguments, std::string_view flag) {
  std::string path = arguments.text(flag);
  const char* const home = std::getenv("HOME");
  if (home && (path == "~" || path.starts_with("~/"))) path.replace(0, 1, home);
  return path;
}

void check_files(const BuildOptions& build) {
  require(!(build.load.size() && build.save.size()), "--loadEngine and --saveEngine exclude each other");
  require(!(build.load.size() && build.onnx.size()),
          "--loadEngine and --onnx exclude each other: a plan is loaded or built");
  require(build.load.size() || build.onnx.size(),
          "no model: --onnx=FILE builds one, --loadEngine=FILE loads a plan, --help lists all flags");
}

void read_timing(const Arguments& arguments, BuildOptions& build, std::vector<std::string>& warnings) {
  arguments.read("--avgTiming", build.avg_timing, 1);
  build.timing_cache = arguments.text("--timingCacheFile");
  build.timing_cache_off = arguments.has("--noBuilderCache");
  build.compilation_cache = !arguments.has("--noCompilationCache");
  build.error_on_cache_miss = arguments.has("--errorOnTimingCacheMiss");
  if (build.timing_cache_off && !build.timing_cache.empty()) {
    warnings.push_back("--timingCacheFile does nothing beside --noBuilderCache");
    build.timing_cache.clear();
  }
  if (build.error_on_cache_miss && build.timing_cache.empty())
    warnings.push_back("--errorOnTimingCacheMiss does nothing without --timingCacheFile: times are measured");
}

}  // namespace

BuildOptions read_build(const Arguments& arguments, std::vector<std::string>& warnings) {
  BuildOptions build;
  build.onnx = read_path(arguments, "--onnx");
  build.save = arguments.text("--saveEngine");
  build.load = arguments.text("--loadEngine");
  build.precision = read_precisions(arguments, warnings);
  build.skip_inference = arguments.has("--skipInference");
  if (arguments.has("--builderOptimizationLevel")) {
    int level = 0;
    arguments.read("--builderOptimizationLevel", level, 0, 5);
    build.level = level;
  }
  arguments.read("--maxAuxStreams", build.max_aux_streams, 0);
  if (const std::string* list = arguments.find("--tacticSources")) build.tactic_sources = parse_tactic_sources(*list);
  if (const std::string* list = arguments.find(kInputFormats))
    build.input_formats = parse_io_formats(*list, kInputFormats);
  if (const std::string* list = arguments.find(kOutputFormats))
    build.output_formats = parse_io_formats(*list, kOutputFormats);
  build.detail = read_detail(arguments, warnings);
  read_timing(arguments, build, warnings);
  read_pools(arguments, build, warnings);
  read_hints(arguments, build, warnings);
  read_parser(arguments, build, warnings);
  read_targets(arguments, build, warnings);
  check_files(build);
  return build;
}

}  // namespace kiln::cli::trtexec
