/// Text from parts: `str("axis ", axis, " of ", type)`. A type joins by an `append(std::string&, const T&)` in its
/// own namespace.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kiln {

void append_signed(std::string& out, int64_t value);
void append_unsigned(std::string& out, uint64_t value);
void append_double(std::string& out, double value);  ///< shortest text that reads back the same

inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, const std::string& text) { out += text; }  // exact: nothing converts
inline void append(std::string& out, const char* text) { out += text ? text : "(null)"; }
inline void append(std::string& out, char c) { out += c; }
inline void append(std::string& out, std::same_as<bool> auto value) { out += value ? "true" : "false"; }
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, char>) void append(std::string& out,
                                                                                                  T value) {
  if constexpr (std::is_floating_point_v<T>)
    append_double(out, value);
  else if constexpr (std::is_signed_v<T>)
    append_signed(out, value);
  else
    append_unsigned(out, value);
}
/// "[a, b, c]"
template <class T>
void append(std::string& out, std::span<T> items) {
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    append(out, items[i]);
  }
  out += ']';
}
template <class T>
void append(std::string& out, const std::vector<T>& items) {
  append(out, std::span<const T>(items));
}

template <class... Parts>
std::string str(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

}  // namespace kiln
