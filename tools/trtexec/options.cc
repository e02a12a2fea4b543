#include "options.h"

#include <algorithm>
#include <climits>
#include <unordered_set>

#include "cli/text.h"
#include "flags.h"

namespace kiln::cli::trtexec {
namespace {

/// The arguments by name, and what can go wrong with their values.
class Values {
 public:
  explicit Values(std::vector<Argument> arguments) : arguments_(std::move(arguments)) {}

  const std::string* find(std::string_view name) const {
    const auto found = std::ranges::find(arguments_, name, [](const Argument& a) { return a.flag->name; });
    return found == arguments_.end() ? nullptr : &found->value;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void read(std::string_view name, std::string& text) const {
    if (const std::string* value = find(name)) text = trim(*value);
  }
  template <std::integral T>
  void read(std::string_view name, T& number, int64_t least, int64_t most = INT_MAX) const {
    const std::string* value = find(name);
    if (!value) return;
    const int64_t read = parse_int(*value, name);
    require(read >= least && read <= most, name, ": ", read, " is outside [", least, ", ", most, "]");
    number = static_cast<T>(read);
  }
  void read(std::string_view name, double& number, double least) const {
    const std::string* value = find(name);
    if (!value) return;
    number = parse_number(*value, name);
    require(number >= least, name, ": ", number, " is less than ", least);
  }
  NamedExtents shapes(std::string_view name) const {
    const std::string* value = find(name);
    return value ? parse_shapes(*value, name) : NamedExtents{};
  }

 private:
  std::vector<Argument> arguments_;
};

/// Min, opt and max of each tensor; a flag that is missing altogether takes the shapes of another one.
NamedRanges read_ranges(const Values& values, std::vector<std::string>& warnings) {
  static constexpr std::string_view kNames[] = {"--minShapes", "--optShapes", "--maxShapes"};
  static constexpr int kInstead[3][2] = {{1, 2}, {2, 0}, {1, 0}};
  const NamedExtents given[] = {values.shapes(kNames[0]), values.shapes(kNames[1]), values.shapes(kNames[2])};
  int source[3] = {0, 1, 2};
  for (int i = 0; i < 3; ++i) {
    if (!given[i].empty()) continue;
    const int* instead = kInstead[i];
    source[i] = given[instead[0]].empty() ? instead[1] : instead[0];
    if (!given[source[i]].empty())
      warnings.push_back(str(kNames[i], " is not given; ", kNames[source[i]], " stands for it"));
  }
  NamedRanges ranges;
  const EntryIndex<Extents> least(given[source[0]]), most(given[source[2]]);
  for (const auto& [name, opt] : given[source[1]]) {
    const Extents* min = least.find(name);
    const Extents* max = most.find(name);
    require(min, kNames[0], ": '", name, "' of ", kNames[source[1]], " is missing");
    require(max, kNames[2], ": '", name, "' of ", kNames[source[1]], " is missing");
    ranges.emplace_back(name, ShapeRange{*min, opt, *max});
  }
  std::unordered_set<std::string_view> known;
  for (const auto& [name, range] : ranges) known.insert(name);
  for (int i : {0, 2})
    for (const auto& [name, extents] : given[source[i]])
      require(known.contains(name), kNames[1], ": '", name, "' of ", kNames[i], " is missing");
  return ranges;
}

void read_pools(const Values& values, BuildOptions& build) {
  const std::string* list = values.find("--memPoolSize");
  if (!list) return;
  for (const auto& [pool, size] : parse_pairs(*list, "--memPoolSize")) {
    const std::string what = str("--memPoolSize: pool '", pool, "'");
    if (pool == "workspace")
      build.workspace_bytes = parse_size(size, 'M', what);
    else if (pool == "tacticSharedMem")
      build.tactic_shared_bytes = parse_size(size, 'K', what);
    else
      fail(what, " is none of Kiln's; there are workspace and tacticSharedMem (a DLA's pools need a DLA)");
  }
}

LayerDetail read_detail(const Values& values, std::vector<std::string>& warnings) {
  std::string mode = "layer_names_only";
  values.read("--profilingVerbosity", mode);
  if (mode == "default" || mode == "verbose") {
    const std::string now = mode == "default" ? "layer_names_only" : "detailed";
    warnings.push_back(str("--profilingVerbosity=", mode, " is deprecated; it means ", now));
    mode = now;
  }
  if (mode == "layer_names_only") return LayerDetail::kNamesOnly;
  if (mode == "none") return LayerDetail::kNone;
  if (mode == "detailed") return LayerDetail::kDetailed;
  fail("--profilingVerbosity: '", mode, "' is none of layer_names_only, detailed and none");
}

BuildOptions read_build(const Values& values, std::vector<std::string>& warnings) {
  BuildOptions build;
  values.read("--onnx", build.onnx);
  values.read("--saveEngine", build.save);
  values.read("--loadEngine", build.load);
  const bool best = values.has("--best");
  if (best) warnings.push_back("--best allows FP16 and BF16; INT8 and FP8 are not in Kiln yet");
  build.fp16 = best || values.has("--fp16");
  build.bf16 = best || values.has("--bf16");
  build.tf32 = !values.has("--noTF32");
  build.strongly_typed = values.has("--stronglyTyped");
  build.skip_inference = values.has("--skipInference");
  if (values.has("--builderOptimizationLevel")) {
    int level = 0;
    values.read("--builderOptimizationLevel", level, 0, 5);
    build.level = level;
  }
  values.read("--avgTiming", build.avg_timing, 1);
  values.read("--maxAuxStreams", build.max_aux_streams, 0);
  values.read("--timingCacheFile", build.timing_cache);
  if (const std::string* list = values.find("--tacticSources")) build.tactic_sources = parse_tactic_sources(*list);
  build.error_on_cache_miss = values.has("--errorOnTimingCacheMiss");
  if (const std::string* list = values.find(kInputFormats))
    build.input_formats = parse_io_formats(*list, kInputFormats);
  if (const std::string* list = values.find(kOutputFormats))
    build.output_formats = parse_io_formats(*list, kOutputFormats);
  build.detail = read_detail(values, warnings);
  build.shapes = read_ranges(values, warnings);
  read_pools(values, build);

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

InferenceOptions read_inference(const Values& values) {
  InferenceOptions inference;
  inference.shapes = values.shapes("--shapes");
  if (const std::string* list = values.find("--loadInputs")) inference.inputs = parse_pairs(*list, "--loadInputs");
  values.read("--iterations", inference.iterations, 0);
  values.read("--duration", inference.duration_s, -1);
  require(inference.duration_s >= 0 || inference.duration_s == -1, "--duration: ", inference.duration_s,
          " is neither -1 (endless) nor a time");
  values.read("--warmUp", inference.warmup_ms, 0);
  values.read("--idleTime", inference.idle_ms, 0);
  values.read("--infStreams", inference.streams, 1, 1024);
  inference.transfers = !values.has("--noDataTransfers");
  inference.overlap = !values.has("--exposeDMA");
  inference.spin = values.has("--useSpinWait");
  inference.threads = values.has("--threads");
  inference.separate_profile_run = values.has("--separateProfileRun");
  inference.cuda_graph = values.has("--useCudaGraph");
  return inference;
}

ReportOptions read_report(const Values& values) {
  ReportOptions report;
  report.verbose = values.has("--verbose");
  report.output = values.has("--dumpOutput");
  report.profile = values.has("--dumpProfile");
  report.layers = values.has("--dumpLayerInfo");
  report.optimization_profile = values.has("--dumpOptimizationProfile");
  values.read("--avgRuns", report.avg_runs, 1);
  if (const std::string* list = values.find("--percentile")) {
    report.percentiles.clear();
    for (const std::string& percentile : split(*list, ',')) {
      report.percentiles.push_back(parse_number(percentile, "--percentile"));
      const double read = report.percentiles.back();
      require(read >= 0 && read <= 100, "--percentile: ", read, " is outside [0, 100]");
    }
  }
  values.read("--exportTimes", report.export_times);
  values.read("--exportOutput", report.export_output);
  values.read("--exportProfile", report.export_profile);
  values.read("--exportLayerInfo", report.export_layers);
  return report;
}

/// The builder and the run each take the other's shapes for tensors that their own flags don't name.
void share_shapes(Options& options) {
  NamedRanges& ranges = options.build.shapes;
  NamedExtents& shapes = options.inference.shapes;
  const NamedExtents given = shapes;
  const EntryIndex<Extents> run(given);
  for (const auto& [name, range] : ranges)
    if (!run.find(name)) shapes.emplace_back(name, range.opt);
  const NamedRanges of_flags = ranges;
  const EntryIndex<ShapeRange> built(of_flags);
  for (const auto& [name, shape] : given)
    if (!built.find(name)) ranges.emplace_back(name, ShapeRange{shape, shape, shape});
}

}  // namespace

Options parse_options(std::span<const char* const> words) {
  const Values values(parse_arguments(words));
  Options options;
  options.build = read_build(values, options.warnings);
  options.inference = read_inference(values);
  options.report = read_report(values);
  values.read("--device", options.device, 0);
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
  share_shapes(options);
  return options;
}

}  // namespace kiln::cli::trtexec
