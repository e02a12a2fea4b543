// The one file that includes nlohmann-json, which costs seconds to compile.
#include "plan/json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

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

constexpr size_t kDeepest = 64;
/// A record finds its entries one by one, so that very many of them take time that grows with their square.
constexpr size_t kMostEntries = 4096;

/// Makes data of what a parser of JSON reports, so that no tree of another kind stands between. A function that returns
/// false ends the parsing, and `problem` says why.
class DataMaker final : public Json::json_sax_t {
 public:
  std::string problem;
  Datum result() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override {
    return std::in_range<int64_t>(value) ? add(static_cast<int64_t>(value)) : add(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& text) override { return add(std::move(text)); }
  bool binary(Json::binary_t&) override { return false; }  // JSON's text has none

  bool start_object(size_t) override { return begin(Record()); }
  bool start_array(size_t) override { return begin(Datum::List()); }
  bool key(std::string& name) override {
    const size_t entries = std::get<Record>(open_.back().made).entries().size();
    open_.back().key = std::move(name);
    return entries < kMostEntries || fail(str("no JSON of ours: an object has more than ", kMostEntries, " entries"));
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  /// "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& failed) override {
    const std::string_view what = failed.what();
    const size_t end = what.find("] ");
    return fail(str("no JSON: ", end == what.npos ? what : what.substr(end + 2)));
  }

 private:
  struct Open {
    std::variant<Record, Datum::List> made;
    std::string key;  ///< of the value that comes next
  };

  bool fail(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool begin(std::variant<Record, Datum::List> empty) {
    if (open_.size() >= kDeepest) return fail(str("no JSON of ours: it is nested more than ", kDeepest, " deep"));
    open_.push_back({std::move(empty), {}});
    return true;
  }
  bool end() {
    Datum made = std::visit([](auto& whole) { return Datum(std::move(whole)); }, open_.back().made);
    open_.pop_back();
    return add(std::move(made));
  }
  bool add(Datum value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (auto* record = std::get_if<Record>(&open_.back().made))
      record->set(open_.back().key, std::move(value));
    else
      std::get<Datum::List>(open_.back().made).push_back(std::move(value));
    return true;
  }

  Datum root_;
  std::vector<Open> open_;
};

}  // namespace

Result<Datum> parse_json(std::string_view text) {
  DataMaker maker;
  if (!Json::sax_parse(text, &maker)) return error(Code::kCorrupt, maker.problem);
  return maker.result();
}

std::string to_json(const Record& record, int indent) { return text_of(to_tree(record), indent); }
std::string to_json(const Datum& datum, int indent) { return text_of(to_tree(datum), indent); }

}  // namespace kiln::plan
