#include "options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/expect_failure.h"
#include "flag_table.h"
#include "old_flags.h"

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
  EXPECT_TRUE(options.inference.transfers && options.build.precision.tf32);
  EXPECT_FALSE(options.build.precision.fp16 || options.build.precision.strongly_typed || options.inference.spin);
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
  ASSERT_EQ(options.build.profiles.size(), 1u);
  ASSERT_EQ(options.build.profiles[0].size(), 1u);
  const ShapeRange& range = options.build.profiles[0][0].second;
  EXPECT_EQ(range.min, (Extents{1, 4}));
  EXPECT_EQ(range.opt, (Extents{8, 4}));
  EXPECT_EQ(range.max, (Extents{8, 4}));
  EXPECT_EQ(options.warnings, std::vector<std::string>{"--optShapes is not given; --maxShapes stands for it"});
  EXPECT_EQ(options.inference.shapes, (NamedExtents{{"x", {8, 4}}}));  // the run takes the optimum
}

TEST(Options, ShapesOfTheRunAreBuiltFor) {
  const Options options = parse({"--onnx=m.onnx", "--shapes=x:2x4"});
  ASSERT_EQ(options.build.profiles.size(), 1u);
  EXPECT_EQ(options.build.profiles[0].at(0).second.min, (Extents{2, 4}));
  EXPECT_EQ(options.build.profiles[0].at(0).second.max, (Extents{2, 4}));
}

TEST(Options, MemoryPoolsHaveUnits) {
  const Options options = parse({"--onnx=m.onnx", "--memPoolSize=workspace:1024,tacticSharedMem:48K,dlaSRAM:1"});
  EXPECT_EQ(options.build.workspace_bytes, int64_t{1} << 30);
  EXPECT_EQ(options.build.tactic_shared_bytes, 48 << 10);
  EXPECT_EQ(options.warnings, std::vector<std::string>{"--memPoolSize: pool 'dlaSRAM' does nothing: there is no DLA"});
}

TEST(Options, TableHasEveryNameOnce) {
  std::set<std::string_view> names;
  for (const Flag& flag : kFlags) EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
  EXPECT_EQ(names.size(), 126u);  // of TensorRT 10.16
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
      failure({"--onnx=m", "--memPoolSize=sram:1"}),
      "--memPoolSize: pool 'sram' is none of workspace, tacticSharedMem, dlaSRAM, dlaLocalDRAM and dlaGlobalDRAM");
  EXPECT_EQ(failure({"--onnx=m", "--profilingVerbosity=some"}),
            "--profilingVerbosity: 'some' must be layer_names_only, detailed or none");
}

TEST(Options, TellsOfFlagsThatDoNothingByThemselves) {
  EXPECT_EQ(
      parse({"--onnx=m", "--errorOnTimingCacheMiss"}).warnings,
      std::vector<std::string>{"--errorOnTimingCacheMiss does nothing without --timingCacheFile: times are measured"});
  EXPECT_EQ(parse({"--onnx=m", "--errorOnTimingCacheMiss", "--timingCacheFile=c"}).warnings,
            std::vector<std::string>());
  EXPECT_EQ(parse({"--onnx=m", "--maxTactics=-1"}).build.max_tactics, -1);
  EXPECT_EQ(failure({"--onnx=m", "--maxTactics=0"}),
            "--maxTactics: 0 variants cannot be chosen from; -1, the builder's choice, or 1 at least");
}

TEST(Options, ProfilesHaveTheShapesThatFollowThem) {
  const Options options = parse({"--onnx=m", "--profile=1", "--minShapes=x:1", "--optShapes=x:2", "--maxShapes=x:8",
                                 "--profile=0", "--optShapes=x:16", "--useProfile=1", "--shapes=y:3"});
  ASSERT_EQ(options.build.profiles.size(), 2u);
  EXPECT_EQ(options.build.profiles[0].at(0).second.max, (Extents{16}));
  EXPECT_EQ(options.build.profiles[1].at(0).second.min, (Extents{1}));
  EXPECT_EQ(options.build.profiles[1].at(1).first, "y");  // the run's shapes are built for, in the profile that it uses
  EXPECT_EQ(options.build.profiles[0].size(), 1u);
  EXPECT_EQ(options.inference.shapes, (NamedExtents{{"y", {3}}, {"x", {2}}}));
  EXPECT_EQ(options.inference.profile, 1);
  EXPECT_EQ(failure({"--onnx=m", "--optShapes=x:1", "--profile=0", "--optShapes=x:1"}),
            "--optShapes stands in front of the first --profile=N, so that no profile has it");
  EXPECT_EQ(failure({"--onnx=m", "--optShapes=x:1", "--optShapes=x:2"}),
            "flag --optShapes is given twice; several profiles need --profile=N");
  EXPECT_EQ(failure({"--onnx=m", "--profile=0", "--optShapes=x:1", "--optShapes=x:2"}),
            "--optShapes is given twice for one --profile=N");
  EXPECT_EQ(failure({"--onnx=m", "--profile=1", "--optShapes=x:1"}),
            "--profile=0 is missing: profiles are counted from 0 without gaps");
  EXPECT_EQ(failure({"--onnx=m", "--profile=0", "--optShapes=x:1", "--profile=0"}), "--profile=0 is given twice");
  EXPECT_EQ(failure({"--onnx=m", "--profile=0"}),
            "--profile=0 has no shapes: --minShapes, --optShapes and --maxShapes follow it");
  EXPECT_EQ(failure({"--onnx=m", "--profile=0", "--optShapes=x:1", "--useProfile=1"}),
            "--useProfile: there is no profile 1; 1 are built, counted from 0");
  EXPECT_EQ(parse({"--loadEngine=p", "--useProfile=3"}).inference.profile, 3);  // the plan knows how many it has
}

TEST(Options, WhatTheBuilderMayLookAt) {
  const Options options = parse(
      {"--onnx=m", "--maxTactics=3", "--tilingOptimizationLevel=2", "--l2LimitForTiling=4096", "--sparsity=enable",
       "--directIO", "--distributiveIndependence", "--monitorMemory", "--noBuilderCache", "--noCompilationCache",
       "--decomposableAttentions='a:b',c*", "--preview=+aliasedPluginIO1003,-runtimeActivationResize",
       "--hardwareCompatibilityLevel=sameComputeCapability", "--runtimePlatform=SameAsBuild"});
  const BuildOptions& build = options.build;
  EXPECT_EQ(build.max_tactics, 3);
  EXPECT_EQ(build.tiling_level, 2);
  EXPECT_EQ(build.l2_limit, 4096);
  EXPECT_TRUE(build.sparse_weights && build.direct_io && build.distributive_independence && build.monitor_memory);
  EXPECT_TRUE(build.timing_cache_off && !build.compilation_cache);
  EXPECT_EQ(build.decomposable_attentions, (std::vector<std::string>{"a:b", "c*"}));
  ASSERT_EQ(build.preview_features.size(), 2u);
  EXPECT_EQ(build.preview_features[0], std::pair(nvinfer1::PreviewFeature::kALIASED_PLUGIN_IO_10_03, true));
  EXPECT_FALSE(build.preview_features[1].second);
  EXPECT_EQ(build.hardware_level, nvinfer1::HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY);
  EXPECT_EQ(failure({"--onnx=m", "--tilingOptimizationLevel=4"}), "--tilingOptimizationLevel: 4 is outside [0, 3]");
  EXPECT_EQ(failure({"--onnx=m", "--sparsity=some"}), "--sparsity: 'some' must be disable, enable or force");
  EXPECT_NE(failure({"--onnx=m", "--sparsity=force"}).find("--sparsity=force is not in Kiln"), std::string::npos);
  EXPECT_EQ(failure({"--onnx=m", "--preview=aliasedPluginIO1003"}),
            "--preview: 'aliasedPluginIO1003' begins with neither + (on) nor - (off)");
  EXPECT_NE(failure({"--onnx=m", "--preview=+x"}).find("--preview: 'x' is none of"), std::string::npos);
  EXPECT_EQ(parse({"--onnx=m", "--preview=-fasterDynamicShapes0805"}).warnings.size(), 1u);
  EXPECT_EQ(failure({"--onnx=m", "--hardwareCompatibilityLevel=turing"}),
            "--hardwareCompatibilityLevel: 'turing' must be none, ampere+ or sameComputeCapability");
  EXPECT_EQ(failure({"--onnx=m", "--runtimePlatform=WindowsAMD64"}),
            "--runtimePlatform=WindowsAMD64 is not in Kiln: it makes plans for Linux only");
}

TEST(Options, RunsAsTheCommandLineSays) {
  const InferenceOptions inference =
      parse({"--loadEngine=p", "--sleepTime=5", "--streams=3", "--useManagedMemory", "--allocationStrategy=runtime",
             "--persistentCacheRatio=0.5", "--timeDeserialize"})
          .inference;
  EXPECT_EQ(inference.sleep_ms, 5);
  EXPECT_EQ(inference.streams, 3);
  EXPECT_TRUE(inference.managed_memory && inference.time_deserialize);
  EXPECT_EQ(inference.memory, ContextMemory::kRuntime);
  EXPECT_EQ(inference.persistent_cache_ratio, 0.5);
  EXPECT_EQ(failure({"--onnx=m", "--allocationStrategy=some"}),
            "--allocationStrategy: 'some' must be static, profile or runtime");
  EXPECT_EQ(failure({"--onnx=m", "--persistentCacheRatio=1.5"}), "--persistentCacheRatio: 1.5 is above 1");
  EXPECT_EQ(failure({"--onnx=m", "--timeDeserialize"}),
            "--timeDeserialize needs a plan in a file: --loadEngine or --saveEngine");
  EXPECT_TRUE(parse({"--loadEngine=p", "--getPlanVersionOnly", "--asyncFileReader"}).runtime.by_stream);
  EXPECT_EQ(failure({"--onnx=m", "--getPlanVersionOnly"}), "--getPlanVersionOnly needs --loadEngine");
  EXPECT_TRUE(parse({"--loadEngine=p", "--dumpRawBindingsToFile"}).report.wants_outputs());
}

TEST(Options, ThereIsNoDla) {
  EXPECT_EQ(
      failure({"--onnx=m", "--useDLACore=0"}),
      "--useDLACore: there is no DLA, so core 0 cannot be used; with --allowGPUFallback all layers run elsewhere");
  EXPECT_TRUE(parse({"--onnx=m", "--useDLACore=0", "--allowGPUFallback"}).build.on_dla);
  EXPECT_EQ(parse({"--onnx=m", "--allowGPUFallback"}).warnings,
            std::vector<std::string>{"--allowGPUFallback does nothing without --useDLACore"});
  EXPECT_EQ(parse({"--onnx=m", "--adjustForDLA"}).warnings.size(), 1u);
  EXPECT_EQ(failure({"--onnx=m", "--buildDLAStandalone", "--allowGPUFallback"}),
            "--buildDLAStandalone and --allowGPUFallback exclude each other");
  EXPECT_EQ(failure({"--onnx=m", "--buildDLAStandalone"}), "--buildDLAStandalone needs --inputIOFormats");
  const auto formats = [](const char* inputs, const char* outputs) {
    return failure({"--onnx=m", "--buildDLAStandalone", inputs, outputs});
  };
  for (const char* good : {"--inputIOFormats=fp16:dla_linear", "--inputIOFormats=int8:chw4,fp16:chw16"})
    EXPECT_TRUE(
        formats(good, "--outputIOFormats=int8:chw32").starts_with("flag --buildDLAStandalone is not in Kiln yet"))
        << formats(good, "--outputIOFormats=int8:chw32");
  EXPECT_TRUE(formats("--inputIOFormats=fp16:chw32", "--outputIOFormats=int8:chw32").starts_with("--inputIOFormats: "));
  EXPECT_TRUE(formats("--inputIOFormats=int8:chw4", "--outputIOFormats=int8:chw4").starts_with("--outputIOFormats: "));
  EXPECT_TRUE(formats("--inputIOFormats=fp32:dla_linear", "--outputIOFormats=int8:chw32").starts_with("--inputIOFo"));
}

TEST(Options, DebugTensors) {
  const Options options = parse({"--onnx=m", "--markDebug=x,y", "--markUnfusedTensorsAsDebugTensors",
                                 "--saveDebugTensors=x:x.raw,y:y.raw", "--saveAllDebugTensors=numpy,summary"});
  EXPECT_EQ(options.build.debug_tensors, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(options.build.debugs_unfused);
  EXPECT_EQ(options.inference.debug_tensors.files.size(), 2u);
  EXPECT_EQ(options.inference.debug_tensors.formats, (std::vector<std::string>{"numpy", "summary"}));
  EXPECT_EQ(failure({"--onnx=m", "--saveDebugTensors=x:f"}), "--saveDebugTensors needs --markDebug, or --loadEngine");
  EXPECT_EQ(failure({"--onnx=m", "--saveAllDebugTensors=raw"}),
            "--saveAllDebugTensors needs --markDebug or --markUnfusedTensorsAsDebugTensors, or --loadEngine");
  EXPECT_EQ(parse({"--onnx=m", "--markDebug='a,b','it''s'"}).build.debug_tensors,
            (std::vector<std::string>{"a,b", "it's"}));
  EXPECT_EQ(parse({"--onnx=m", "--markDebug=x", "--saveAllDebugTensors=raw", "--skipInference"}).warnings,
            (std::vector<std::string>{"--saveAllDebugTensors writes nothing beside --skipInference: nothing is run"}));
  EXPECT_EQ(parse({"--loadEngine=p", "--markDebug=x", "--markUnfusedTensorsAsDebugTensors"}).warnings,
            (std::vector<std::string>{"--markDebug does nothing beside --loadEngine: nothing is built",
                                      "--markUnfusedTensorsAsDebugTensors does nothing beside --loadEngine: nothing is "
                                      "built"}));
}

TEST(Options, FlagsThatKilnLacksAreCheckedAndNamed) {
  // Each with what makes it valid: the flag itself, or the one that it needs, is then named.
  const std::pair<std::vector<const char*>, const char*> kCases[] = {
      {{"--refit"}, "--refit"},
      {{"--refit", "--refitFromOnnx=w.onnx"}, "--refit"},
      {{"--stripWeights"}, "--stripWeights"},
      {{"--stripAllWeights"}, "--stripAllWeights"},
      {{"--weightless"}, "--weightless"},
      {{"--stronglyTyped", "--allowWeightStreaming", "--weightStreamingBudget=20%"}, "--allowWeightStreaming"},
      {{"--buildDLAStandalone", "--inputIOFormats=fp16:dla_linear", "--outputIOFormats=fp16:dla_linear"},
       "--buildDLAStandalone"},
      {{"--uint8AsymmetricQuantizationDLA"}, "--uint8AsymmetricQuantizationDLA"},
      {{"--reportCapabilityDLA"}, "--reportCapabilityDLA"},
      {{"--safe"}, "--safe"},
      {{"--safe", "--remoteAutoTuningConfig=ssh://u:p@host:22?a=b", "--cpuOnly"}, "--safe"},
      {{"--restricted"}, "--restricted"},
      {{"--leanDLLPath=lean.so"}, "--leanDLLPath"}};
  for (const auto& [flags, named] : kCases) {
    std::vector<const char*> words{"--onnx=m"};
    words.insert(words.end(), flags.begin(), flags.end());
    EXPECT_TRUE(failure(words).starts_with(str("flag ", named, " is not in Kiln yet: "))) << failure(words);
  }
  EXPECT_EQ(failure({"--onnx=m", "--weightStreamingBudget=1"}), "--weightStreamingBudget needs --allowWeightStreaming");
  EXPECT_EQ(failure({"--onnx=m", "--allowWeightStreaming"}), "--allowWeightStreaming needs --stronglyTyped");
  EXPECT_EQ(failure({"--onnx=m", "--stronglyTyped", "--allowWeightStreaming", "--weightStreamingBudget=101%"}),
            "--weightStreamingBudget: 101% is outside [0%, 100%]");
  EXPECT_EQ(failure({"--onnx=m", "--dumpKernelText"}), "--dumpKernelText needs --safe");
  EXPECT_EQ(failure({"--onnx=m", "--cpuOnly"}), "--cpuOnly needs --safe");
  EXPECT_EQ(failure({"--onnx=m", "--timeRefit"}), "--timeRefit needs --refit");
  EXPECT_EQ(
      failure({"--onnx=m", "--safe", "--remoteAutoTuningConfig=host"}),
      "--remoteAutoTuningConfig: the value is not of the form PROTOCOL://USER[:PASSWORD]@HOST[:PORT]?NAME=VALUE&...");
  EXPECT_EQ(failure({"--onnx=m", "--safe", "--safetyPlugins=p.so"}),
            "--safetyPlugins: 'p.so' is not LIBRARY[NAMESPACE::PLUGIN,...]");
  EXPECT_EQ(failure({"--onnx=m", "--saveAllDebugTensors=csv"}),
            "--saveAllDebugTensors: 'csv' is none of summary, numpy, string and raw");
  EXPECT_EQ(failure({"--loadEngine=p", "--useRuntime=lean"}),
            "--useRuntime=lean is not in Kiln yet: there is the full runtime only");
  EXPECT_EQ(failure({"--onnx=m", "--useRuntime=lean"}), "--useRuntime=lean needs --loadEngine");
  EXPECT_EQ(parse({"--onnx=m", "--useRuntime=full", "--consistency"}).warnings,
            std::vector<std::string>{"--consistency does nothing without --safe"});
}

TEST(Options, FlagsOfOlderReleasesSayWhatBecameOfThem) {
  const Options options = parse({"--onnx=m", "--workspace=64", "--explicitBatch", "--buildOnly", "--nvtxMode=verbose",
                                 "--minTiming=4", "--heuristic"});
  EXPECT_EQ(options.build.workspace_bytes, 64 << 20);
  EXPECT_TRUE(options.build.skip_inference);
  EXPECT_EQ(options.build.detail, LayerDetail::kDetailed);
  EXPECT_EQ(options.build.level, 2);
  ASSERT_EQ(options.warnings.size(), 7u);
  EXPECT_EQ(options.warnings[0], "--workspace is a flag of older releases; it means --memPoolSize=workspace:64");
  EXPECT_EQ(
      options.warnings[1],
      "--explicitBatch is a flag of older releases and does nothing: the batch is always an axis of the network's "
      "inputs");
  EXPECT_EQ(
      failure({"--onnx=m", "--batch=8"}),
      "--batch is a flag of older releases: the batch is an axis of the network's inputs: give it by --shapes, and "
      "its range by --minShapes, --optShapes and --maxShapes");
  EXPECT_NE(failure({"--uff=m.uff"}).find("export the network to ONNX"), std::string::npos);
  EXPECT_EQ(failure({"--onnx=m", "--workspace"}),
            "flag --workspace needs a value, as in --workspace=N; --memPoolSize=workspace:N has replaced it");
  for (const OldFlag& old : old_flags())  // none is one of today's
    for (const Flag& flag : kFlags) EXPECT_NE(old.name, flag.name);
}

TEST(Options, FlagsOfOlderReleasesGiveWayToThoseOfToday) {
  const Options options = parse({"--onnx=m", "--nvtxMode=verbose", "--profilingVerbosity=layer_names_only",
                                 "--buildOnly", "--skipInference", "--heuristic", "--builderOptimizationLevel=3",
                                 "--workspace=64", "--memPoolSize=workspace:32"});
  EXPECT_EQ(options.build.detail, LayerDetail::kNamesOnly);
  EXPECT_EQ(options.build.level, 3);
  EXPECT_EQ(options.build.workspace_bytes, 32 << 20);
  ASSERT_EQ(options.warnings.size(), 4u);
  EXPECT_EQ(options.warnings[0],
            "--nvtxMode is a flag of older releases; it means --profilingVerbosity=verbose, beside which "
            "--profilingVerbosity=layer_names_only counts");
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
