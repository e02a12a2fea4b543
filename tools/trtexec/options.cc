#include "options.h"

#include <algorithm>

#include "build_options.h"
#include "flag_table.h"
#include "lacking_options.h"
#include "old_flags.h"

namespace kiln::cli::trtexec {
namespace {

ContextMemory read_memory(const Arguments& arguments) {
  const std::string mode = arguments.text("--allocationStrategy", "static");
  if (mode == "static") return ContextMemory::kStatic;
  if (mode == "profile") return ContextMemory::kProfile;
  if (mode == "runtime") return ContextMemory::kRuntime;
  fail("--allocationStrategy: '", mode, "' must be static, profile or runtime");
}

InferenceOptions read_inference(const Arguments& arguments, std::vector<std::string>& warnings) {
  InferenceOptions inference;
  if (const std::string* list = arguments.find("--loadInputs")) inference.inputs = parse_pairs(*list, "--loadInputs");
  arguments.read("--iterations", inference.iterations, 0);
  arguments.read("--duration", inference.duration_s, -1);
  require(inference.duration_s >= 0 || inference.duration_s == -1, "--duration: ", inference.duration_s,
          " is neither -1 (endless) nor a time");
  arguments.read("--warmUp", inference.warmup_ms, 0);
  arguments.read("--idleTime", inference.idle_ms, 0);
  arguments.read("--sleepTime", inference.sleep_ms, 0);
  if (arguments.has("--streams")) warnings.push_back("--streams is deprecated; it means --infStreams");
  arguments.read("--streams", inference.streams, 1, 1024);
  arguments.read("--infStreams", inference.streams, 1, 1024);
  if (arguments.has("--useProfile")) arguments.read("--useProfile", inference.profile.emplace(), 0);
  inference.memory = read_memory(arguments);
  arguments.read("--persistentCacheRatio", inference.persistent_cache_ratio, 0);
  require(inference.persistent_cache_ratio <= 1, "--persistentCacheRatio: ", inference.persistent_cache_ratio,
          " is above 1");
  if (inference.persistent_cache_ratio > 0)
    warnings.push_back("--persistentCacheRatio is a hint that no kernel of Kiln heeds: results and times are the same");
  inference.managed_memory = arguments.has("--useManagedMemory");
  inference.time_deserialize = arguments.has("--timeDeserialize");
  inference.transfers = !arguments.has("--noDataTransfers");
  inference.overlap = !arguments.has("--exposeDMA");
  inference.spin = arguments.has("--useSpinWait");
  inference.threads = arguments.has("--threads");
  inference.separate_profile_run = arguments.has("--separateProfileRun");
  inference.cuda_graph = arguments.has("--useCudaGraph");
  if (const std::string* list = arguments.find("--saveDebugTensors"))
    inference.debug_tensors.files = parse_pairs(*list, "--saveDebugTensors");
  if (arguments.has("--saveAllDebugTensors"))
    inference.debug_tensors.formats = split(arguments.text("--saveAllDebugTensors"), ',');
  return inference;
}

PluginOptions read_plugins(const Arguments& arguments, std::vector<std::string>& warnings) {
  PluginOptions plugins;
  plugins.statics = arguments.all("--plugins");
  if (!plugins.statics.empty()) warnings.push_back("--plugins is deprecated; it means --staticPlugins");
  for (std::string& library : arguments.all("--staticPlugins")) plugins.statics.push_back(std::move(library));
  plugins.dynamics = arguments.all("--dynamicPlugins");
  plugins.serialized = arguments.all("--setPluginsToSerialize");
  plugins.ignore_parsed = arguments.has("--ignoreParsedPluginLibs");
  if (plugins.ignore_parsed)
    warnings.push_back("--ignoreParsedPluginLibs does nothing: Kiln's parser names no plugin libraries");
  return plugins;
}

/// "in_memory:allow,temporary:deny": what is not named stays allowed.
uint32_t parse_temporary_files(const std::string& list) {
  constexpr std::pair<std::string_view, nvinfer1::TempfileControlFlag> kKinds[] = {
      {"in_memory", nvinfer1::TempfileControlFlag::kALLOW_IN_MEMORY_FILES},
      {"temporary", nvinfer1::TempfileControlFlag::kALLOW_TEMPORARY_FILES}};
  uint32_t allowed = RuntimeOptions::kAllOfThem;
  for (const auto& [kind, choice] : parse_pairs(list, "--tempfileControls")) {
    const auto known =
        std::ranges::find(kKinds, kind, &std::pair<std::string_view, nvinfer1::TempfileControlFlag>::first);
    require(known != std::end(kKinds), "--tempfileControls: '", kind, "' is neither in_memory nor temporary");
    require(choice == "allow" || choice == "deny", "--tempfileControls: '", choice, "' is neither allow nor deny");
    const uint32_t bit = 1U << static_cast<int>(known->second);
    allowed = choice == "allow" ? allowed | bit : allowed & ~bit;
  }
  return allowed;
}

RuntimeOptions read_runtime(const Arguments& arguments, bool loads) {
  RuntimeOptions runtime;
  runtime.host_code_allowed = arguments.has("--versionCompatible") || arguments.has("--vc");
  require(loads || !runtime.host_code_allowed,
          "--versionCompatible without --loadEngine: plans that other versions can load are not in Kiln yet");
  runtime.by_stream = arguments.has("--asyncFileReader");
  runtime.only_version = arguments.has("--getPlanVersionOnly");
  runtime.temporary_directory = arguments.text("--tempdir");
  if (const std::string* list = arguments.find("--tempfileControls"))
    runtime.temporary_files = parse_temporary_files(*list);
  return runtime;
}

ReportOptions read_report(const Arguments& arguments) {
  ReportOptions report;
  report.verbose = arguments.has("--verbose");
  report.output = arguments.has("--dumpOutput");
  report.profile = arguments.has("--dumpProfile");
  report.layers = arguments.has("--dumpLayerInfo");
  report.optimization_profile = arguments.has("--dumpOptimizationProfile");
  report.raw_bindings = arguments.has("--dumpRawBindingsToFile");
  arguments.read("--avgRuns", report.avg_runs, 1);
  if (const std::string* list = arguments.find("--percentile")) {
    report.percentiles.clear();
    for (const std::string& percentile : split(*list, ',')) {
      report.percentiles.push_back(parse_number(percentile, "--percentile"));
      const double read = report.percentiles.back();
      require(read >= 0 && read <= 100, "--percentile: ", read, " is outside [0, 100]");
    }
  }
  report.export_times = arguments.text("--exportTimes");
  report.export_output = arguments.text("--exportOutput");
  report.export_profile = arguments.text("--exportProfile");
  report.export_layers = arguments.text("--exportLayerInfo");
  return report;
}

/// Whether there is a file to load again and again.
void check_loading(const Options& options) {
  const BuildOptions& build = options.build;
  require(!options.inference.time_deserialize || !build.load.empty() || !build.save.empty(),
          "--timeDeserialize needs a plan in a file: --loadEngine or --saveEngine");
}

/// Profiles that the command line names, against those that it makes.
void check_profiles(const Options& options) {
  const BuildOptions& build = options.build;
  if (!build.load.empty()) return;  // the plan has its own
  const auto count = static_cast<int>(build.profiles.size());
  const int used = options.inference.profile.value_or(0), calibrated = build.precision.calibration_profile;
  require(used < count, "--useProfile: there is no profile ", used, "; ", count, " are built, counted from 0");
  require(calibrated < count, "--calibProfile: there is no profile ", calibrated, "; ", count,
          " are built, counted from 0");
}

}  // namespace

Options parse_options(std::span<const char* const> words) {
  Options options;
  const std::vector<std::string> today = without_old_flags(words, options.warnings);
  std::vector<const char*> pointers;
  for (const std::string& word : today) pointers.push_back(word.c_str());
  const Arguments arguments(pointers, kFlagTable);
  if (!arguments.operands().empty())
    fail("'", arguments.operands()[0], "' is no flag; values follow their flag as in --onnx=model.onnx");
  options.build = read_build(arguments, options.warnings);
  options.inference = read_inference(arguments, options.warnings);
  options.report = read_report(arguments);
  options.plugins = read_plugins(arguments, options.warnings);
  options.runtime = read_runtime(arguments, !options.build.load.empty());
  for (const std::string_view flag : {"--setPluginsToSerialize", "--markDebug", "--markUnfusedTensorsAsDebugTensors"})
    if (!options.build.load.empty() && arguments.has(flag))
      options.warnings.push_back(str(flag, " does nothing beside --loadEngine: nothing is built"));
  for (const std::string_view flag : {"--saveDebugTensors", "--saveAllDebugTensors"})
    if (options.build.skip_inference && arguments.has(flag))
      options.warnings.push_back(str(flag, " writes nothing beside --skipInference: nothing is run"));
  arguments.read("--device", options.device, 0);
  const ReportOptions& report = options.report;
  if (report.wants_profile() && !options.inference.separate_profile_run && !report.export_times.empty()) {
    options.warnings.push_back(
        "--exportTimes writes nothing beside --dumpProfile and --exportProfile, which slow queries down; add "
        "--separateProfileRun");
  }
  if (report.wants_profile() && !options.inference.separate_profile_run && options.inference.cuda_graph) {
    options.warnings.push_back(
        "--useCudaGraph does nothing beside --dumpProfile and --exportProfile: layers are timed one by one; add "
        "--separateProfileRun");
  }
  RequestedProfiles shapes = read_profiles(arguments, options.inference.profile.value_or(0), options.warnings);
  options.build.profiles = std::move(shapes.build);
  options.inference.shapes = std::move(shapes.run);
  check_profiles(options);
  check_loading(options);
  refuse_lacking_flags(arguments);
  return options;
}

}  // namespace kiln::cli::trtexec
