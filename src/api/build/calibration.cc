#include "api/build/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "api/base/convert.h"
#include "api/build/calibration_cache.h"
#include "api/build/range_histogram.h"
#include "api/run/engine.h"
#include "ops/dequantize.h"
#include "ops/quantize.h"

namespace kiln::api {
namespace {

constexpr float kLevels = 127;
using Algorithm = nv::CalibrationAlgoType;

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kENTROPY_CALIBRATION: return "EntropyCalibration";
    case Algorithm::kENTROPY_CALIBRATION_2: return "EntropyCalibration2";
    case Algorithm::kMINMAX_CALIBRATION: return "MinMaxCalibration";
    case Algorithm::kLEGACY_CALIBRATION: return "LegacyCalibration";
  }
  return "Calibration";
}

bool has_quantization(const ir::Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (graph.alive(id) && (graph.node(id).op.as<ops::Quantize>() || graph.node(id).op.as<ops::Dequantize>()))
      return true;
  }
  return false;
}

/// The ranges that the program set by ITensor::setDynamicRange.
passes::Ranges given_ranges(const Network& network) {
  passes::Ranges ranges;
  for (const auto& tensor : network.made_tensors()) {
    if (!tensor || !tensor->dynamicRangeIsSet()) continue;
    const float most = std::max(std::abs(tensor->getDynamicRangeMin()), std::abs(tensor->getDynamicRangeMax()));
    if (most > 0) ranges[tensor->getName()] = most;
  }
  return ranges;
}

/// The values whose ranges are looked for: floats that have a name and depend on data.
std::vector<ir::ValueId> observed_values(const ir::Graph& graph) {
  std::vector<ir::ValueId> values(graph.inputs().begin(), graph.inputs().end());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    for (const ir::ValueId output : graph.node(id).outputs) values.push_back(output);
  }
  std::erase_if(values, [&](ir::ValueId value) {
    return graph.value(value).name.empty() || graph.type(value).dtype != DType::kF32 || graph.constant(value) ||
           !graph.type(value).volume().is_valid();
  });
  return values;
}

/// Memory for an output of the network to calibrate, as large as each run makes it: data may decide that.
class ObservedOutput final : public nv::IOutputAllocator {
 public:
  ObservedOutput(Device& device, bool is_on_host) : device_(device), is_on_host_(is_on_host) {}

  void* reallocateOutputAsync(const char*, void*, uint64_t size, uint64_t, cudaStream_t) override {
    const auto bytes = static_cast<int64_t>(size);
    if (is_on_host_) {
      host_.resize(std::max<size_t>(size, host_.size()));
      return host_.data();
    }
    if (buffer_.size_bytes() < bytes) {
      Result<Buffer> larger = device_.allocate(bytes);
      if (!larger) return nullptr;
      buffer_ = std::move(*larger);
    }
    return buffer_.data();
  }
  void notifyShape(const char*, const nv::Dims& shape) noexcept override {
    count_ = 1;
    for (int i = 0; i < shape.nbDims; ++i) count_ *= shape.d[i];
  }

  /// The latest run's values, which are float.
  Result<std::vector<float>> values(Stream& stream) const {
    std::vector<float> result(static_cast<size_t>(count_));
    if (result.empty()) return result;
    const size_t bytes = result.size() * sizeof(float);
    if (is_on_host_) {
      std::memcpy(result.data(), host_.data(), bytes);
      return result;
    }
    TRY(device_.copy_to_host(result.data(), buffer_.data(), static_cast<int64_t>(bytes), stream));
    TRY(stream.synchronize());
    return result;
  }

 private:
  Device& device_;
  bool is_on_host_;
  Buffer buffer_;
  std::vector<std::byte> host_;
  int64_t count_ = 0;
};

/// The network in FP32 with every observed value as an output, loaded.
class Observed {
 public:
  static Result<Observed> build(const BuildToCome& build, const std::optional<ProfileRequest>& profile,
                                const Reporter& reporter) {
    const ir::Graph& graph = build.graph;
    BuildRequest request = build.request;
    ir::Graph copy = graph.clone();
    Observed result(build.backend.device());
    for (const ir::ValueId value : observed_values(graph)) {
      const bool is_input = std::ranges::find(graph.inputs(), value) != graph.inputs().end();
      result.names_.push_back(graph.value(value).name);
      if (!is_input && !graph.is_output(value)) copy.mark_output(value, graph.value(value).name);
    }
    request.numerics.fp16 = request.numerics.bf16 = request.numerics.tf32 = false;
    request.optimization_level = 1;
    request.is_direct_io = false;
    request.surface_formats.clear();  // batches are row-major
    request.int8_ranges.clear();
    if (profile) request.profiles = {*profile};
    auto plan = std::make_shared<const plan::Plan>(TRY(build_plan(copy, build.backend, request, reporter.log())));
    result.engine_.reset(TRY(make_engine(std::move(plan), build.makers, reporter, build.allocator)));
    result.context_.reset(result.engine_->createExecutionContext());
    TRY(require(result.context_ != nullptr, "no context of the network to calibrate could be made"));
    TRY(result.set_shapes(request));
    TRY(result.set_allocators());
    return result;
  }

  /// The inputs that a calibrator fills.
  std::vector<const char*> input_names() const {
    std::vector<const char*> names;
    for (int i = 0; i < engine_->getNbIOTensors(); ++i) {
      const char* const name = engine_->getIOTensorName(i);
      if (engine_->getTensorIOMode(name) == nv::TensorIOMode::kINPUT) names.push_back(name);
    }
    return names;
  }

  /// Runs a batch, whose inputs lie at `inputs`, and counts what comes of it.
  Status run(std::span<void* const> inputs, std::map<std::string, RangeHistogram>& histograms) {
    std::vector<void*> bindings;
    for (int i = 0, input = 0; i < engine_->getNbIOTensors(); ++i) {
      const char* const name = engine_->getIOTensorName(i);
      const bool is_input = engine_->getTensorIOMode(name) == nv::TensorIOMode::kINPUT;
      bindings.push_back(is_input ? inputs[static_cast<size_t>(input++)] : nullptr);  // outputs have allocators
      TRY(require(!is_input || bindings.back(), "the calibrator gave no memory for input '", name, "'"));
    }
    TRY(require(context_->executeV2(bindings.data()), "the network to calibrate did not run"));
    for (size_t i = 0; i < bindings.size(); ++i) {
      const char* const name = engine_->getIOTensorName(static_cast<int32_t>(i));
      if (std::ranges::find(names_, name) == names_.end()) continue;
      const auto output = outputs_.find(name);
      histograms[name].add(
          TRY(output == outputs_.end() ? values_of_input(name, bindings[i]) : output->second.values(*stream_)));
    }
    return {};
  }

 private:
  explicit Observed(Device& device) : device_(device) {}

  /// Batches have the shapes that the calibration profile, or else the first one, is optimised for.
  Status set_shapes(const BuildRequest& request) {
    stream_ = TRY(device_.create_stream());
    if (request.profiles.empty()) return {};
    for (const auto& [name, range] : request.profiles.front().extents)
      TRY(require(context_->setInputShape(name.c_str(), to_api(range.opt)), "input '", name,
                  "' does not take the shape that the profile is optimised for"));
    return {};
  }
  Status set_allocators() {
    for (int i = 0; i < engine_->getNbIOTensors(); ++i) {
      const char* const name = engine_->getIOTensorName(i);
      if (engine_->getTensorIOMode(name) == nv::TensorIOMode::kINPUT) continue;
      const bool is_on_host = engine_->getTensorLocation(name) == nv::TensorLocation::kHOST;
      ObservedOutput& output = outputs_.try_emplace(name, device_, is_on_host).first->second;
      TRY(require(context_->setOutputAllocator(name, &output), "tensor '", name, "' cannot be observed"));
    }
    return {};
  }
  Result<std::vector<float>> values_of_input(const char* name, const void* data) {
    const nv::Dims shape = context_->getTensorShape(name);
    int64_t count = shape.nbDims < 0 ? 0 : 1;
    for (int i = 0; i < shape.nbDims; ++i) count *= std::max<int64_t>(shape.d[i], 0);
    std::vector<float> values(static_cast<size_t>(count));
    TRY(device_.copy_to_host(values.data(), data, count * static_cast<int64_t>(sizeof(float)), *stream_));
    TRY(stream_->synchronize());
    return values;
  }

  Device& device_;
  std::vector<std::string> names_;
  std::map<std::string, ObservedOutput> outputs_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<nv::ICudaEngine> engine_;
  std::unique_ptr<nv::IExecutionContext> context_;
};

Result<float> range_of(const RangeHistogram& histogram, nv::IInt8Calibrator& calibrator) {
  if (calibrator.getAlgorithm() == Algorithm::kMINMAX_CALIBRATION) return histogram.largest();
  if (calibrator.getAlgorithm() != Algorithm::kLEGACY_CALIBRATION) return histogram.least_divergence();
  const double quantile = static_cast<nv::IInt8LegacyCalibrator&>(calibrator).getQuantile();
  TRY(require(quantile > 0 && quantile <= 1, "the calibrator's quantile is ", quantile,
              "; a number above 0 and at most 1 is needed"));
  return histogram.quantile(quantile);
}

/// What the cache says of the tensors that were looked at. A tensor that has no finite value gets no range.
Status add_scales(const std::map<std::string, RangeHistogram>& histograms, nv::IInt8Calibrator& calibrator, Log& log,
                  CalibrationCache& cache) {
  for (const auto& [name, histogram] : histograms) {
    const int64_t strange = histogram.num_not_finite(), finite = histogram.num_finite();
    if (strange > 0 && finite == 0) {
      log.warning("calibration: no value of tensor '", name,
                  "' is finite: it has no range, and its readers stay in float");
      continue;
    }
    if (strange > 0)
      log.warning("calibration: ", strange, " of ", strange + finite, " values of tensor '", name,
                  "' are not finite: its range is that of the others");
    const float range = TRY(range_of(histogram, calibrator));
    cache.scales[name] = range > 0 ? passes::scale_of_range(range) : 1 / kLevels;  // of zeros alone any scale does
  }
  return {};
}

/// What a cache says, and the largest magnitudes that data had; none where the cache was not made now.
struct Calibration {
  CalibrationCache cache;
  passes::Ranges largest;
};

/// The calibrator's batches through the network.
Result<Calibration> calibrate(nv::IInt8Calibrator& calibrator, Observed& observed, Log& log) {
  std::map<std::string, RangeHistogram> histograms;
  std::vector<const char*> names = observed.input_names();
  int batches = 0;
  while (true) {
    std::vector<void*> inputs(names.size(), nullptr);
    if (!calibrator.getBatch(inputs.data(), names.data(), static_cast<int32_t>(names.size()))) break;
    TRY(in_context(observed.run(inputs, histograms), [&] { return str("calibration batch ", batches); }));
    ++batches;
  }
  TRY(require(batches > 0, "the INT8 calibrator gave no batch"));
  Calibration result{{std::string(name_of(calibrator.getAlgorithm())), {}}, {}};
  TRY(add_scales(histograms, calibrator, log, result.cache));
  for (const auto& [name, histogram] : histograms)
    if (histogram.num_finite() > 0) result.largest[name] = histogram.largest();
  log.info("calibrated ", result.cache.scales.size(), " tensors by ", batches, " batches, ", result.cache.algorithm);
  return result;
}

/// What the calibrator's cache has; nothing if there is none, or it is another algorithm's.
Result<std::optional<CalibrationCache>> cached(nv::IInt8Calibrator& calibrator, Log& log) {
  size_t length = 0;
  const void* const text = calibrator.readCalibrationCache(length);
  if (!text || length == 0) return std::nullopt;
  CalibrationCache cache = TRY(read_calibration_cache({static_cast<const char*>(text), length}));
  const std::string_view wanted = name_of(calibrator.getAlgorithm());
  if (cache.algorithm == wanted) return std::optional(std::move(cache));
  log.warning("the calibration cache is of ", cache.algorithm, ", the calibrator of ", wanted,
              ": the cache is not used");
  return std::nullopt;
}

/// Says why the calibrator and the dynamic ranges of a network are not used; whether that is so.
bool are_ranges_unused(Network& network, const BuilderConfig& config, const ir::Graph& graph, bool has_ranges) {
  const bool has_calibrator = config.getInt8Calibrator() != nullptr;
  std::string_view why;
  if (network.strongly_typed())
    why = "the network is strongly typed";
  else if (!config.has(nv::BuilderFlag::kINT8) && !config.has(nv::BuilderFlag::kFP16))
    why = "BuilderFlag::kINT8 is not set";
  else if (has_quantization(graph))
    why = "the network has Quantize and Dequantize layers";
  if (why.empty()) return false;
  if (has_calibrator || has_ranges)
    network.reporter().log().warning(why, ": ",
                                     !has_ranges       ? "the calibrator is"
                                     : !has_calibrator ? "dynamic ranges are"
                                                       : "calibrator and dynamic ranges are",
                                     " not used");
  return true;
}

/// What the calibrator's cache says, or else its data.
Result<Calibration> calibration_of(nv::IInt8Calibrator& calibrator, Network& network, BuilderConfig& config,
                                   const BuildToCome& build) {
  Log& log = network.reporter().log();
  if (auto cache = TRY(cached(calibrator, log))) return Calibration{std::move(*cache), {}};
  std::optional<ProfileRequest> profile;
  if (const auto* set = static_cast<const OptimizationProfile*>(config.getCalibrationProfile()))
    profile = TRY(in_context(set->request(), [] { return std::string("calibration profile"); }));
  Observed observed = TRY(Observed::build(build, profile, network.reporter()));
  Calibration calibration = TRY(calibrate(calibrator, observed, log));
  const std::string text = write_calibration_cache(calibration.cache);
  calibrator.writeCalibrationCache(text.data(), text.size());
  return calibration;
}

}  // namespace

Result<TensorRanges> tensor_ranges(Network& network, BuilderConfig& config, const BuildToCome& build) {
  Log& log = network.reporter().log();
  nv::IInt8Calibrator* const calibrator = config.getInt8Calibrator();
  const passes::Ranges given = given_ranges(network);
  if (are_ranges_unused(network, config, build.graph, !given.empty())) return TensorRanges();
  const bool is_int8 = config.has(nv::BuilderFlag::kINT8), is_half = config.has(nv::BuilderFlag::kFP16);
  if (!calibrator) {
    if (given.empty() && is_int8)
      log.warning(
          "BuilderFlag::kINT8 is set, and nothing is quantized: the network has neither Q/DQ layers nor dynamic "
          "ranges, "
          "and there is no calibrator");
    return TensorRanges{is_int8 ? given : passes::Ranges(), is_half ? given : passes::Ranges()};
  }
  auto known = calibration_of(*calibrator, network, config, build);
  if (!known && !is_int8) {  // a build without kINT8 does not fail by what it need not know
    log.warning("the calibrator says nothing of FP16's range: ", known.error().message);
    return TensorRanges{{}, given};
  }
  const Calibration calibration = TRY(std::move(known));
  const auto& scales = calibration.cache.scales;
  passes::Ranges found;
  for (const ir::ValueId value : observed_values(build.graph)) {
    const auto scale = scales.find(build.graph.value(value).name);
    if (scale != scales.end())
      found[scale->first] = std::min(scale->second * kLevels, std::numeric_limits<float>::max());
  }
  if (scales.empty() && is_int8) log.warning("the calibration cache has no tensors: it quantizes nothing");
  TRY(require(!found.empty() || scales.empty() || !is_int8, "the calibration cache has ", scales.size(),
              " tensors, of which the network has none: it is that of another network"));
  TensorRanges result;
  if (is_half) {
    result.half = found;
    for (const auto& [name, largest] : calibration.largest) result.half[name] = largest;
  }
  if (is_int8) result.int8 = std::move(found);
  for (const auto& [name, range] : given) {  // what the program says itself comes first
    if (is_int8) result.int8[name] = range;
    if (is_half) result.half[name] = range;
  }
  return result;
}

}  // namespace kiln::api
