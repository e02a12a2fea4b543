#include "options.h"

#include "flag_table.h"

namespace kiln::cli::trtexec {
namespace {

void read_pools(const Arguments& arguments, BuildOptions& build) {
  const std::string* list = arguments.find("--memPoolSize");
  if (!list) return;
  for (const auto& [pool, size] : parse_pairs(*list, "--memPoolSize")) {
    const std::string what = str("--memPoolSize: pool '", pool, "'");
    if (pool == "workspace")
      build.workspace_bytes = parse_size(size, 'M', what);
    else if (pool == "tacticSharedMem")
      build.tactic_shared_bytes = parse_size(size, 'K', what);
    else
      fail(what, " is not one that Kiln has; there are workspace and tacticSharedMem (a DLA's pools need a DLA)");
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

BuildOptions read_build(const Arguments& arguments, std::vector<std::string>& warnings) {
  BuildOptions build;
  build.onnx = arguments.text("--onnx");
  build.save = arguments.text("--saveEngine");
  build.load = arguments.text("--loadEngine");
  const bool best = arguments.has("--best");
  if (best) warnings.push_back("--best allows FP16 and BF16; INT8 and FP8 are not in Kiln yet");
  build.fp16 = best || arguments.has("--fp16");
  build.bf16 = best || arguments.has("--bf16");
  build.tf32 = !arguments.has("--noTF32");
  build.strongly_typed = arguments.has("--stronglyTyped");
  build.skip_inference = arguments.has("--skipInference");
  if (arguments.has("--builderOptimizationLevel")) {
    int level = 0;
    arguments.read("--builderOptimizationLevel", level, 0, 5);
    build.level = level;
  }
  arguments.read("--avgTiming", build.avg_timing, 1);
  arguments.read("--maxAuxStreams", build.max_aux_streams, 0);
  build.timing_cache = arguments.text("--timingCacheFile");
  if (const std::string* list = arguments.find("--tacticSources")) build.tactic_sources = parse_tactic_sources(*list);
  build.error_on_cache_miss = arguments.has("--errorOnTimingCacheMiss");
  if (const std::string* list = arguments.find(kInputFormats))
    build.input_formats = parse_io_formats(*list, kInputFormats);
  if (const std::string* list = arguments.find(kOutputFormats))
    build.output_formats = parse_io_formats(*list, kOutputFormats);
  build.detail = read_detail(arguments, warnings);
  read_pools(arguments, build);

  require(!(build.load.size() && build.save.size()), "--loadEngine and --saveEngine exclude each other");
  require(!(build.load.size() && build.onnx.size()),
          "--loadEngine and --onnx exclude each other: a plan is loaded or built");
  require(build.load.size() || build.onnx.size(),
          "no model: --onnx=FILE builds one, --loadEngine=FILE loads a plan, --help lists all flags");
  if (build.strongly_typed && (build.fp16 || build.bf16)) {
    warnings.push_back("--stronglyTyped takes all types from the network: --fp16 and --bf16 are ignored");
    build.fp16 = build.bf16 = false;
  }
  return build;
}

InferenceOptions read_inference(const Arguments& arguments) {
  InferenceOptions inference;
  if (const std::string* list = arguments.find("--loadInputs")) inference.inputs = parse_pairs(*list, "--loadInputs");
  arguments.read("--iterations", inference.iterations, 0);
  arguments.read("--duration", inference.duration_s, -1);
  require(inference.duration_s >= 0 || inference.duration_s == -1, "--duration: ", inference.duration_s,
          " is neither -1 (endless) nor a time");
  arguments.read("--warmUp", inference.warmup_ms, 0);
  arguments.read("--idleTime", inference.idle_ms, 0);
  arguments.read("--infStreams", inference.streams, 1, 1024);
  inference.transfers = !arguments.has("--noDataTransfers");
  inference.overlap = !arguments.has("--exposeDMA");
  inference.spin = arguments.has("--useSpinWait");
  inference.threads = arguments.has("--threads");
  inference.separate_profile_run = arguments.has("--separateProfileRun");
  inference.cuda_graph = arguments.has("--useCudaGraph");
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

}  // namespace

Options parse_options(std::span<const char* const> words) {
  const Arguments arguments(words, kFlagTable);
  if (!arguments.operands().empty())
    fail("'", arguments.operands()[0], "' is no flag; values follow their flag as in --onnx=model.onnx");
  Options options;
  options.build = read_build(arguments, options.warnings);
  options.inference = read_inference(arguments);
  options.report = read_report(arguments);
  options.plugins = read_plugins(arguments, options.warnings);
  options.runtime = read_runtime(arguments, !options.build.load.empty());
  if (options.build.load.size() && options.plugins.serialized.size())
    options.warnings.push_back("--setPluginsToSerialize does nothing beside --loadEngine: nothing is built");
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
  RequestedShapes shapes = read_shapes(arguments, options.warnings);
  options.build.shapes = std::move(shapes.build);
  options.inference.shapes = std::move(shapes.run);
  return options;
}

}  // namespace kiln::cli::trtexec
