#include "engine.h"

#include <KilnFileReader.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/files.h"
#include "clock.h"
#include "dims.h"
#include "log.h"
#include "plugins.h"

namespace kiln::cli::trtexec {
namespace {

/// A plan that the runtime maps; one that is no regular file, or that is to be read in pieces, gives its bytes as they
/// are asked for.
class PlanFile final : public IFileReader {
 public:
  explicit PlanFile(const std::string& path, bool by_stream)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    require(file_ >= 0, "cannot open plan ", path, ": ", std::strerror(errno));
    struct stat facts {};
    require(::fstat(file_, &facts) == 0, "cannot read plan ", path, ": ", std::strerror(errno));
    require(!S_ISDIR(facts.st_mode), "cannot read plan ", path, ": it is a folder");
    require(!S_ISFIFO(facts.st_mode), "cannot read plan ", path, ": it is a pipe, and Kiln cannot seek in it");
    size_bytes_ = facts.st_size;
    is_file_ = S_ISREG(facts.st_mode);
    may_be_mapped_ = is_file_ && !by_stream;
  }
  ~PlanFile() noexcept override { ::close(file_); }
  int64_t size_bytes() const { return size_bytes_; }
  /// Fails where a plan was read by pieces, and more of the file is left.
  void require_read_to_end() const {
    if (may_be_mapped_ || !is_file_) return;  // a mapped file is checked by who reads it; others have no size
    const int64_t at = ::lseek(file_, 0, SEEK_CUR);
    require(at == size_bytes_, "the plan has ", at, " bytes, there are ", size_bytes_, ": the ", size_bytes_ - at,
            " behind the plan's end do not belong to it");
  }

  char const* path() const noexcept override { return may_be_mapped_ ? path_.c_str() : nullptr; }
  int64_t read(void* destination, int64_t size_bytes, cudaStream_t) noexcept override {
    int64_t done = 0;
    while (done < size_bytes) {
      char* next = static_cast<char*>(destination) + done;
      const ssize_t count = ::read(file_, next, static_cast<size_t>(size_bytes - done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += count;
    }
    return done;
  }
  bool seek(int64_t offset, nvinfer1::SeekPosition where) noexcept override {
    int whence = SEEK_SET;
    if (where == nvinfer1::SeekPosition::kCUR) whence = SEEK_CUR;
    if (where == nvinfer1::SeekPosition::kEND) whence = SEEK_END;
    return ::lseek(file_, offset, whence) >= 0;
  }

 private:
  const std::string path_;
  int file_;
  int64_t size_bytes_ = 0;
  bool is_file_ = false, may_be_mapped_ = false;
};

/// Reads a plan that was just built, which is used up where it is in memory.
class PiecesReader final : public IFileReader {
 public:
  explicit PiecesReader(PlanPieces& from) : from_(from) {}
  char const* path() const noexcept override { return from_.path(); }
  int64_t read(void* destination, int64_t size_bytes, cudaStream_t) noexcept override {
    return from_.read(static_cast<char*>(destination), size_bytes);
  }
  bool seek(int64_t, nvinfer1::SeekPosition) noexcept override { return false; }

 private:
  PlanPieces& from_;
};

template <class Load>
LoadedEngine load(Load deserialize, const Options& options, Log& log) {
  const Clock clock;
  LoadedEngine loaded;
  loaded.runtime.reset(nvinfer1::createInferRuntime(log));
  require(loaded.runtime != nullptr, "no runtime: the message above says why");
  const RuntimeOptions& runtime = options.runtime;
  loaded.runtime->setEngineHostCodeAllowed(runtime.host_code_allowed || options.build.load.empty());
  if (!runtime.temporary_directory.empty()) loaded.runtime->setTemporaryDirectory(runtime.temporary_directory.c_str());
  loaded.runtime->setTempfileControlFlags(runtime.temporary_files);
  load_plugins(loaded_with_engine(options.plugins), loaded.runtime->getPluginRegistry(), log);
  loaded.engine.reset(deserialize(*loaded.runtime));
  require(loaded.engine != nullptr, "the plan cannot be loaded: the message above says why");
  log.info("Engine deserialized in ", clock.seconds(), " sec.");
  return loaded;
}

std::string layer_text(nvinfer1::ICudaEngine& engine, const nvinfer1::IExecutionContext* context,
                       nvinfer1::LayerInformationFormat format) {
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  require(inspector != nullptr, "no engine inspector: the message above says why");
  if (context) inspector->setExecutionContext(context);
  const char* text = inspector->getEngineInformation(format);
  require(text != nullptr, "the engine tells nothing about its layers: the message above says why");
  return text;
}

void report_profiles(const nvinfer1::ICudaEngine& engine, Log& log) {
  using nvinfer1::OptProfileSelector;
  log.info("Optimization Profile Information:");
  for (int profile = 0; profile < engine.getNbOptimizationProfiles(); ++profile)
    for (int i = 0; i < engine.getNbIOTensors(); ++i) {
      const char* name = engine.getIOTensorName(i);
      if (engine.getTensorIOMode(name) != nvinfer1::TensorIOMode::kINPUT) continue;
      const auto shape = [&](OptProfileSelector which) {
        return declared_text(extents(engine.getProfileShape(name, profile, which)));
      };
      log.info("Model input ", name, " (profile ", profile, "): min=", shape(OptProfileSelector::kMIN),
               ", opt=", shape(OptProfileSelector::kOPT), ", max=", shape(OptProfileSelector::kMAX));
    }
}

}  // namespace

LoadedEngine load_engine(PlanPieces plan, const Options& options, Log& log) {
  PiecesReader reader(plan);
  return load([&](nvinfer1::IRuntime& runtime) { return runtime.deserializeCudaEngine(reader); }, options, log);
}

LoadedEngine load_engine(const std::string& file, const Options& options, Log& log) {
  PlanFile plan(file, options.runtime.by_stream);
  log.info("Loaded engine with size: ", static_cast<double>(plan.size_bytes()) / (1 << 20), " MiB");
  try {
    LoadedEngine loaded =
        load([&](nvinfer1::IRuntime& runtime) { return runtime.deserializeCudaEngine(plan); }, options, log);
    plan.require_read_to_end();
    return loaded;
  } catch (const Failure& failure) {
    fail(file, ": ", failure.what());
  }
}

void time_loading(const std::string& file, const Options& options, Log& log) {
  constexpr int kWarmUps = 2, kTimes = 20;
  Log silent;
  silent.set_silent();
  const auto load_ms = [&](Log& to) {
    const Clock clock;
    const LoadedEngine loaded = load_engine(file, options, to);
    return clock.ms();  // before it is taken down
  };
  log.info("Begin deserialization warmup...");
  for (int i = 0; i < kWarmUps; ++i) load_ms(i == 0 ? log : silent);  // who cannot load it says why
  log.info("Begin deserialization engine timing...");
  const double first_ms = load_ms(silent);
  log.info("First deserialization time = ", first_ms, " milliseconds");
  double total_ms = 0;
  for (int i = 0; i < kTimes; ++i) total_ms += load_ms(silent);
  log.info("Total deserialization time = ", total_ms, " milliseconds in ", kTimes,
           " iterations, average time = ", total_ms / kTimes, " milliseconds, first time = ", first_ms,
           " milliseconds.");
  log.info("Deserialization Bandwidth = ",
           1e-6 * kTimes * static_cast<double>(std::filesystem::file_size(file)) / total_ms, " GB/s");
}

void report_plan_version(const std::string& file, Log& log) {
  constexpr size_t kTag = 0, kSerialization = 4, kVersion = 24, kSize = 28;  // places in a plan of TensorRT's and ours
  constexpr uint32_t kPlanTag = 0x74727466;
  unsigned char header[kSize];
  PlanFile plan(file, /*by_stream=*/true);
  require(plan.size_bytes() >= static_cast<int64_t>(kSize) && plan.read(header, kSize, nullptr) == kSize,
          "--getPlanVersionOnly: ", file, " is too short to be a plan");
  uint32_t tag = 0, serialization = 0;
  std::memcpy(&tag, header + kTag, sizeof tag);
  std::memcpy(&serialization, header + kSerialization, sizeof serialization);
  require(tag == kPlanTag, "--getPlanVersionOnly: ", file, " is not a plan");
  log.info("Plan was created with TensorRT version ", int{header[kVersion]}, ".", int{header[kVersion + 1]}, ".",
           int{header[kVersion + 2]}, ".", int{header[kVersion + 3]});
}

void report_layers(const ReportOptions& options, nvinfer1::ICudaEngine& engine,
                   const nvinfer1::IExecutionContext* context, Log& log) {
  using Format = nvinfer1::LayerInformationFormat;
  if (options.layers) {
    log.info("Layer Information:");
    log.info(layer_text(engine, context, Format::kONELINE));
  }
  if (!options.export_layers.empty())
    write_file(options.export_layers, layer_text(engine, context, Format::kJSON), "layers of --exportLayerInfo");
  if (options.optimization_profile) report_profiles(engine, log);
}

}  // namespace kiln::cli::trtexec
