// The one file that includes nlohmann-json, which costs seconds to compile.
#include "plan/json.h"

#include <nlohmann/json.hpp>

namespace kiln::plan {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes) {
    out += kDigits[static_cast<size_t>(b) >> 4];
    out += kDigits[static_cast<size_t>(b) & 15];
  }
  return out;
}

Json to_tree(const Datum& datum);

Json to_tree(const Record& record) {
  Json::object_t object;
  object.reserve(record.entries().size());
  for (const auto& [name, value] : record.entries()) object.emplace_back(name, to_tree(value));
  return object;
}

Json to_tree(const Datum& datum) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, Record>) {
          return to_tree(value);
        } else if constexpr (std::is_same_v<T, Bytes>) {
          return hexadecimal(value);
        } else if constexpr (std::is_same_v<T, Datum::List>) {
          Json list = Json::array();
          for (const Datum& item : value) list.push_back(to_tree(item));
          return list;
        } else {
          return value;
        }
      },
      datum.variant());
}

std::string text_of(const Json& tree, int indent) {
  return tree.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Record& record, int indent) { return text_of(to_tree(record), indent); }
std::string to_json(const Datum& datum, int indent) { return text_of(to_tree(datum), indent); }

}  // namespace kiln::plan
