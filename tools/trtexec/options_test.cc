#include "options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/expect_failure.h"
#include "flag_table.h"

namespace kiln::cli::trtexec {
namespace {

Options parse(std::vector<const char*> words) { return parse_options(words); }
std::string failure(std::vector<const char*> words) {
  return failure_of([&] { parse(words); });
}

TEST(Options, DefaultsAreTensorRTs) {
  const Options options = parse({"--onnx=m.onnx"});
  EXPECT_EQ(options.inference.iterations, 10);
  EXPECT_EQ(options.inference.duration_s, 3);
  EXPECT_EQ(options.inference.warmup_ms, 200);
  EXPECT_EQ(options.inference.streams, 1);
  EXPECT_TRUE(options.inference.transfers && options.build.tf32);
  EXPECT_FALSE(options.build.fp16 || options.build.strongly_typed || options.inference.spin);
  EXPECT_EQ(options.report.avg_runs, 10);
  EXPECT_EQ(options.report.percentiles, (std::vector<double>{90, 95, 99}));
  EXPECT_FALSE(options.build.level.has_value());
}

TEST(Options, ReadsThemAll) {
  const Options options =
      parse({"--loadEngine=m.plan", "--iterations=1", "--warmUp=30", "--duration=0.3", "--noDataTransfers",
             "--exportTimes=t.json", "--percentile=50, 99.9", "--loadInputs=x:x.bin", "--infStreams=2", "--threads"});
  EXPECT_EQ(options.build.load, "m.plan");
  EXPECT_EQ(options.inference.iterations, 1);
  EXPECT_EQ(options.inference.warmup_ms, 30);
  EXPECT_EQ(options.inference.duration_s, 0.3);
  EXPECT_FALSE(options.inference.transfers);
  EXPECT_EQ(options.report.export_times, "t.json");
  EXPECT_EQ(options.report.percentiles, (std::vector<double>{50, 99.9}));
  EXPECT_EQ(options.inference.inputs, (NamedTexts{{"x", "x.bin"}}));
  EXPECT_EQ(options.inference.streams, 2);
  EXPECT_TRUE(options.inference.threads);
  EXPECT_FALSE(options.inference.cuda_graph);
  EXPECT_TRUE(parse({"--onnx=m.onnx", "--useCudaGraph"}).inference.cuda_graph);
  EXPECT_EQ(parse({"--onnx=m.onnx", "--tacticSources=-CUDNN,+CUBLAS_LT"}).build.tactic_sources.on, 2u);
  EXPECT_EQ(parse({"--onnx=m.onnx"}).build.max_aux_streams, -1);
  EXPECT_EQ(parse({"--onnx=m.onnx", "--maxAuxStreams=2"}).build.max_aux_streams, 2);
}

TEST(Options, MissingRangesTakeAnothersShapes) {
  const Options options = parse({"--onnx=m.onnx", "--minShapes=x:1x4", "--maxShapes=x:8x4"});
  ASSERT_EQ(options.build.shapes.size(), 1u);
  const ShapeRange& range = options.build.shapes[0].second;
  EXPECT_EQ(range.min, (Extents{1, 4}));
  EXPECT_EQ(range.opt, (Extents{8, 4}));
  EXPECT_EQ(range.max, (Extents{8, 4}));
  EXPECT_EQ(options.warnings, std::vector<std::string>{"--optShapes is not given; --maxShapes stands for it"});
  EXPECT_EQ(options.inference.shapes, (NamedExtents{{"x", {8, 4}}}));  // the run takes the optimum
}

TEST(Options, ShapesOfTheRunAreBuiltFor) {
  const Options options = parse({"--onnx=m.onnx", "--shapes=x:2x4"});
  ASSERT_EQ(options.build.shapes.size(), 1u);
  EXPECT_EQ(options.build.shapes[0].second.min, (Extents{2, 4}));
  EXPECT_EQ(options.build.shapes[0].second.max, (Extents{2, 4}));
}

TEST(Options, MemoryPoolsHaveUnits) {
  const Options options = parse({"--onnx=m.onnx", "--memPoolSize=workspace:1024M,tacticSharedMem:48"});
  EXPECT_EQ(options.build.workspace_bytes, int64_t{1} << 30);
  EXPECT_EQ(options.build.tactic_shared_bytes, 48 << 10);
}

TEST(Options, TableHasEveryNameOnce) {
  std::set<std::string_view> names;
  for (const Flag& flag : kFlags) EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
  const std::vector<std::string> not_yet = split(kNotYet, ' ');
  EXPECT_EQ(not_yet.size(), 68u);
  for (const std::string& name : not_yet) EXPECT_TRUE(names.insert(name).second) << name;
}

TEST(Options, SaysWhatIsWrong) {
  EXPECT_EQ(failure({"m.onnx"}), "'m.onnx' is no flag; values follow their flag as in --onnx=model.onnx");
  EXPECT_EQ(failure({"--fp16"}),
            "no model: --onnx=FILE builds one, --loadEngine=FILE loads a plan, --help lists all flags");
  EXPECT_EQ(failure({"--loadEngine=a", "--saveEngine=b"}), "--loadEngine and --saveEngine exclude each other");
  EXPECT_EQ(failure({"--onnx=m", "--builderOptimizationLevel=6"}), "--builderOptimizationLevel: 6 is outside [0, 5]");
  EXPECT_EQ(failure({"--onnx=m", "--percentile=101"}), "--percentile: 101 is outside [0, 100]");
  EXPECT_EQ(failure({"--onnx=m", "--minShapes=x:1", "--maxShapes=y:1"}), "--minShapes: 'y' of --maxShapes is missing");
  EXPECT_EQ(failure({"--onnx=m", "--duration=-2"}), "--duration: -2 is less than -1");
  EXPECT_EQ(
      failure({"--onnx=m", "--memPoolSize=dlaSRAM:1"}),
      "--memPoolSize: pool 'dlaSRAM' is not one that Kiln has; there are workspace and tacticSharedMem (a DLA's pools "
      "need a DLA)");
  EXPECT_EQ(failure({"--onnx=m", "--profilingVerbosity=some"}),
            "--profilingVerbosity: 'some' must be layer_names_only, detailed or none");
}

TEST(Options, StronglyTypedOverridesPrecisions) {
  const Options options = parse({"--onnx=m", "--stronglyTyped", "--fp16"});
  EXPECT_FALSE(options.build.fp16);
  EXPECT_EQ(options.warnings.size(), 1u);
}

TEST(Options, BestIsWhatKilnHas) {
  const Options options = parse({"--onnx=m", "--best"});
  EXPECT_TRUE(options.build.fp16 && options.build.bf16);
  EXPECT_EQ(options.warnings,
            std::vector<std::string>{"--best allows FP16 and BF16; INT8 and FP8 are not in Kiln yet"});
}

TEST(Options, LibrariesOfPluginsMayBeMany) {
  const Options options = parse({"--onnx=m", "--staticPlugins=b.so", "--dynamicPlugins=c.so", "--plugins=a.so",
                                 "--dynamicPlugins=d.so", "--setPluginsToSerialize=d.so"});
  EXPECT_EQ(options.plugins.statics, (std::vector<std::string>{"a.so", "b.so"}));
  EXPECT_EQ(options.plugins.dynamics, (std::vector<std::string>{"c.so", "d.so"}));
  EXPECT_EQ(options.plugins.serialized, std::vector<std::string>{"d.so"});
  EXPECT_FALSE(options.plugins.ignore_parsed);
  EXPECT_EQ(options.warnings, std::vector<std::string>{"--plugins is deprecated; it means --staticPlugins"});
  EXPECT_EQ(parse({"--loadEngine=p", "--setPluginsToSerialize=d.so"}).warnings,
            std::vector<std::string>{"--setPluginsToSerialize does nothing beside --loadEngine: nothing is built"});
  EXPECT_TRUE(parse({"--onnx=m", "--ignoreParsedPluginLibs"}).plugins.ignore_parsed);
  EXPECT_EQ(failure({"--onnx=m", "--staticPlugins="}), "flag --staticPlugins needs a value: --staticPlugins=LIBRARY");
  const auto lines = describe(options);
  for (const char* line :
       {"Plugins: a.so b.so", "setPluginsToSerialize: d.so", "dynamicPlugins: c.so d.so", "ignoreParsedPluginLibs: 0"})
    EXPECT_TRUE(std::ranges::find(lines, line) != lines.end()) << line;
}

TEST(Options, CodeOfPlansIsRunWhereItIsAllowed) {
  EXPECT_FALSE(parse({"--loadEngine=p"}).runtime.host_code_allowed);
  EXPECT_TRUE(parse({"--loadEngine=p", "--vc"}).runtime.host_code_allowed);
  EXPECT_TRUE(parse({"--loadEngine=p", "--versionCompatible"}).runtime.host_code_allowed);
  EXPECT_EQ(failure({"--onnx=m", "--versionCompatible"}),
            "--versionCompatible without --loadEngine: plans that other versions can load are not in Kiln yet");
  EXPECT_EQ(parse({"--onnx=m", "--tempdir=/here"}).runtime.temporary_directory, "/here");
  EXPECT_EQ(parse({"--onnx=m"}).runtime.temporary_files, 3u);
  const Options denied = parse({"--onnx=m", "--tempfileControls=in_memory:deny,temporary:allow"});
  EXPECT_EQ(denied.runtime.temporary_files, 2u);
  const auto lines = describe(denied);
  EXPECT_NE(std::ranges::find(lines, "tempfileControls: in_memory:deny,temporary:allow"), lines.end());
  EXPECT_EQ(failure({"--onnx=m", "--tempfileControls=memory:deny"}),
            "--tempfileControls: 'memory' is neither in_memory nor temporary");
  EXPECT_EQ(failure({"--onnx=m", "--tempfileControls=in_memory:maybe"}),
            "--tempfileControls: 'maybe' is neither allow nor deny");
}

TEST(Options, DescriptionHasTheLabelsThatScriptsParse) {
  const auto lines = describe(parse({"--onnx=m.onnx", "--fp16", "--shapes=x:1x3"}));
  const auto has = [&](const char* line) { return std::ranges::find(lines, line) != lines.end(); };
  EXPECT_TRUE(has("Model: m.onnx"));
  EXPECT_TRUE(has("Precision: FP32+FP16"));
  EXPECT_TRUE(has("Input build shape (profile 0): x=1x3+1x3+1x3"));
  EXPECT_TRUE(has("Duration: 3s (+ 200ms warm up)"));
  EXPECT_TRUE(has("Percentiles: 90,95,99"));
  EXPECT_TRUE(has("Tactic sources: Using default tactic sources"));
  EXPECT_TRUE(has("CUDA Graph: Disabled"));
}

}  // namespace
}  // namespace kiln::cli::trtexec
