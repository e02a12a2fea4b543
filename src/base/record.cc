#include "base/record.h"

namespace kiln {

Datum::Datum() : value_(new Variant) {}
Datum::Datum(bool value) : value_(new Variant(value)) {}
Datum::Datum(int64_t value) : value_(new Variant(value)) {}
Datum::Datum(int value) : value_(new Variant(int64_t{value})) {}
Datum::Datum(double value) : value_(new Variant(value)) {}
Datum::Datum(std::string value) : value_(new Variant(std::move(value))) {}
Datum::Datum(std::string_view value) : value_(new Variant(std::string(value))) {}
Datum::Datum(const char* value) : value_(new Variant(std::string(value))) {}
Datum::Datum(Bytes value) : value_(new Variant(std::move(value))) {}
Datum::Datum(std::vector<int64_t> value) : value_(new Variant(std::move(value))) {}
Datum::Datum(std::vector<double> value) : value_(new Variant(std::move(value))) {}
Datum::Datum(List value) : value_(new Variant(std::move(value))) {}
Datum::Datum(Record value) : value_(new Variant(std::move(value))) {}
Datum::Datum(const Datum& other) : value_(new Variant(*other.value_)) {}
Datum::Datum(Datum&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
Datum& Datum::operator=(const Datum& other) {
  if (this != &other) *this = Datum(other);
  return *this;
}
Datum& Datum::operator=(Datum&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}
Datum::~Datum() { delete value_; }
bool Datum::operator==(const Datum& other) const { return *value_ == *other.value_; }

Record& Record::set(std::string_view name, Datum value) {
  for (Entry& entry : entries_)
    if (entry.first == name) {
      entry.second = std::move(value);
      return *this;
    }
  entries_.emplace_back(std::string(name), std::move(value));
  return *this;
}

const Datum* Record::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

namespace {
template <class T>
Result<Ref<const T>> get(const Record& record, std::string_view name, std::string_view wanted) {
  const Datum* datum = record.find(name);
  if (!datum) return error(Code::kNotFound, "entry '", name, "' is missing");
  const T* value = std::get_if<T>(&datum->variant());
  if (!value) return error(Code::kCorrupt, "entry '", name, "' is ", *datum, "; ", wanted, " is needed");
  return std::cref(*value);
}
}  // namespace

bool is_empty_list(const Datum& datum) {
  if (const auto* list = std::get_if<Datum::List>(&datum.variant())) return list->empty();
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&datum.variant())) return ints->empty();
  if (const auto* doubles = std::get_if<std::vector<double>>(&datum.variant())) return doubles->empty();
  return false;
}

Result<int64_t> Record::get_int(std::string_view name) const {
  return TRY(get<int64_t>(*this, name, "an integer")).get();
}
Result<double> Record::get_double(std::string_view name) const {
  const Datum* datum = find(name);
  if (const int64_t* integer = datum ? std::get_if<int64_t>(&datum->variant()) : nullptr) return double(*integer);
  return TRY(get<double>(*this, name, "a number")).get();
}
Result<std::string> Record::get_text(std::string_view name) const {
  return TRY(get<std::string>(*this, name, "a text")).get();
}
Result<Ref<const Record>> Record::get_record(std::string_view name) const {
  return get<Record>(*this, name, "a record");
}
Result<Ref<const Datum::List>> Record::get_list(std::string_view name) const {
  static const Datum::List kEmpty;
  if (const Datum* datum = find(name); datum && is_empty_list(*datum)) return std::cref(kEmpty);
  return get<Datum::List>(*this, name, "a list");
}

void append(std::string& out, const Datum& datum) {
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          out += "null";
        } else if constexpr (std::is_same_v<T, std::string>) {
          out += '"';
          out += value;
          out += '"';
        } else if constexpr (std::is_same_v<T, Bytes>) {
          append(out, str(value.size(), " bytes"));
        } else {
          append(out, value);
        }
      },
      datum.variant());
}

void append(std::string& out, const Record& record) {
  out += '{';
  bool first = true;
  for (const auto& [name, value] : record.entries()) {
    if (!first) out += ", ";
    first = false;
    append(out, name);
    out += '=';
    append(out, value);
  }
  out += '}';
}

namespace {
// Text would do for all but bytes, whose printed form hides their content.
Hash128 hash_datum(const Datum& datum) {
  if (const auto* bytes = std::get_if<Bytes>(&datum.variant())) return hash128(std::span<const std::byte>(*bytes));
  if (const auto* nested = std::get_if<Record>(&datum.variant())) return hash128(*nested);
  if (const auto* list = std::get_if<Datum::List>(&datum.variant())) {
    Hash128 result = hash128(std::string_view("list"));
    for (const Datum& item : *list) result = combine(result, hash_datum(item));
    return result;
  }
  return hash128(str(datum.variant().index(), ":", datum));
}
}  // namespace

Hash128 hash128(const Record& record) {
  Hash128 result = hash128(std::string_view("record"));
  for (const auto& [name, value] : record.entries())
    result = combine(combine(result, hash128(std::string_view(name))), hash_datum(value));
  return result;
}

}  // namespace kiln
