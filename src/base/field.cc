#include "base/field.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace kiln {

Hash128 FieldType::hash(const void* value) const {
  std::string text;
  append(text, value);
  return hash128(std::string_view(text));
}

bool fields_equal(std::span<const Field> fields, const void* a, const void* b) {
  for (const Field& field : fields)
    if (!field.type->equal(field.in(a), field.in(b))) return false;
  return true;
}

Hash128 fields_hash(std::span<const Field> fields, const void* object) {
  Hash128 result = hash128(std::string_view("fields"));
  for (const Field& field : fields)
    result = combine(combine(result, hash128(field.name)), field.type->hash(field.in(object)));
  return result;
}

void append_fields(std::string& out, std::span<const Field> fields, const void* object) {
  out += '{';
  bool first = true;
  for (const Field& field : fields) {
    if (!first) out += ", ";
    first = false;
    out += field.name;
    out += '=';
    field.type->append(out, field.in(object));
  }
  out += '}';
}

Record fields_record(std::span<const Field> fields, const void* object) {
  Record record;
  for (const Field& field : fields)
    if (!field.type->is_absent(field.in(object))) record.set(field.name, field.type->to_datum(field.in(object)));
  return record;
}

Status set_fields(std::span<const Field> fields, void* object, const Record& record) {
  for (const auto& [name, value] : record.entries()) {
    const auto found = std::ranges::find(fields, name, &Field::name);
    if (found == fields.end()) return error(Code::kCorrupt, "no field is called '", name, "'");
    TRY(in_context(found->type->from_datum(found->in(object), value), [&] { return str("field '", name, "'"); }));
  }
  return {};
}

Status set_all_fields(std::span<const Field> fields, void* object, const Record& record) {
  for (const Field& field : fields)
    if (!field.type->may_be_absent() && !record.find(field.name))
      return error(Code::kCorrupt, "field '", field.name, "' is missing");
  return set_fields(fields, object, record);
}

namespace {

template <class T>
std::string_view noun_of() {
  if constexpr (std::same_as<T, bool>)
    return "a boolean";
  else if constexpr (std::same_as<T, int64_t>)
    return "an integer";
  else if constexpr (std::same_as<T, double>)
    return "a number";
  else if constexpr (std::same_as<T, std::string>)
    return "a text";
  else if constexpr (std::same_as<T, std::vector<int64_t>>)
    return "a list of integers";
  else if constexpr (std::same_as<T, std::vector<double>>)
    return "a list of numbers";
  else if constexpr (std::same_as<T, Bytes>)
    return "bytes";
  else if constexpr (std::same_as<T, Record>)
    return "a record";
  else
    return "a list";
}

/// The datum as a T; kCorrupt if it is something else.
template <class T>
Result<Ref<const T>> as(const Datum& datum) {
  if (const T* value = std::get_if<T>(&datum.variant())) return std::cref(*value);
  return error(Code::kCorrupt, datum, " is not ", noun_of<T>());
}

Result<int> to_int(int64_t value) {
  if (value < INT_MIN || value > INT_MAX) return error(Code::kCorrupt, value, " is beyond 32 bits");
  return static_cast<int>(value);
}

/// Bit equality: a NaN equals itself, and 0 differs from -0.
bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}

/// A type that a Datum holds, or an int or ints.
template <class T>
class PlainFieldType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override {
    if constexpr (std::same_as<T, std::vector<int>>)
      return std::vector<int64_t>(at(value).begin(), at(value).end());
    else
      return Datum(at(value));
  }
  Status from_datum(void* value, const Datum& datum) const override {
    *static_cast<T*>(value) = TRY(parse(datum));
    return {};
  }
  void append(std::string& out, const void* value) const override {
    if constexpr (std::same_as<T, Bytes>)
      kiln::append(out, str(at(value).size(), " bytes"));
    else
      kiln::append(out, at(value));
  }
  bool equal(const void* a, const void* b) const override { return same(at(a), at(b)); }
  Hash128 hash(const void* value) const override {
    if constexpr (std::same_as<T, Bytes>)
      return hash128(std::span<const std::byte>(at(value)));
    else if constexpr (std::same_as<T, Record>)
      return hash128(at(value));
    else
      return FieldType::hash(value);
  }

 private:
  static const T& at(const void* value) { return *static_cast<const T*>(value); }
  static Result<T> parse(const Datum& datum) {
    if constexpr (std::same_as<T, int>) {
      return to_int(TRY(as<int64_t>(datum)));
    } else if constexpr (std::same_as<T, double>) {
      if (const int64_t* integer = std::get_if<int64_t>(&datum.variant())) return static_cast<double>(*integer);
      return TRY(as<double>(datum)).get();
    } else if constexpr (std::same_as<T, std::vector<int>>) {
      T result;
      if (is_empty_list(datum)) return result;
      for (const int64_t item : TRY(as<std::vector<int64_t>>(datum)).get()) result.push_back(TRY(to_int(item)));
      return result;
    } else {
      if constexpr (std::same_as<T, std::vector<int64_t>> || std::same_as<T, std::vector<double>>)
        if (is_empty_list(datum)) return T{};
      return TRY(as<T>(datum)).get();
    }
  }
};

template <class T>
const FieldType& plain() {
  static const PlainFieldType<T> type;
  return type;
}

}  // namespace

const FieldType& field_type(Tag<bool>) { return plain<bool>(); }
const FieldType& field_type(Tag<int>) { return plain<int>(); }
const FieldType& field_type(Tag<int64_t>) { return plain<int64_t>(); }
const FieldType& field_type(Tag<double>) { return plain<double>(); }
const FieldType& field_type(Tag<std::string>) { return plain<std::string>(); }
const FieldType& field_type(Tag<std::vector<int>>) { return plain<std::vector<int>>(); }
const FieldType& field_type(Tag<std::vector<int64_t>>) { return plain<std::vector<int64_t>>(); }
const FieldType& field_type(Tag<std::vector<double>>) { return plain<std::vector<double>>(); }
const FieldType& field_type(Tag<Bytes>) { return plain<Bytes>(); }
const FieldType& field_type(Tag<Record>) { return plain<Record>(); }

size_t EnumFieldType::index(const void* value) const {
  size_t result = 0;
  std::memcpy(&result, value, num_bytes_);  // little-endian, as every machine that Kiln runs on
  return result;
}
Datum EnumFieldType::to_datum(const void* value) const { return names_[index(value)]; }
Status EnumFieldType::from_datum(void* value, const Datum& datum) const {
  const std::string& text = TRY(as<std::string>(datum));
  const auto found = std::ranges::find(names_, text);
  if (found == names_.end()) return error(Code::kCorrupt, "'", text, "' is none of ", names_);
  const auto index = static_cast<size_t>(found - names_.begin());
  std::memcpy(value, &index, num_bytes_);
  return {};
}
void EnumFieldType::append(std::string& out, const void* value) const { out += names_[index(value)]; }
bool EnumFieldType::equal(const void* a, const void* b) const { return index(a) == index(b); }

Datum StructFieldType::to_datum(const void* value) const { return fields_record(fields_, value); }
Status StructFieldType::from_datum(void* value, const Datum& datum) const {
  TRY(set_all_fields(fields_, value, TRY(as<Record>(datum))));
  return check_(value);
}
void StructFieldType::append(std::string& out, const void* value) const { append_fields(out, fields_, value); }
bool StructFieldType::equal(const void* a, const void* b) const { return fields_equal(fields_, a, b); }

Hash128 StructFieldType::hash(const void* value) const { return fields_hash(fields_, value); }

Datum OptionalFieldType::to_datum(const void* value) const {
  return is_absent(value) ? Datum() : element_.to_datum(access_.at(value, 0));
}
Status OptionalFieldType::from_datum(void* value, const Datum& datum) const {
  return element_.from_datum(access_.resize(value, 1), datum);
}
void OptionalFieldType::append(std::string& out, const void* value) const {
  is_absent(value) ? static_cast<void>(out += "none") : element_.append(out, access_.at(value, 0));
}
bool OptionalFieldType::equal(const void* a, const void* b) const {
  if (is_absent(a) || is_absent(b)) return is_absent(a) && is_absent(b);
  return element_.equal(access_.at(a, 0), access_.at(b, 0));
}

Hash128 OptionalFieldType::hash(const void* value) const {
  return is_absent(value) ? hash128(std::string_view("none")) : element_.hash(access_.at(value, 0));
}

namespace {

/// " 'conv1'" if the record has a text field 'name'; empty otherwise. Errors show it to the reader.
std::string quoted_name(const Datum& item) {
  const auto* record = std::get_if<Record>(&item.variant());
  const Result<std::string> name = record ? record->get_text("name") : std::string();
  return name && !name->empty() ? str(" '", *name, "'") : std::string();
}

}  // namespace

Datum ListFieldType::to_datum(const void* value) const {
  Datum::List items;
  for (size_t i = 0; i < access_.size(value); ++i) items.push_back(element_.to_datum(access_.at(value, i)));
  return items;
}
Status ListFieldType::from_datum(void* value, const Datum& datum) const {
  static const Datum::List kNone;
  const Datum::List& items = is_empty_list(datum) ? kNone : TRY(as<Datum::List>(datum)).get();
  access_.resize(value, 0);
  for (size_t i = 0; i < items.size(); ++i) {  // elements are made as they are read: a damaged list may be long
    auto* at = static_cast<std::byte*>(access_.resize(value, i + 1));
    if (!at) break;
    TRY(in_context(element_.from_datum(at + i * element_bytes_, items[i]),
                   [&] { return str("[", i, "]", quoted_name(items[i])); }));
  }
  if (access_.size(value) == items.size()) return {};
  return error(Code::kCorrupt, "a list of ", items.size(), " stands where ", access_.size(value), " are needed");
}
void ListFieldType::append(std::string& out, const void* value) const {
  out += '[';
  for (size_t i = 0; i < access_.size(value); ++i) {
    if (i) out += ", ";
    element_.append(out, access_.at(value, i));
  }
  out += ']';
}
bool ListFieldType::equal(const void* a, const void* b) const {
  if (access_.size(a) != access_.size(b)) return false;
  for (size_t i = 0; i < access_.size(a); ++i)
    if (!element_.equal(access_.at(a, i), access_.at(b, i))) return false;
  return true;
}
Hash128 ListFieldType::hash(const void* value) const {
  Hash128 result = hash128(std::string_view("list"));
  for (size_t i = 0; i < access_.size(value); ++i) result = combine(result, element_.hash(access_.at(value, i)));
  return result;
}

}  // namespace kiln
