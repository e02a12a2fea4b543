#include "library/fields.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "api/base/dims_bytes.h"

namespace kiln::plugins {
namespace {

using Type = nv::PluginFieldType;

/// Bytes of an element; 0 for a type that no standard plugin has.
size_t size_of(Type type) {
  switch (type) {
    case Type::kINT8:
    case Type::kCHAR:
    case Type::kUNKNOWN: return 1;
    case Type::kFLOAT16:
    case Type::kBF16:
    case Type::kINT16: return 2;
    case Type::kFLOAT32:
    case Type::kINT32: return 4;
    case Type::kFLOAT64:
    case Type::kINT64: return 8;
    case Type::kDIMS: return sizeof(nv::Dims);
    default: return 0;
  }
}

double of_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

template <class T>
T element(std::span<const std::byte> data, int64_t i) {
  T value;
  std::memcpy(&value, data.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

int64_t integer_at(Type type, std::span<const std::byte> data, int64_t i) {
  switch (type) {
    case Type::kINT8: return element<int8_t>(data, i);
    case Type::kINT16: return element<int16_t>(data, i);
    case Type::kINT32: return element<int32_t>(data, i);
    default: return element<int64_t>(data, i);
  }
}

double number_at(Type type, std::span<const std::byte> data, int64_t i) {
  switch (type) {
    case Type::kINT8:
    case Type::kINT16:
    case Type::kINT32:
    case Type::kINT64: return static_cast<double>(integer_at(type, data, i));
    case Type::kFLOAT16: return of_half(element<uint16_t>(data, i));
    case Type::kBF16: return std::bit_cast<float>(static_cast<uint32_t>(element<uint16_t>(data, i)) << 16);
    case Type::kFLOAT32: return element<float>(data, i);
    case Type::kFLOAT64: return element<double>(data, i);
    default: return NAN;
  }
}

bool is_integer(Type type) {
  return type == Type::kINT8 || type == Type::kINT16 || type == Type::kINT32 || type == Type::kINT64;
}
bool is_number(Type type) { return !std::isnan(number_at(type, std::array<std::byte, 8>{}, 0)); }

/// "kINT32"; the number of a type that has no name.
std::string name_of(Type type) {
  static constexpr std::array kNames = {"kFLOAT16", "kFLOAT32", "kFLOAT64", "kINT8",  "kINT16", "kINT32", "kCHAR",
                                        "kDIMS",    "kUNKNOWN", "kBF16",    "kINT64", "kFP8",   "kINT4",  "kFP4"};
  const auto index = static_cast<size_t>(type);
  return index < kNames.size() ? kNames[index] : str(static_cast<int32_t>(type));
}

/// The number as an integer, if it is one that 64 bits hold.
std::optional<int64_t> exact_integer(Type type, std::span<const std::byte> data, int64_t i) {
  if (is_integer(type)) return integer_at(type, data, i);
  constexpr double kBeyond = 0x1p63;
  const double number = number_at(type, data, i);
  if (number != std::trunc(number) || number < -kBeyond || number >= kBeyond) return std::nullopt;
  return static_cast<int64_t>(number);
}

/// The number, if kFLOAT32 holds it as it is; NaN counts as held.
std::optional<double> exact_float(Type type, std::span<const std::byte> data, int64_t i) {
  const double number = number_at(type, data, i);
  if (std::isnan(number)) return number;
  if (static_cast<double>(static_cast<float>(number)) != number) return std::nullopt;
  if (is_integer(type) && exact_integer(Type::kFLOAT64, std::as_bytes(std::span(&number, 1)), 0) !=
                              std::optional(integer_at(type, data, i)))
    return std::nullopt;
  return number;
}

/// The type of a given field. A single small integer that is called FLOAT32 where an integer is due is one: TensorRT
/// looks at its bytes alone, and a builder of BERT names that type.
Type type_of(const nv::PluginField& given, const nv::PluginField& described) {
  if (described.type != Type::kINT32 || given.type != Type::kFLOAT32 || given.length != 1 || !given.data)
    return given.type;
  uint32_t bits = 0;
  std::memcpy(&bits, given.data, sizeof bits);
  constexpr uint32_t kLeastNormal = 1U << 23U;  // smaller ones are 0 and subnormal floats
  return bits < kLeastNormal ? Type::kINT32 : Type::kFLOAT32;
}

/// A copy of the field's elements, of `size` bytes each.
std::vector<std::byte> data_of(const nv::PluginField& field, size_t size) {
  const auto count = static_cast<size_t>(field.length);
  const auto* const data = static_cast<const std::byte*>(field.data);
  if (field.type != Type::kDIMS) return {data, data + count * size};
  std::vector<std::byte> copy(count * size);
  api::copy_dims(copy.data(), data, count);
  return copy;
}

/// Reads what `serialize` wrote.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  Result<std::span<const std::byte>> take(size_t count) {
    if (count > rest_.size()) return error(Code::kCorrupt, "the plugin's bytes end early");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  Result<int32_t> number() { return element<int32_t>(TRY(take(sizeof(int32_t))), 0); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace

Result<Fields> Fields::of(const nv::PluginFieldCollection* given, std::span<const nv::PluginField> known) {
  TRY(require(given && (given->fields || given->nbFields == 0) && given->nbFields >= 0, "the fields are null"));
  Fields result;
  for (int32_t i = 0; i < given->nbFields; ++i) {
    const nv::PluginField& field = given->fields[i];
    TRY(require(field.name != nullptr, "field ", i, " has no name"));
    const auto described =
        std::ranges::find_if(known, [&](const nv::PluginField& one) { return std::strcmp(one.name, field.name) == 0; });
    if (described == known.end()) continue;
    const bool may_be_null = described->length == 0;
    if (may_be_null && !field.data) continue;
    TRY(require(!result.has(field.name), "field '", field.name, "' is given twice"));
    const Type type = type_of(field, *described);
    const size_t size = size_of(type);
    TRY(require(size > 0, "field '", field.name, "' has type ", name_of(field.type),
                ", which no standard plugin reads"));
    TRY(require(field.length >= 0 && (field.data || field.length == 0), "field '", field.name, "' of length ",
                field.length, " has no data"));
    result.fields_.push_back({field.name, type, field.length, data_of(field, size)});
  }
  return result;
}

size_t Fields::serialized_size() const {
  size_t size = sizeof(int32_t);
  for (const Field& field : fields_) size += 3 * sizeof(int32_t) + field.name.size() + field.data.size();
  return size;
}

void Fields::serialize(std::byte* to) const {
  const auto put = [&](std::span<const std::byte> bytes) { to = std::ranges::copy(bytes, to).out; };
  const auto put_number = [&](int32_t number) { put(std::as_bytes(std::span(&number, 1))); };
  put_number(static_cast<int32_t>(fields_.size()));  // bytes that end behind a field are then short, too
  for (const Field& field : fields_) {
    put_number(static_cast<int32_t>(field.name.size()));
    put(std::as_bytes(std::span(field.name)));
    put_number(static_cast<int32_t>(field.type));
    put_number(field.length);
    put(field.data);
  }
}

Result<Fields> Fields::deserialize(std::span<const std::byte> bytes) {
  Fields result;
  Reader reader(bytes);
  const int32_t count = TRY(reader.number());
  if (count < 0) return error(Code::kCorrupt, count, " fields");
  for (int32_t i = 0; i < count; ++i) {
    const int32_t letters = TRY(reader.number());
    if (letters < 0) return error(Code::kCorrupt, "a name of ", letters, " letters");
    const auto name = TRY(reader.take(static_cast<size_t>(letters)));
    const auto type = static_cast<Type>(TRY(reader.number()));
    const int32_t length = TRY(reader.number());
    if (length < 0 || size_of(type) == 0)
      return error(Code::kCorrupt, "a field of type ", static_cast<int32_t>(type), " and length ", length);
    const auto data = TRY(reader.take(static_cast<size_t>(length) * size_of(type)));
    result.fields_.push_back({std::string(reinterpret_cast<const char*>(name.data()), name.size()),
                              type,
                              length,
                              {data.begin(), data.end()}});
  }
  if (!reader.done()) return error(Code::kCorrupt, "bytes behind the plugin's last field");
  return result;
}

std::string Fields::needs(const Field& field, Type wanted) {
  return str("field '", field.name, "' has type ", name_of(field.type), "; the plugin needs ", name_of(wanted));
}
std::string Fields::shown(const Field& field, int32_t i) {
  return is_integer(field.type) ? str(integer_at(field.type, field.data, i))
                                : str(number_at(field.type, field.data, i));
}

const Fields::Field* Fields::find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &Field::name);
  return found == fields_.end() ? nullptr : &*found;
}

Result<std::vector<double>> Fields::numbers(std::string_view name) const {
  std::vector<double> result;
  const Field* const field = find(name);
  if (!field) return result;
  TRY(require(is_number(field->type), needs(*field, Type::kFLOAT32)));
  for (int32_t i = 0; i < field->length; ++i) {
    const auto number = exact_float(field->type, field->data, i);
    TRY(require(number.has_value(), needs(*field, Type::kFLOAT32), ", which does not hold ", shown(*field, i)));
    result.push_back(*number);
  }
  return result;
}

Result<std::vector<int64_t>> Fields::integers(std::string_view name) const {
  std::vector<int64_t> result;
  const Field* const field = find(name);
  if (!field) return result;
  if (field->type == Type::kDIMS && field->length == 1) {
    const auto dims = element<nv::Dims>(field->data, 0);
    TRY(require(dims.nbDims >= 0 && dims.nbDims <= nv::Dims::MAX_DIMS, "field '", name, "' has ", dims.nbDims,
                " dimensions"));
    return std::vector<int64_t>(dims.d, dims.d + dims.nbDims);
  }
  TRY(require(is_number(field->type), needs(*field, Type::kINT32)));
  for (int32_t i = 0; i < field->length; ++i) {
    const auto number = exact_integer(field->type, field->data, i);
    TRY(require(number.has_value(), needs(*field, Type::kINT32), ", which does not hold ", shown(*field, i)));
    result.push_back(*number);
  }
  return result;
}

Result<std::vector<float>> Fields::floats(std::string_view name) const {
  const std::vector<double> wide = TRY(numbers(name));
  return std::vector<float>(wide.begin(), wide.end());
}

Result<double> Fields::number(std::string_view name) const {
  const std::vector<double> all = TRY(numbers(name));
  TRY(require(all.size() == 1, "field '", name, "' ", has(name) ? str("has ", all.size(), " numbers") : "is missing",
              "; one is needed"));
  return all.front();
}
Result<double> Fields::number(std::string_view name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}
Result<int64_t> Fields::integer(std::string_view name) const {
  const std::vector<int64_t> all = TRY(integers(name));
  TRY(require(all.size() == 1, "field '", name, "' ", has(name) ? str("has ", all.size(), " integers") : "is missing",
              "; one is needed"));
  return all.front();
}
Result<int64_t> Fields::integer(std::string_view name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}
Result<int32_t> Fields::int32(std::string_view name) const {
  const int64_t number = TRY(integer(name));
  TRY(require(std::in_range<int32_t>(number), "field '", name, "' is ", number, ", which 32 bits do not hold"));
  return static_cast<int32_t>(number);
}
Result<int32_t> Fields::int32(std::string_view name, int32_t otherwise) const {
  return has(name) ? int32(name) : otherwise;
}
Result<bool> Fields::flag(std::string_view name, bool otherwise) const {
  return TRY(integer(name, otherwise ? 1 : 0)) != 0;
}

Result<std::string> Fields::text(std::string_view name, std::string_view otherwise) const {
  const Field* const field = find(name);
  if (!field) return std::string(otherwise);
  TRY(require(field->type == Type::kCHAR, needs(*field, Type::kCHAR)));
  std::string result(reinterpret_cast<const char*>(field->data.data()), field->data.size());
  while (!result.empty() && result.back() == '\0') result.pop_back();
  return result;
}

std::vector<nv::PluginField> Fields::views() const {
  std::vector<nv::PluginField> result;
  for (const Field& field : fields_)
    result.emplace_back(field.name.c_str(), field.data.data(), field.type, field.length);
  return result;
}

Result<int64_t> integer_within(const Fields& fields, const char* name, int64_t otherwise, Range range) {
  const int64_t value = TRY(fields.integer(name, otherwise));
  TRY(require(value >= range.least && value <= range.most, name, " is ", value, "; ", range.least, " to ", range.most,
              " are possible"));
  return value;
}

Result<std::vector<int64_t>> image_size(const Fields& fields, std::vector<int64_t> otherwise) {
  if (!fields.has("image_size")) return otherwise;
  std::vector<int64_t> size = TRY(fields.integers("image_size"));
  TRY(require(size.size() == otherwise.size() && std::ranges::all_of(size, [](int64_t extent) { return extent > 0; }),
              "image_size has ", size.size(), " numbers; ", otherwise.size() == 3 ? "channels, " : "",
              "a height and a width above 0 are needed"));
  return size;
}

}  // namespace kiln::plugins
