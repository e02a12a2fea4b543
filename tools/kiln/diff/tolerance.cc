#include "kiln/diff/tolerance.h"

#include <charconv>
#include <cmath>

namespace kiln::diff {
namespace {

Result<double> number(std::string_view text, std::string_view whole) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = failed == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  TRY(require(is_number && value >= 0, "--tolerance is '", whole,
              "'; it may be REL or REL/ABS, two numbers that are not negative"));
  return value;
}

}  // namespace

Tolerance default_tolerance(Precision precision) {
  switch (precision) {
    case Precision::kFloat: return {.relative = 1e-3, .absolute = 1e-6};
    case Precision::kHalf: return {.relative = 2e-2, .absolute = 1e-4};
    case Precision::kBfloat: return {.relative = 1e-1, .absolute = 1e-3};
    case Precision::kBytes: break;
  }
  return {.relative = 1e-1, .absolute = 1e-4};
}

Result<Tolerance> parse_tolerance(std::string_view text) {
  const size_t slash = text.find('/');
  Tolerance tolerance;
  tolerance.relative = TRY(number(text.substr(0, slash), text));
  if (slash != text.npos) tolerance.absolute = TRY(number(text.substr(slash + 1), text));
  return tolerance;
}

std::string text_of(const Tolerance& tolerance) {
  return str(tolerance.relative, " of the largest + ", tolerance.absolute);
}

}  // namespace kiln::diff
