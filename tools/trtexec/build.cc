#include "build.h"

#include <map>
#include <optional>

#include "NvInfer.h"
#include "NvOnnxParser.h"
#include "calibration.h"
#include "cli/files.h"
#include "cli/new_file.h"
#include "clock.h"
#include "layer_choices.h"
#include "log.h"
#include "plugins.h"
#include "profile_shapes.h"
#include "progress.h"
#include "timing_cache.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::MemoryPoolType;

void parse_network(const BuildOptions& options, nvinfer1::INetworkDefinition& network, Log& log) {
  using nvonnxparser::OnnxParserFlag;
  const std::string& file = options.onnx;
  log.info("Start parsing network model.");
  const Clock clock;
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(network, log));
  require(parser != nullptr, "no ONNX parser: the message above says why");
  if (options.parser.plugin_instance_norm) parser->clearFlag(OnnxParserFlag::kNATIVE_INSTANCENORM);
  if (options.parser.plugin_override) parser->setFlag(OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);
  if (options.parser.adjust_for_dla) parser->setFlag(OnnxParserFlag::kADJUST_FOR_DLA);
  if (!parser->parseFromFile(file.c_str(), static_cast<int>(nvinfer1::ILogger::Severity::kINFO))) {
    const int count = parser->getNbErrors();
    fail("cannot parse ", file, ": ", count, count == 1 ? " problem, named above" : " problems, named above");
  }
  log.info("Finished parsing network model. Parse time: ", clock.seconds());
}

void set_formats(const BuildOptions& options, nvinfer1::INetworkDefinition& network) {
  const auto set = [](nvinfer1::ITensor& tensor, const IoFormat& format) {
#pragma GCC diagnostic push  // the flags stand for deprecated calls
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    tensor.setType(format.type);
#pragma GCC diagnostic pop
    require(tensor.getType() == format.type, "'", tensor.getName(),
            "' cannot have that type: the message above says why");
    tensor.setAllowedFormats(format.formats);
  };
  if (!options.input_formats.empty())
    for (int i = 0, count = network.getNbInputs(); i < count; ++i)
      set(*network.getInput(i), format_of(options.input_formats, i, count, kInputFormats));
  if (!options.output_formats.empty())
    for (int i = 0, count = network.getNbOutputs(); i < count; ++i)
      set(*network.getOutput(i), format_of(options.output_formats, i, count, kOutputFormats));
}

nvinfer1::ProfilingVerbosity verbosity(LayerDetail detail) {
  switch (detail) {
    case LayerDetail::kNamesOnly: return nvinfer1::ProfilingVerbosity::kLAYER_NAMES_ONLY;
    case LayerDetail::kNone: return nvinfer1::ProfilingVerbosity::kNONE;
    case LayerDetail::kDetailed: break;
  }
  return nvinfer1::ProfilingVerbosity::kDETAILED;
}

void set_flag(nvinfer1::IBuilderConfig& config, BuilderFlag flag, bool on) {
  on ? config.setFlag(flag) : config.clearFlag(flag);
}

#pragma GCC diagnostic push  // many flags stand for deprecated calls
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void set_flags(const BuildOptions& options, nvinfer1::IBuilderConfig& config) {
  const PrecisionOptions& precision = options.precision;
  const bool constrains = !precision.layers.empty() || !precision.outputs.empty();
  const bool obeys = precision.constraints == PrecisionConstraints::kObey;
  const bool prefers = precision.constraints == PrecisionConstraints::kPrefer;
  const std::pair<BuilderFlag, bool> flags[] = {
      {BuilderFlag::kFP16, precision.fp16 || (options.on_dla && !precision.int8)},
      {BuilderFlag::kBF16, precision.bf16},
      {BuilderFlag::kINT8, precision.int8},
      {BuilderFlag::kFP8, precision.fp8},
      {BuilderFlag::kINT4, precision.int4},
      {BuilderFlag::kTF32, precision.tf32},
      {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, constrains && obeys},
      {BuilderFlag::kPREFER_PRECISION_CONSTRAINTS, (constrains && prefers) || (options.on_dla && !obeys)},
      {BuilderFlag::kDIRECT_IO, options.direct_io},
      {BuilderFlag::kGPU_FALLBACK, options.on_dla},
      {BuilderFlag::kSPARSE_WEIGHTS, options.sparse_weights},
      {BuilderFlag::kDISABLE_TIMING_CACHE, options.timing_cache_off},
      {BuilderFlag::kDISABLE_COMPILATION_CACHE, !options.compilation_cache},
      {BuilderFlag::kERROR_ON_TIMING_CACHE_MISS, options.error_on_cache_miss},
      {BuilderFlag::kMONITOR_MEMORY, options.monitor_memory},
      {BuilderFlag::kDISTRIBUTIVE_INDEPENDENCE, options.distributive_independence}};
  for (const auto& [flag, on] : flags) set_flag(config, flag, on);
}

void configure(const BuildOptions& options, nvinfer1::IBuilderConfig& config) {
  set_flags(options, config);
  // A build uses cuBLASLt by default although the default bits do not name it. Adding another source must not drop it.
  constexpr uint32_t kCublasLt = 1U << static_cast<uint32_t>(nvinfer1::TacticSource::kCUBLAS_LT);
  if (options.tactic_sources.given())
    config.setTacticSources(options.tactic_sources.applied_to(config.getTacticSources() | kCublasLt));
  if (options.on_dla) config.setDefaultDeviceType(nvinfer1::DeviceType::kDLA);
  for (const auto& [feature, on] : options.preview_features) config.setPreviewFeature(feature, on);
  config.setHardwareCompatibilityLevel(options.hardware_level);
  if (options.max_tactics != -1) config.setMaxNbTactics(options.max_tactics);
  if (options.tiling_level != 0)
    config.setTilingOptimizationLevel(static_cast<nvinfer1::TilingOptimizationLevel>(options.tiling_level));
  if (options.l2_limit >= 0) config.setL2LimitForTiling(options.l2_limit);
  if (options.workspace_bytes)
    config.setMemoryPoolLimit(MemoryPoolType::kWORKSPACE, static_cast<size_t>(*options.workspace_bytes));
  if (options.tactic_shared_bytes)
    config.setMemoryPoolLimit(MemoryPoolType::kTACTIC_SHARED_MEMORY, static_cast<size_t>(*options.tactic_shared_bytes));
  if (options.level) config.setBuilderOptimizationLevel(*options.level);
  if (options.max_aux_streams >= 0) config.setMaxAuxStreams(options.max_aux_streams);
  config.setAvgTimingIterations(options.avg_timing);
  config.setProfilingVerbosity(verbosity(options.detail));
}
#pragma GCC diagnostic pop

/// Marks tensors by their names: layers' outputs and inputs of the network.
void mark_debug_tensors(const BuildOptions& options, nvinfer1::INetworkDefinition& network) {
  std::map<std::string, nvinfer1::ITensor*> tensors;
  if (!options.debug_tensors.empty())
    for (int32_t i = 0; i < network.getNbLayers(); ++i) {
      nvinfer1::ILayer& layer = *network.getLayer(i);
      for (int32_t k = 0; k < layer.getNbOutputs(); ++k)
        if (nvinfer1::ITensor* const output = layer.getOutput(k)) tensors.emplace(output->getName(), output);
    }
  for (int32_t i = 0; i < network.getNbInputs(); ++i)
    tensors.emplace(network.getInput(i)->getName(), network.getInput(i));
  for (const std::string& name : options.debug_tensors) {
    const auto found = tensors.find(name);
    require(found != tensors.end(), "--markDebug: the network has no tensor '", name,
            "'; those within ONNX's If, Loop and Scan are shown by --markUnfusedTensorsAsDebugTensors");
    require(network.markDebug(*found->second), "--markDebug: '", name, "' was refused: the message above says why");
  }
  if (options.debugs_unfused)
    require(network.markUnfusedTensorsAsDebugTensors(),
            "--markUnfusedTensorsAsDebugTensors was refused: the message above says why");
}

void serialize_plugins(const std::vector<std::string>& libraries, nvinfer1::IBuilderConfig& config) {
  std::vector<const char*> paths;
  for (const std::string& library : libraries) paths.push_back(library.c_str());
  if (!paths.empty()) config.setPluginsToSerialize(paths.data(), static_cast<int32_t>(paths.size()));
}

/// Writes a plan to the file of --saveEngine as the builder makes it.
class PlanWriter final : public nvinfer1::IStreamWriter {
 public:
  explicit PlanWriter(const std::string& path) : file_(path, "plan") {}
  int64_t write(void const* data, int64_t size_bytes) override {
    try {
      file_.write(data, static_cast<size_t>(size_bytes));
      return size_bytes;
    } catch (const Failure& failure) {  // not through the library
      failure_ = failure.what();
      return -1;
    }
  }
  void commit() { file_.commit(); }
  const std::string& failure() const { return failure_; }
  int64_t size_bytes() const { return file_.size_bytes(); }

 private:
  NewFile file_;
  std::string failure_;
};

/// Keeps a plan that is not saved: in memory, or, if it is large, in a temporary file.
class PiecesWriter final : public nvinfer1::IStreamWriter {
 public:
  explicit PiecesWriter(PlanPieces& to) : to_(to) {}
  int64_t write(void const* data, int64_t size_bytes) override {
    return to_.write(static_cast<const char*>(data), size_bytes) ? size_bytes : -1;
  }

 private:
  PlanPieces& to_;
};

/// The plan; nothing if it is in the file of --saveEngine.
std::optional<PlanPieces> make_plan(const BuildOptions& options, const RuntimeOptions& runtime,
                                    nvinfer1::IBuilder& builder, nvinfer1::INetworkDefinition& network,
                                    nvinfer1::IBuilderConfig& config, Log& log) {
  std::optional<ProgressBar> bar;
  if (Log::on_terminal()) config.setProgressMonitor(&bar.emplace(log));
  const auto report = [&](bool built, int64_t size_bytes) {
    bar.reset();
    config.setProgressMonitor(nullptr);
    require(built, "cannot build ", options.onnx, ": the message above says why");
    log.info("Created engine with size: ", static_cast<double>(size_bytes) / (1 << 20), " MiB");
  };
  if (options.save.empty()) {
    PlanPieces plan(scratch_folders(runtime));
    PiecesWriter writer(plan);
    const bool built = builder.buildSerializedNetworkToStream(network, config, writer);
    report(built, plan.size_bytes());
    const std::string place = plan.place();
    if (!place.empty() && !plan.path() && !runtime.temporary_directory.empty())
      log.warn("--tempdir: the plan is in ", place);
    else if (!place.empty())
      log.info("The plan is in ", place);
    return plan;
  }
  if (!is_regular_or_new(options.save)) {
    const std::unique_ptr<nvinfer1::IHostMemory> whole(builder.buildSerializedNetwork(network, config));
    report(whole != nullptr, whole ? static_cast<int64_t>(whole->size()) : 0);
    const auto* data = static_cast<const char*>(whole->data());
    write_file(options.save, {data, whole->size()}, "plan");
    PlanPieces plan;
    require(plan.write(data, static_cast<int64_t>(whole->size())), "out of memory");
    return plan;
  }
  PlanWriter writer(options.save);
  const bool built = builder.buildSerializedNetworkToStream(network, config, writer);
  require(writer.failure().empty(), writer.failure());
  report(built, writer.size_bytes());
  writer.commit();
  log.info("Saved ", writer.size_bytes(), " bytes of plan to ", options.save);
  return {};
}

}  // namespace

std::optional<PlanPieces> build_plan(const Options& all, Log& log) {
  const BuildOptions& options = all.build;
  const PluginOptions& plugins = all.plugins;
  const Clock clock;
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(log));
  require(builder != nullptr, "no builder: the message above says why");
  load_plugins(plugins.dynamics, builder->getPluginRegistry(), log);
  constexpr auto kStronglyTyped = static_cast<uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(
      builder->createNetworkV2(options.precision.strongly_typed ? 1U << kStronglyTyped : 0));
  require(network != nullptr, "no network: the message above says why");
  parse_network(options, *network, log);

  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  require(config != nullptr, "no builder configuration: the message above says why");
  set_formats(options, *network);
  mark_debug_tensors(options, *network);
  configure(options, *config);
  serialize_plugins(plugins.serialized, *config);
  add_profiles(options.profiles, *network, *builder, *config, log);
  const PrecisionOptions& precision = options.precision;
  const std::unique_ptr<Calibration> calibration = calibrate(precision, *network, *config, log);
  if (!precision.calibration_shapes.empty())
    set_calibration_shapes(precision.calibration_shapes, *network, *builder, *config);
  else if (precision.calibration_profile > 0)
    set_calibration_shapes(options.profiles[static_cast<size_t>(precision.calibration_profile)], *network, *builder,
                           *config);
  choose_for_layers(options, *network, *config, log);
  std::optional<TimingCacheFile> cache;
  if (!options.timing_cache.empty()) cache.emplace(options.timing_cache, *config, log);

  std::optional<PlanPieces> plan = make_plan(options, all.runtime, *builder, *network, *config, log);
  log.info("Engine built in ", clock.seconds(), " sec.");
  if (cache) cache->save(*config, log);
  return plan;
}

}  // namespace kiln::cli::trtexec
