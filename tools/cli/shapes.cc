#include "shapes.h"

namespace kiln::cli {
namespace {

enum class NoValue { kRefused, kAllowed };

std::pair<std::string, std::string> parse_pair(const std::string& piece, std::string_view flag, NoValue no_value) {
  require(!piece.empty(), flag, ": an entry is empty");
  const size_t quote = piece.rfind('\'');
  const size_t colon = quote == std::string::npos ? piece.rfind(':') : piece.find(':', quote);
  require(colon != std::string::npos, flag, ": '", piece, "' has no value; name:value is expected");
  std::string name = unquoted(trim(std::string_view(piece).substr(0, colon)));
  require(!name.empty(), flag, ": '", piece, "' has no name before the colon");
  std::string value(trim(std::string_view(piece).substr(colon + 1)));
  require(!value.empty() || no_value == NoValue::kAllowed, flag, ": '", name, "' has no value after the colon");
  return {std::move(name), std::move(value)};
}

Extents parse_extents(const std::string& text, std::string_view flag, std::string_view name) {
  Extents extents;
  if (text.empty() || text == "scalar") return extents;
  const std::string what = str(flag, ": shape of '", name, "'");
  for (const std::string& extent : split(text, 'x')) extents.push_back(parse_int(extent, what));
  return extents;
}

NamedTexts parse_any_pairs(std::string_view text, std::string_view flag, NoValue no_value) {
  NamedTexts pairs;
  for (const std::string& piece : split(text, ',')) pairs.push_back(parse_pair(piece, flag, no_value));
  require(!pairs.empty(), flag, ": the list is empty");
  return pairs;
}

NamedTexts parse_pairs(std::string_view text, std::string_view flag, NoValue no_value) {
  NamedTexts pairs = parse_any_pairs(text, flag, no_value);
  std::unordered_set<std::string_view> names;
  for (const auto& [name, value] : pairs) require(names.insert(name).second, flag, ": '", name, "' is named twice");
  return pairs;
}

}  // namespace

NamedTexts parse_pairs(std::string_view text, std::string_view flag) {
  return parse_pairs(text, flag, NoValue::kRefused);
}

NamedTexts parse_pairs_that_repeat(std::string_view text, std::string_view flag) {
  return parse_any_pairs(text, flag, NoValue::kRefused);
}

NamedExtents parse_shapes(std::string_view text, std::string_view flag) {
  NamedExtents shapes;
  for (auto& [name, value] : parse_pairs(text, flag, NoValue::kAllowed)) {
    Extents extents = parse_extents(value, flag, name);
    shapes.emplace_back(std::move(name), std::move(extents));
  }
  return shapes;
}

Extents as_declared(const Extents& given, std::span<const int64_t> declared) {
  return declared.empty() && given == Extents{1} ? Extents() : given;
}

std::string shape_text(std::span<const int64_t> extents) {
  std::string text;
  for (int64_t extent : extents) text += str(text.empty() ? "" : "x", extent);
  return text;
}

std::string quoted(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += str(text.empty() ? "'" : ", '", name, "'");
  return text;
}

bool matches(std::string_view pattern, std::string_view tensor) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == tensor;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return tensor.size() >= head.size() + tail.size() && tensor.starts_with(head) && tensor.ends_with(tail);
}

}  // namespace kiln::cli
