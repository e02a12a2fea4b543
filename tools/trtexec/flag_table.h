/// trtexec's flags, which are TensorRT's: those that work here, with their help, and those that do not yet.
#pragma once

#include "cli/flags.h"

namespace kiln::cli::trtexec {

inline constexpr std::string_view kModel = "Model", kBuild = "Build", kInference = "Inference", kReport = "Reports",
                                  kSystem = "System";

inline constexpr Flag kFlags[] = {
    {"--onnx", "FILE", kModel, "the network, an ONNX file"},
    {"--loadEngine", "FILE", kModel, "load this plan and build nothing"},

    {"--saveEngine", "FILE", kBuild, "write the plan to this file"},
    {"--minShapes", "SHAPES", kBuild, "smallest shapes of dynamic inputs that the plan has to run"},
    {"--optShapes", "SHAPES", kBuild, "shapes of dynamic inputs to optimize for"},
    {"--maxShapes", "SHAPES", kBuild, "largest shapes of dynamic inputs that the plan has to run"},
    {"--inputIOFormats", "TYPE:FORMAT,...", kBuild,
     "types (fp32, fp16, int32, ...) and formats (chw, hwc8, ...; several joined by +) of inputs, in order, or one for "
     "all"},
    {"--outputIOFormats", "TYPE:FORMAT,...", kBuild, "types and formats of outputs, as for --inputIOFormats"},
    {"--fp16", "", kBuild, "allow 16-bit IEEE floats where they are faster"},
    {"--best", "", kBuild, "allow all lower precisions that Kiln has: --fp16 and --bf16"},
    {"--bf16", "", kBuild, "allow 16-bit brain floats where they are faster"},
    {"--noTF32", "", kBuild, "multiply 32-bit floats at full precision: no TF32, no Winograd (default: both allowed)"},
    {"--stronglyTyped", "", kBuild, "take every type from the network"},
    {"--memPoolSize", "POOL:SIZE,...", kBuild,
     "limits of memory: workspace (in M without a unit), tacticSharedMem; units B, K, M, G"},
    {"--builderOptimizationLevel", "N", kBuild, "0 (quick build) to 5 (quick network); default 3"},
    {"--timingCacheFile", "FILE", kBuild, "read measured times from this file if it is there, and add to it"},
    {"--errorOnTimingCacheMiss", "", kBuild, "measure nothing: fail if a time is not in the timing cache"},
    {"--profilingVerbosity", "MODE", kBuild,
     "what the plan records about its layers: layer_names_only (default), detailed, none"},
    {"--maxAuxStreams", "N", kBuild, "additional streams that parallel parts of the network may use; default none"},
    {"--tacticSources", "LIST", kBuild,
     "libraries to add to the default sources of kernels (+) or to leave out (-), as in -CUDNN,+CUBLAS_LT"},
    {"--avgTiming", "N", kBuild, "measure each quick candidate at least this often; default 8"},
    {"--skipInference", "", kBuild, "build and save, but do not run"},

    {"--shapes", "SHAPES", kInference,
     "shapes of dynamic inputs for the run; default: those of --optShapes, else 1 for each dynamic extent"},
    {"--loadInputs", "NAME:FILE,...", kInference,
     "values of inputs: raw bytes, row by row, as many as the shape needs; default: random"},
    {"--iterations", "N", kInference, "run at least this often; default 10"},
    {"--duration", "SECONDS", kInference, "run at least this long; default 3; -1 never ends"},
    {"--warmUp", "MS", kInference, "run this long before measuring; default 200"},
    {"--infStreams", "N", kInference, "number of streams, each with its own context, that run side by side; default 1"},
    {"--noDataTransfers", "", kInference, "copy inputs once at the start and outputs once at the end"},
    {"--exposeDMA", "", kInference, "finish one query before the next begins, copies included"},
    {"--idleTime", "MS", kInference, "wait between two queries; default 0"},
    {"--useSpinWait", "", kInference, "spin while waiting: less jitter, more processor time"},
    {"--threads", "", kInference, "use one host thread for each stream"},
    {"--useCudaGraph", "", kInference, "capture the run of each context once, and launch that"},
    {"--separateProfileRun", "", kInference, "measure first, then profile layers in a run of its own"},

    {"--verbose", "", kReport, "print all messages"},
    {"--avgRuns", "N", kReport, "number of queries that one line of the trace averages; default 10"},
    {"--percentile", "P,...", kReport, "percentiles of times to report; default 90,95,99"},
    {"--dumpOutput", "", kReport, "print the outputs of the last query"},
    {"--dumpProfile", "", kReport, "print the time of every layer"},
    {"--dumpLayerInfo", "", kReport, "print the layers of the plan"},
    {"--dumpOptimizationProfile", "", kReport, "print the shapes that the plan was built for"},
    {"--exportTimes", "FILE", kReport, "write the times of all queries as JSON"},
    {"--exportOutput", "FILE", kReport, "write the outputs of the last query as JSON"},
    {"--exportProfile", "FILE", kReport, "write the time of every layer as JSON"},
    {"--exportLayerInfo", "FILE", kReport, "write the layers of the plan as JSON"},

    {"--device", "N", kSystem, "device to use; default 0"},
    {"--staticPlugins", "LIBRARY", kSystem,
     "load this library, which registers its plugins by itself; may be given several times", Given::kOften},
    {"--plugins", "LIBRARY", kSystem, "deprecated; means --staticPlugins", Given::kOften},
    {"--dynamicPlugins", "LIBRARY", kSystem,
     "load this library through the builder's and the runtime's registry of plugins; may be given several times",
     Given::kOften},
    {"--setPluginsToSerialize", "LIBRARY", kSystem,
     "put this library into the plan, which then needs no --dynamicPlugins; may be given several times", Given::kOften},
    {"--ignoreParsedPluginLibs", "", kSystem,
     "leave libraries that the parser names out of a version-compatible plan, which Kiln does not make yet"},
    {"--versionCompatible", "", kSystem,
     "with --loadEngine: run code of libraries that the plan holds; plans that other versions can load are not in Kiln "
     "yet"},
    {"--vc", "", kSystem, "the same as --versionCompatible"},
    {"--tempdir", "FOLDER", kSystem,
     "folder of temporary files for libraries that a plan holds; default TMPDIR or /tmp"},
    {"--tempfileControls", "KIND:allow|deny,...", kSystem,
     "files that such libraries may be loaded from, of kinds in_memory and temporary; default both"},
    {"--help", "", kSystem, "print this text"},
    {"-h", "", kSystem, "print this text"},
};

inline constexpr std::string_view kNotYet =
    "--adjustForDLA --allocationStrategy --allowGPUFallback --allowWeightStreaming --asyncFileReader "
    "--buildDLAStandalone --calib --calibProfile --consistency --cpuOnly --decomposableAttentions --directIO "
    "--distributiveIndependence --dumpKernelText --dumpRawBindingsToFile --dumpRefit "
    "--enablePluginOverride --excludeLeanRuntime --fp8 --getPlanVersionOnly --hardwareCompatibilityLevel "
    "--int4 --int8 --l2LimitForTiling --layerDeviceTypes --layerOutputTypes "
    "--layerPrecisions --leanDLLPath --markDebug --markUnfusedTensorsAsDebugTensors --maxShapesCalib --maxTactics "
    "--minShapesCalib --monitorMemory --noBuilderCache --noCompilationCache --optShapesCalib --persistentCacheRatio "
    "--pi --pluginInstanceNorm --precisionConstraints --preview --profile --refit --refitFromOnnx "
    "--remoteAutoTuningConfig --reportCapabilityDLA --restricted --runtimePlatform --safe --safetyPlugins "
    "--saveAllDebugTensors --saveDebugTensors --sleepTime --sparsity "
    "--streams --stripAllWeights --stripWeights --tilingOptimizationLevel "
    "--timeDeserialize --timeRefit --uint8AsymmetricQuantizationDLA --useDLACore --useManagedMemory --useProfile "
    "--useRuntime --weightStreamingBudget --weightless";

inline constexpr FlagTable kFlagTable{kFlags, kNotYet};

}  // namespace kiln::cli::trtexec
