// The one file that includes nlohmann-json, which costs seconds to compile.
#include "plan/json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

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

namespace {

constexpr int kDeepest = 64;

Datum from_tree(const Json& tree) {
  switch (tree.type()) {
    case Json::value_t::boolean: return tree.get<bool>();
    case Json::value_t::number_integer: return tree.get<int64_t>();
    case Json::value_t::number_unsigned: {
      const auto number = tree.get<uint64_t>();
      return std::in_range<int64_t>(number) ? Datum(static_cast<int64_t>(number)) : Datum(static_cast<double>(number));
    }
    case Json::value_t::number_float: return tree.get<double>();
    case Json::value_t::string: return tree.get<std::string>();
    case Json::value_t::array: {
      Datum::List list;
      for (const Json& item : tree) list.push_back(from_tree(item));
      return list;
    }
    case Json::value_t::object: {
      Record record;
      for (const auto& [name, value] : tree.items()) record.set(name, from_tree(value));
      return record;
    }
    default: return {};
  }
}

}  // namespace

Result<Datum> parse_json(std::string_view text) {
  const auto watch = [&](int deep, Json::parse_event_t, Json&) {
    if (deep > kDeepest) throw std::length_error("");
    return true;
  };
  try {
    return from_tree(Json::parse(text, watch));
  } catch (const nlohmann::json::parse_error& failed) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string_view what = failed.what();
    const size_t end = what.find("] ");
    return error(Code::kCorrupt, "no JSON: ", end == what.npos ? what : what.substr(end + 2));
  } catch (const std::length_error&) {
    return error(Code::kCorrupt, "no JSON of ours: it is nested more than ", kDeepest, " deep");
  }
}

std::string to_json(const Record& record, int indent) { return text_of(to_tree(record), indent); }
std::string to_json(const Datum& datum, int indent) { return text_of(to_tree(datum), indent); }

}  // namespace kiln::plan
