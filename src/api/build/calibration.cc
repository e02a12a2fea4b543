#include "api/build/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/build/calibration_cache.h"
#include "api/build/half_trial.h"
#include "api/build/range_histogram.h"
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
passes::Ranges given_ranges(const Network& network, Log& log) {
  passes::Ranges ranges;
  for (const auto& tensor : network.made_tensors()) {
    if (!tensor || !tensor->dynamicRangeIsSet()) continue;
    const float most = std::max(std::abs(tensor->getDynamicRangeMin()), std::abs(tensor->getDynamicRangeMax()));
    if (most > 0)
      ranges[tensor->getName()] = most;
    else
      log.warning("tensor '", tensor->getName(), "': the dynamic range [0, 0] has no number but 0, and is not used");
  }
  return ranges;
}

Result<float> range_of(const RangeHistogram& histogram, nv::IInt8Calibrator& calibrator) {
  if (calibrator.getAlgorithm() == Algorithm::kMINMAX_CALIBRATION) return histogram.largest();
  if (calibrator.getAlgorithm() != Algorithm::kLEGACY_CALIBRATION) return histogram.least_divergence();
  const double quantile = static_cast<nv::IInt8LegacyCalibrator&>(calibrator).getQuantile();
  TRY(require(quantile > 0 && quantile <= 1, "the calibrator's quantile is ", quantile,
              "; a number above 0 and at most 1 is needed"));
  return histogram.quantile(quantile);
}

/// What the cache says of the tensors that were looked at. A tensor that has no finite value gets no range; an input
/// without one is an error, since such data say nothing.
Status add_scales(const std::map<std::string, RangeHistogram>& histograms, std::span<const char* const> inputs,
                  nv::IInt8Calibrator& calibrator, Log& log, CalibrationCache& cache) {
  for (const auto& [name, histogram] : histograms) {
    const int64_t strange = histogram.num_not_finite(), finite = histogram.num_finite();
    if (strange > 0 && finite == 0) {
      TRY(require(
          std::ranges::find(inputs, name, [](const char* input) { return std::string_view(input); }) == inputs.end(),
          "calibration: no value of input '", name, "' is finite: such data give no range"));
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
  return require(!cache.scales.empty() || histograms.empty(), "calibration: no value of any tensor is finite: not of '",
                 histograms.empty() ? "" : histograms.begin()->first, "', nor of the others");
}

/// What a cache says, and the largest magnitudes that data had; none where the cache was not made now.
struct Calibration {
  CalibrationCache cache;
  passes::Ranges largest;
};

/// The calibrator's batches through the network.
Result<Calibration> calibrate(nv::IInt8Calibrator& calibrator, ObservedNetwork& observed, Log& log) {
  std::map<std::string, RangeHistogram> histograms;
  std::vector<const char*> names = observed.input_names();
  int batches = 0;
  while (true) {
    std::vector<void*> inputs(names.size(), nullptr);
    if (!calibrator.getBatch(inputs.data(), names.data(), static_cast<int32_t>(names.size()))) break;
    for (size_t i = 0; i < inputs.size(); ++i)
      TRY(require(inputs[i] != nullptr, "calibration batch ", batches, ": the calibrator gave no memory for input '",
                  names[i], "'"));
    TRY(in_context(observed.run(inputs, histograms), [&] { return str("calibration batch ", batches); }));
    ++batches;
  }
  TRY(require(batches > 0, "the INT8 calibrator gave no batch"));
  Calibration result{{std::string(name_of(calibrator.getAlgorithm())), {}}, {}};
  TRY(add_scales(histograms, names, calibrator, log, result.cache));
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

/// What ranges are for in a build.
struct Uses {
  bool int8 = false, half = false;
};

/// Warns of a calibrator and of dynamic ranges that have no use, or one less than the flags say.
Uses uses_of_ranges(Network& network, const BuilderConfig& config, const ir::Graph& graph, bool has_ranges) {
  const bool int8 = config.has(nv::BuilderFlag::kINT8), half = config.has(nv::BuilderFlag::kFP16);
  Uses uses{int8, half};
  std::string_view why;
  if (network.strongly_typed())
    why = "the network is strongly typed", uses = {};
  else if (!int8 && !half)
    why = "BuilderFlag::kINT8 is not set";
  else if (has_quantization(graph))
    why = "the network has Quantize and Dequantize layers", uses.int8 = false;
  const bool has_calibrator = config.getInt8Calibrator() != nullptr;
  if (why.empty() || (!has_calibrator && !has_ranges) || (uses.half && !int8)) return uses;
  network.reporter().log().warning(why, ": ",
                                   !has_ranges       ? "the calibrator is"
                                   : !has_calibrator ? "dynamic ranges are"
                                                     : "calibrator and dynamic ranges are",
                                   " not used",
                                   uses.half ? " for INT8, only to see which layers leave FP16's range" : "");
  return uses;
}

/// The shapes of batches: the optimum of the calibration profile, or else of the first one. TensorRT asks calibrators
/// of networks with dynamic shapes to answer 1 for their batch size, so that 1 says nothing. Another size is the first
/// extent of an input, and becomes that of the inputs whose ranges hold it where no optimum is that.
Result<ProfileRequest> shapes_of_batches(int32_t size, ProfileRequest profile, const ir::Graph& graph, Log& log) {
  TRY(require(size >= 1, "the INT8 calibrator's getBatchSize answered ", size, "; a batch has a size of 1 at least"));
  bool fits = size == 1, can_fit = true;
  std::vector<plan::InputRange*> open;  // ranges that may be given the size
  std::string extents;
  for (const ir::ValueId input : graph.inputs()) {
    const std::string& name = graph.value(input).name;
    const TensorType& type = graph.type(input);
    if (type.rank() == 0 || type.values) continue;  // what decides shapes has no batch
    const auto fixed = type.shape[0].constant();
    const auto at = profile.extents.find(name);
    plan::InputRange* const range = at != profile.extents.end() && !at->second.opt.empty() ? &at->second : nullptr;
    if (!fixed && !range) return profile;  // whoever builds the network tells of the profile
    const int64_t extent = fixed ? *fixed : range->opt[0];
    fits |= extent == size;
    extents += str(extents.empty() ? "" : ", ", "'", name, "' ", extent);
    if (fixed) continue;
    extents += str(" (of ", range->min[0], " to ", range->max[0], ")");
    open.push_back(range);
    can_fit &= range->min[0] <= size && size <= range->max[0];
  }
  TRY(require(fits || extents.empty() || (can_fit && !open.empty()), "the INT8 calibrator's getBatchSize answered ",
              size, ", and batches by ", profile.called, " begin with other extents: ", extents,
              ". It answers theirs, or 1, and gives batches of their size"));
  if (!fits && !open.empty()) {
    for (plan::InputRange* const range : open) range->opt[0] = size;
    log.info("calibration: batches have the size ", size, " of the calibrator's getBatchSize, not the optimum of ",
             profile.called);
  }
  for (auto& [name, range] : profile.extents) range.min = range.max = range.opt;  // as TensorRT has it
  return profile;
}

/// What the calibrator's cache says, or else its data.
Result<Calibration> calibration_of(nv::IInt8Calibrator& calibrator, Network& network, BuilderConfig& config,
                                   const BuildToCome& build) {
  Log& log = network.reporter().log();
  if (auto cache = TRY(cached(calibrator, log))) return Calibration{std::move(*cache), {}};
  ProfileRequest profile;
  profile.called = "the network";
  if (const auto* set = static_cast<const OptimizationProfile*>(config.getCalibrationProfile())) {
    profile = TRY(in_context(set->request(), [] { return std::string("calibration profile"); }));
    profile.called = "the calibration profile";
    for (const auto& [name, range] : profile.extents)
      if (std::ranges::none_of(build.graph.inputs(),
                               [&](ir::ValueId input) { return build.graph.value(input).name == name; }))
        log.warning("calibration profile: the network has no input '", name, "'; its dimensions are ignored");
  } else if (!build.request.profiles.empty()) {
    profile = build.request.profiles.front();
    profile.called = "optimization profile 0";
  }
  profile = TRY(shapes_of_batches(calibrator.getBatchSize(), std::move(profile), build.graph, log));
  profile.called = str("calibration by ", profile.called);
  const std::unique_ptr<ObservedNetwork> observed = TRY(ObservedNetwork::build(build, profile, network.reporter()));
  Calibration calibration = TRY(calibrate(calibrator, *observed, log));
  const std::string text = write_calibration_cache(calibration.cache);
  calibrator.writeCalibrationCache(text.data(), text.size());
  return calibration;
}

}  // namespace

Result<TensorRanges> tensor_ranges(Network& network, BuilderConfig& config, const BuildToCome& build) {
  Log& log = network.reporter().log();
  nv::IInt8Calibrator* const calibrator = config.getInt8Calibrator();
  const passes::Ranges given = given_ranges(network, log);
  const auto [is_int8, is_half] = uses_of_ranges(network, config, build.graph, !given.empty());
  if (!is_int8 && !is_half) return TensorRanges();
  if (!calibrator) {
    if (given.empty() && is_int8)
      log.warning(
          "BuilderFlag::kINT8 is set, and nothing is quantized: the network has neither Q/DQ layers nor dynamic "
          "ranges, "
          "and there is no calibrator");
    // On a host, halves are what weights are stored as: numbers between steps are FP32.
    if (given.empty() && is_half && !build.backend.device().is_host())
      return TensorRanges{{}, TRY(try_halves(build, log))};
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
