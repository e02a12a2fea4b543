#include "calibration.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/files.h"
#include "log.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::CalibrationAlgoType;
using nvinfer1::ILayer;
using nvinfer1::ITensor;
using nvinfer1::LayerType;

#pragma GCC diagnostic push  // --int8 and --calib stand for deprecated calls
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// The algorithm that a cache's first line, "TRT-VERSION-ALGORITHM", names.
CalibrationAlgoType algorithm_of(std::string_view cache) {
  const std::string_view first = cache.substr(0, cache.find('\n'));
  if (first.find("-MinMaxCalibration") != first.npos) return CalibrationAlgoType::kMINMAX_CALIBRATION;
  if (first.find("-LegacyCalibration") != first.npos) return CalibrationAlgoType::kLEGACY_CALIBRATION;
  if (first.find("-EntropyCalibration2") != first.npos) return CalibrationAlgoType::kENTROPY_CALIBRATION_2;
  return CalibrationAlgoType::kENTROPY_CALIBRATION;
}

/// Fails where the library would find no use for a cache, and ask for batches that there are none of.
std::vector<char> read_cache(const std::string& path) {
  std::vector<char> cache = read_file(path, "calibration cache");
  require(!cache.empty(), "--calib: ", path, " is empty");
  const std::string_view text(cache.data(), cache.size());
  std::string_view first = text.substr(0, text.find('\n'));
  if (first.ends_with('\r')) first.remove_suffix(1);
  if (!first.starts_with("TRT-")) return cache;  // the library says what is wrong
  const std::string_view algorithm = first.substr(first.rfind('-') + 1);
  constexpr std::string_view kAlgorithms[] = {"EntropyCalibration", "EntropyCalibration2", "MinMaxCalibration",
                                              "LegacyCalibration"};
  require(std::ranges::find(kAlgorithms, algorithm) != std::end(kAlgorithms), "--calib: ", path, " is of '", algorithm,
          "'; there are EntropyCalibration, EntropyCalibration2, MinMaxCalibration and LegacyCalibration");
  return cache;
}

/// Hands a cache to the builder. It has no data to calibrate with.
class CachedCalibrator final : public Calibration, public nvinfer1::IInt8EntropyCalibrator2 {
 public:
  explicit CachedCalibrator(std::vector<char> cache) : cache_(std::move(cache)) {}
  CalibrationAlgoType getAlgorithm() noexcept override { return algorithm_of({cache_.data(), cache_.size()}); }
  int32_t getBatchSize() const noexcept override { return 1; }
  bool getBatch(void**, char const**, int32_t) noexcept override { return false; }
  void const* readCalibrationCache(size_t& length) noexcept override {
    length = cache_.size();
    return cache_.data();
  }
  void writeCalibrationCache(void const*, size_t) noexcept override {}

 private:
  const std::vector<char> cache_;
};

bool has_quantization(const nvinfer1::INetworkDefinition& network) {
  for (int i = 0; i < network.getNbLayers(); ++i) {
    const LayerType type = network.getLayer(i)->getType();
    if (type == LayerType::kQUANTIZE || type == LayerType::kDEQUANTIZE) return true;
  }
  return false;
}

void give_range(ITensor* tensor, float most) {
  if (tensor && !tensor->dynamicRangeIsSet()) static_cast<void>(tensor->setDynamicRange(-most, most));
}

/// The ranges that TensorRT's trtexec gives where there are none: 2 for what layers read and 4 for what they make.
/// Concatenations and poolings have one range for both.
void give_ranges(nvinfer1::INetworkDefinition& network) {
  constexpr float kRead = 2, kMade = 4;
  for (int i = 0; i < network.getNbLayers(); ++i) {
    ILayer& layer = *network.getLayer(i);
    const float read = layer.getType() == LayerType::kCONCATENATION ? kMade : kRead;
    const float made = layer.getType() == LayerType::kPOOLING ? kRead : kMade;
    for (int k = 0; k < layer.getNbInputs(); ++k) give_range(layer.getInput(k), read);
    for (int k = 0; k < layer.getNbOutputs(); ++k) give_range(layer.getOutput(k), made);
  }
}

}  // namespace

std::unique_ptr<Calibration> calibrate(const PrecisionOptions& options, nvinfer1::INetworkDefinition& network,
                                       nvinfer1::IBuilderConfig& config, Log& log) {
  const bool quantizes = options.int8 && !has_quantization(network);
  if (options.calibration_cache.empty()) {
    if (!quantizes) return nullptr;
    give_ranges(network);
    log.warn(
        "--int8 without --calib, and the network has no Q/DQ: all tensors get the same ranges. Times are those of "
        "an INT8 network; its outputs mean nothing.");
    return nullptr;
  }
  if (!quantizes && !options.fp16) return nullptr;
  auto calibrator = std::make_unique<CachedCalibrator>(read_cache(options.calibration_cache));
  config.setInt8Calibrator(calibrator.get());
  return calibrator;
}
#pragma GCC diagnostic pop

}  // namespace kiln::cli::trtexec
