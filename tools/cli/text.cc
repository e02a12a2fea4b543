#include "text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <numeric>

namespace kiln::cli {
namespace {

int64_t unit_bytes(char unit) {
  switch (std::toupper(static_cast<unsigned char>(unit))) {
    case 'B': return 1;
    case 'K': return int64_t{1} << 10;
    case 'M': return int64_t{1} << 20;
    case 'G': return int64_t{1} << 30;
    default: return 0;
  }
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
int num_edits(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

void append(std::string& out, double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", part);
  out += text;
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (trim(text).empty()) return pieces;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\'') quoted = !quoted;
    if (i == text.size() || (text[i] == separator && !quoted)) {
      pieces.emplace_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  require(!quoted, "'", text,
          "' has a single quote without its partner; one that belongs to a name is written 'it''s'");
  return pieces;
}

std::string unquoted(std::string_view text) {
  std::string name;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_quote = text[i] == '\'', is_doubled = is_quote && inside && text.substr(i + 1).starts_with('\'');
    if (!is_quote || is_doubled) name += text[i];
    if (is_doubled)
      ++i;
    else if (is_quote)
      inside = !inside;
  }
  return name;
}

int64_t parse_int(std::string_view text, std::string_view what) {
  text = trim(text);
  int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(status != std::errc::result_out_of_range, what, ": '", text, "' does not fit 64 bits");
  require(status == std::errc() && end == text.data() + text.size(), what, ": '", text, "' is not a whole number");
  return number;
}

double parse_number(std::string_view text, std::string_view what) {
  text = trim(text);
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(status == std::errc() && end == text.data() + text.size() && number - number == 0, what, ": '", text,
          "' is not a number");
  return number;
}

int64_t parse_size(std::string_view text, char default_unit, std::string_view what) {
  text = trim(text);
  require(!text.empty(), what, ": the size is missing");
  int64_t unit = unit_bytes(default_unit);
  std::string_view number = text;
  if (std::isalpha(static_cast<unsigned char>(text.back()))) {
    unit = unit_bytes(text.back());
    require(unit != 0, what, ": '", text, "' ends in the unit '", text.back(), "'; B, K, M or G is expected");
    number.remove_suffix(1);
  }
  const double bytes = parse_number(number, what) * static_cast<double>(unit);
  require(bytes >= 0, what, ": '", text, "' is negative");
  require(bytes < 0x1p63, what, ": '", text, "' is more bytes than 64 bits count");
  return static_cast<int64_t>(bytes);
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> names) {
  std::string_view best;
  int fewest = static_cast<int>(name.size()) / 3 + 1;  // more edits than that, and it is another word
  for (std::string_view candidate : names) {
    const int edits = num_edits(name, candidate);
    if (edits < fewest || (edits == fewest && best.empty())) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

}  // namespace kiln::cli
