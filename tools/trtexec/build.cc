#include "build.h"

#include <optional>

#include "NvInfer.h"
#include "NvOnnxParser.h"
#include "cli/files.h"
#include "cli/new_file.h"
#include "clock.h"
#include "log.h"
#include "plugins.h"
#include "profile_shapes.h"
#include "progress.h"
#include "timing_cache.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::MemoryPoolType;

void parse_network(const std::string& file, nvinfer1::INetworkDefinition& network, Log& log) {
  log.info("Start parsing network model.");
  const Clock clock;
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(network, log));
  require(parser != nullptr, "no ONNX parser: the message above says why");
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

void configure(const BuildOptions& options, nvinfer1::IBuilderConfig& config) {
#pragma GCC diagnostic push  // --fp16, --bf16 and --tacticSources stand for deprecated calls
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  if (options.fp16) config.setFlag(BuilderFlag::kFP16);
  if (options.bf16) config.setFlag(BuilderFlag::kBF16);
  // A build uses cuBLASLt by default although the default bits do not name it. Adding another source must not drop it.
  constexpr uint32_t kCublasLt = 1U << static_cast<uint32_t>(nvinfer1::TacticSource::kCUBLAS_LT);
  if (options.tactic_sources.given())
    config.setTacticSources(options.tactic_sources.applied_to(config.getTacticSources() | kCublasLt));
#pragma GCC diagnostic pop
  set_flag(config, BuilderFlag::kTF32, options.tf32);
  set_flag(config, BuilderFlag::kERROR_ON_TIMING_CACHE_MISS, options.error_on_cache_miss);
  if (options.workspace_bytes)
    config.setMemoryPoolLimit(MemoryPoolType::kWORKSPACE, static_cast<size_t>(*options.workspace_bytes));
  if (options.tactic_shared_bytes)
    config.setMemoryPoolLimit(MemoryPoolType::kTACTIC_SHARED_MEMORY, static_cast<size_t>(*options.tactic_shared_bytes));
  if (options.level) config.setBuilderOptimizationLevel(*options.level);
  if (options.max_aux_streams >= 0) config.setMaxAuxStreams(options.max_aux_streams);
  config.setAvgTimingIterations(options.avg_timing);
  config.setProfilingVerbosity(verbosity(options.detail));
}

void serialize_plugins(const std::vector<std::string>& libraries, nvinfer1::IBuilderConfig& config) {
  std::vector<const char*> paths;
  for (const std::string& library : libraries) paths.push_back(library.c_str());
  if (!paths.empty()) config.setPluginsToSerialize(paths.data(), static_cast<int32_t>(paths.size()));
}

/// Takes a plan's bytes as the builder makes them.
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

/// The same, to memory.
class PiecesWriter final : public nvinfer1::IStreamWriter {
 public:
  explicit PiecesWriter(PlanPieces& to) : to_(to) {}
  int64_t write(void const* data, int64_t size_bytes) override {
    return to_.write(static_cast<const char*>(data), size_bytes) ? size_bytes : -1;
  }

 private:
  PlanPieces& to_;
};

/// The plan in memory; nothing if it is in the file of --saveEngine.
std::optional<PlanPieces> make_plan(const BuildOptions& options, nvinfer1::IBuilder& builder,
                                    nvinfer1::INetworkDefinition& network, nvinfer1::IBuilderConfig& config, Log& log) {
  std::optional<ProgressBar> bar;
  if (Log::on_terminal()) config.setProgressMonitor(&bar.emplace(log));
  const auto report = [&](bool built, int64_t size_bytes) {
    bar.reset();
    config.setProgressMonitor(nullptr);
    require(built, "cannot build ", options.onnx, ": the message above says why");
    log.info("Created engine with size: ", static_cast<double>(size_bytes) / (1 << 20), " MiB");
  };
  if (options.save.empty()) {
    PlanPieces plan;
    PiecesWriter writer(plan);
    report(builder.buildSerializedNetworkToStream(network, config, writer), plan.size_bytes());
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

std::optional<PlanPieces> build_plan(const BuildOptions& options, const PluginOptions& plugins, Log& log) {
  const Clock clock;
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(log));
  require(builder != nullptr, "no builder: the message above says why");
  load_plugins(plugins.dynamics, builder->getPluginRegistry(), log);
  constexpr auto kStronglyTyped = static_cast<uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(
      builder->createNetworkV2(options.strongly_typed ? 1U << kStronglyTyped : 0));
  require(network != nullptr, "no network: the message above says why");
  parse_network(options.onnx, *network, log);

  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  require(config != nullptr, "no builder configuration: the message above says why");
  set_formats(options, *network);
  configure(options, *config);
  serialize_plugins(plugins.serialized, *config);
  add_profile(options.shapes, *network, *builder, *config, log);
  std::optional<TimingCacheFile> cache;
  if (!options.timing_cache.empty()) cache.emplace(options.timing_cache, *config, log);

  std::optional<PlanPieces> plan = make_plan(options, *builder, *network, *config, log);
  log.info("Engine built in ", clock.seconds(), " sec.");
  if (cache) cache->save(*config, log);
  return plan;
}

}  // namespace kiln::cli::trtexec
