#include "api/build/calibration_cache.h"

#include <NvInferVersion.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/str.h"

namespace kiln::api {
namespace {

/// Takes the text up to the next end of line.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The text for a message: what a terminal would not show is a question mark.
std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return result;
}

Result<float> scale_of(std::string_view digits) {
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  uint32_t bits = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  TRY(require(failure == std::errc() && end == digits.data() + digits.size() && !digits.empty(), "'",
              printable(digits.substr(0, 40)), "' is no FP32 number in hexadecimal digits"));
  const float scale = std::bit_cast<float>(bits);
  TRY(require(std::isfinite(scale) && scale > 0, "the scale is ", scale, "; scales are finite and positive"));
  return scale;
}

}  // namespace

Result<CalibrationCache> read_calibration_cache(std::string_view text) {
  CalibrationCache cache;
  const std::string_view first = take_line(text);
  const size_t behind_version = first.find('-', 4);
  TRY(require(first.starts_with("TRT-") && behind_version != std::string_view::npos,
              "a calibration cache begins with '", printable(first.substr(0, 40)),
              "'; 'TRT-VERSION-ALGORITHM' is needed"));
  cache.algorithm = first.substr(behind_version + 1);
  for (int number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const size_t colon = line.rfind(':');
    TRY(require(colon != std::string_view::npos && colon > 0, "line ", number, " of a calibration cache is '",
                printable(line.substr(0, 80)), "'; 'TENSOR: SCALE' is needed"));
    const float scale = TRY(in_context(scale_of(line.substr(colon + 1)), [&] {
      return str("line ", number, " of a calibration cache, tensor '", line.substr(0, colon), "'");
    }));
    const auto [known, is_new] = cache.scales.emplace(line.substr(0, colon), scale);
    TRY(require(is_new || known->second == scale, "line ", number, " of a calibration cache: tensor '", known->first,
                "' has the scale ", scale, ", and ", known->second, " in a line before"));
  }
  return cache;
}

std::string write_calibration_cache(const CalibrationCache& cache) {
  std::string text =
      str("TRT-", NV_TENSORRT_MAJOR * 10000 + NV_TENSORRT_MINOR * 100 + NV_TENSORRT_PATCH, "-", cache.algorithm, "\n");
  for (const auto& [name, scale] : cache.scales) {
    if (name.find_first_of("\r\n") != std::string::npos) continue;  // a line holds one tensor
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", std::bit_cast<uint32_t>(scale));
    text += str(name, ": ", static_cast<const char*>(digits), "\n");
  }
  return text;
}

}  // namespace kiln::api
