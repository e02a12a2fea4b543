#include "json.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace kiln::cli {
namespace {

template <class T>
std::string shortest(T number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  char text[64];
  const auto [end, status] = std::to_chars(text, text + sizeof text, number);
  return {text, end};
}

template <class T>
std::string quoted_unless_finite(T number) {
  const std::string text = shortest(number);
  return std::isfinite(number) ? text : '"' + text + '"';
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned char>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number_text(double number) { return shortest(number); }
std::string number_text(float number) { return shortest(number); }
std::string json_number(double number) { return quoted_unless_finite(number); }
std::string json_number(float number) { return quoted_unless_finite(number); }

}  // namespace kiln::cli
