/// The text of TensorRT's calibration caches.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace kiln::api {

/// What calibration found: by tensor, the number that one step of an 8-bit integer stands for.
struct CalibrationCache {
  std::string algorithm;  ///< "EntropyCalibration2", "MinMaxCalibration", "EntropyCalibration" or "LegacyCalibration"
  std::map<std::string, float, std::less<>> scales;
};

/// Reads lines "TRT-VERSION-ALGORITHM" and "TENSOR: BITS", the bits of an FP32 scale in hexadecimal digits. The error
/// names the line.
Result<CalibrationCache> read_calibration_cache(std::string_view text);
/// The same text, with this library's version. Tensors whose names have ends of lines are left out: the text cannot
/// name them.
std::string write_calibration_cache(const CalibrationCache& cache);

}  // namespace kiln::api
