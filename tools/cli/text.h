/// Text in and out: messages from parts, lists, numbers with units, the nearest of some names.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// Ends the program with a message and `&&&& FAILED`: thrown anywhere, caught in main.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void append(std::string& out, std::string_view part) { out += part; }
inline void append(std::string& out, char part) { out += part; }
template <std::integral T>
void append(std::string& out, T part) {
  out += std::to_string(part);
}
void append(std::string& out, double part);  ///< six significant digits

template <class... Parts>
std::string str(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Failure(str(parts...));
}
template <class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) fail(parts...);
}

std::string_view trim(std::string_view text);

/// The pieces between separators that stand outside single quotes, without the spaces around them. No text, no pieces;
/// an unclosed quote fails.
std::vector<std::string> split(std::string_view text, char separator);

/// A name as it is meant: without its single quotes; two of them within quotes stand for one. "'it''s'" is it's.
std::string unquoted(std::string_view text);

/// The whole text as a number; `what` names it in the message of the failure.
int64_t parse_int(std::string_view text, std::string_view what);
double parse_number(std::string_view text, std::string_view what);

/// "512", "1.5G": bytes, with the units B, K, M and G of 1024; without a unit it counts `default_unit`s.
int64_t parse_size(std::string_view text, char default_unit, std::string_view what);

/// The name that takes the fewest edits to reach, in either case of letters; empty if all are far.
std::string_view nearest(std::string_view name, std::span<const std::string_view> names);

}  // namespace kiln::cli
