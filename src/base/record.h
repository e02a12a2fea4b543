/// A tree of named data: what op attributes, plan metadata and reports are written as, before they become CBOR, JSON
/// or text. Order is kept, so equal records have equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace kiln {

class Record;
using Bytes = std::vector<std::byte>;

/// null, bool, integer, float, text, bytes, list, or a nested record. Integer and float lists have kinds of their own.
class Datum {
 public:
  using List = std::vector<Datum>;
  using Variant = std::variant<std::monostate, bool, int64_t, double, std::string, Bytes, std::vector<int64_t>,
                               std::vector<double>, List, Record>;
  Datum();
  Datum(bool value);
  Datum(int64_t value);
  Datum(int value);
  Datum(double value);
  Datum(std::string value);
  Datum(std::string_view value);
  Datum(const char* value);
  Datum(Bytes value);
  Datum(std::vector<int64_t> value);
  Datum(std::vector<double> value);
  Datum(List value);
  Datum(Record value);
  Datum(const Datum&);
  Datum(Datum&&) noexcept;
  Datum& operator=(const Datum&);
  Datum& operator=(Datum&&) noexcept;
  ~Datum();

  const Variant& variant() const { return *value_; }
  bool operator==(const Datum& other) const;

 private:
  Variant* value_;  // owned; Variant contains Record, which is incomplete here
};

class Record {
 public:
  using Entry = std::pair<std::string, Datum>;

  Record& set(std::string_view name, Datum value);  ///< replaces an entry of that name, else appends
  const Datum* find(std::string_view name) const;   ///< null if absent
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  bool operator==(const Record& other) const = default;

  // Typed access; the error names the entry and what was found instead.
  Result<int64_t> get_int(std::string_view name) const;
  Result<double> get_double(std::string_view name) const;  ///< an integer converts
  Result<std::string> get_text(std::string_view name) const;
  Result<Ref<const Record>> get_record(std::string_view name) const;
  Result<Ref<const Datum::List>> get_list(std::string_view name) const;  ///< an empty list of any kind converts

 private:
  std::vector<Entry> entries_;
};

/// Whether it is a list of any kind without items: all are written alike.
bool is_empty_list(const Datum& datum);
void append(std::string& out, const Datum& datum);  ///< readable text: {axis=1, pads=[0, 1]}
void append(std::string& out, const Record& record);
Hash128 hash128(const Record& record);

}  // namespace kiln
