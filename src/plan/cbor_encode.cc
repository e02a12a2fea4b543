#include <bit>
#include <cstring>

#include "plan/cbor.h"
#include "plan/cbor_format.h"

namespace kiln::plan {
namespace {

static_assert(std::endian::native == std::endian::little, "typed arrays are copied as they lie in memory");

template <class T>
bool all_fit(const std::vector<int64_t>& values) {
  for (const int64_t v : values)
    if (v != static_cast<T>(v)) return false;
  return true;
}

class Encoder {
 public:
  Status write(const Record& record);
  Bytes out;

 private:
  void head(Major major, uint64_t argument);
  void append(const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    out.insert(out.end(), bytes, bytes + size);
  }
  template <class T, class From>
  void typed_array(const std::vector<From>& values, TypedArray tag);

  Status write(std::monostate) { return head(Major::kSimple, kNull), Status(); }
  Status write(bool value) { return head(Major::kSimple, value ? kTrue : kFalse), Status(); }
  Status write(int64_t value);
  Status write(double value);
  Status write(const std::string& value);
  Status write(const Bytes& value);
  Status write(const std::vector<int64_t>& values);
  Status write(const std::vector<double>& values);
  Status write(const Datum::List& items);
  Status write(const Datum& datum) {
    return std::visit([&](const auto& value) { return write(value); }, datum.variant());
  }

  int depth_ = 0;
};

void Encoder::head(Major major, uint64_t argument) {
  const int width = argument < 24            ? 0
                    : argument <= UINT8_MAX  ? 1
                    : argument <= UINT16_MAX ? 2
                    : argument <= UINT32_MAX ? 4
                                             : 8;
  const uint64_t info =
      width == 0 ? argument : 24 + static_cast<uint64_t>(std::countr_zero(static_cast<unsigned>(width)));
  out.push_back(static_cast<std::byte>(static_cast<uint64_t>(major) << 5 | info));
  for (int i = width; i-- > 0;) out.push_back(static_cast<std::byte>(argument >> (8 * i)));
}

Status Encoder::write(int64_t value) {
  if (value < 0)
    head(Major::kNegative, static_cast<uint64_t>(-(value + 1)));
  else
    head(Major::kUnsigned, static_cast<uint64_t>(value));
  return {};
}

Status Encoder::write(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  out.push_back(static_cast<std::byte>(static_cast<uint8_t>(Major::kSimple) << 5 | kFloat64));
  for (int i = 8; i-- > 0;) out.push_back(static_cast<std::byte>(bits >> (8 * i)));
  return {};
}

Status Encoder::write(const std::string& value) {
  head(Major::kText, value.size());
  append(value.data(), value.size());
  return {};
}

Status Encoder::write(const Bytes& value) {
  head(Major::kBytes, value.size());
  append(value.data(), value.size());
  return {};
}

template <class T, class From>
void Encoder::typed_array(const std::vector<From>& values, TypedArray tag) {
  head(Major::kTag, static_cast<uint64_t>(tag));
  head(Major::kBytes, values.size() * sizeof(T));
  for (const From v : values) {
    const auto value = static_cast<T>(v);
    append(&value, sizeof(T));
  }
}

Status Encoder::write(const std::vector<int64_t>& values) {
  if (all_fit<int8_t>(values))
    typed_array<int8_t>(values, TypedArray::kI8);
  else if (all_fit<int16_t>(values))
    typed_array<int16_t>(values, TypedArray::kI16);
  else if (all_fit<int32_t>(values))
    typed_array<int32_t>(values, TypedArray::kI32);
  else
    typed_array<int64_t>(values, TypedArray::kI64);
  return {};
}

Status Encoder::write(const std::vector<double>& values) {
  typed_array<double>(values, TypedArray::kF64);
  return {};
}

Status Encoder::write(const Datum::List& items) {
  TRY(require(++depth_ <= kMaxCborDepth, "a list is nested deeper than ", kMaxCborDepth, " levels"));
  head(Major::kArray, items.size());
  for (const Datum& item : items) TRY(write(item));
  --depth_;
  return {};
}

Status Encoder::write(const Record& record) {
  TRY(require(++depth_ <= kMaxCborDepth, "a record is nested deeper than ", kMaxCborDepth, " levels"));
  TRY(require(record.entries().size() <= kMaxCborEntries, "a record has ", record.entries().size(),
              " entries; at most ", kMaxCborEntries, " can be written"));
  head(Major::kMap, record.entries().size());
  for (const auto& [name, value] : record.entries()) {
    TRY(write(name));
    TRY(in_context(write(value), [&] { return str("entry '", name, "'"); }));
  }
  --depth_;
  return {};
}

}  // namespace

Result<Bytes> to_cbor(const Record& record) {
  Encoder encoder;
  TRY(encoder.write(record));
  return std::move(encoder.out);
}

}  // namespace kiln::plan
