#include "ops/field.h"

#include <cstring>

#include "sym/text.h"
#include "tensor/view.h"

namespace kiln {
namespace {
/// Calls f with the member's value as its own type.
template <class F>
decltype(auto) visit_field(const Field& field, const void* object, F f) {
  const auto* at = static_cast<const std::byte*>(object) + field.offset;
  switch (field.kind) {
    case FieldKind::kBool: return f(*reinterpret_cast<const bool*>(at));
    case FieldKind::kInt: return f(*reinterpret_cast<const int*>(at));
    case FieldKind::kInt64: return f(*reinterpret_cast<const int64_t*>(at));
    case FieldKind::kFloat: return f(*reinterpret_cast<const double*>(at));
    case FieldKind::kText: return f(*reinterpret_cast<const std::string*>(at));
    case FieldKind::kInts: return f(*reinterpret_cast<const std::vector<int64_t>*>(at));
    case FieldKind::kFloats: return f(*reinterpret_cast<const std::vector<double>*>(at));
    case FieldKind::kDType: return f(*reinterpret_cast<const DType*>(at));
    case FieldKind::kTensor: return f(*reinterpret_cast<const HostTensor*>(at));
    case FieldKind::kExprs: return f(*reinterpret_cast<const std::vector<sym::Expr>*>(at));
    case FieldKind::kEnum: break;
  }
  return f(field.enum_names[static_cast<size_t>(*reinterpret_cast<const int32_t*>(at))]);
}
template <class T>
T& member(const Field& field, void* object) {
  return *reinterpret_cast<T*>(static_cast<std::byte*>(object) + field.offset);
}
/// Bit equality: a NaN attribute equals itself, and 0 differs from -0.
bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return same_bits(a, b);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
  } else {
    return a == b;
  }
}
}  // namespace

bool fields_equal(std::span<const Field> fields, const void* a, const void* b) {
  for (const Field& field : fields) {
    const bool equal = visit_field(field, a, [&]<class T>(const T& x) {
      return visit_field(field, b, [&]<class U>(const U& y) {
        if constexpr (std::is_same_v<T, U>) return same(x, y);
        return false;
      });
    });
    if (!equal) return false;
  }
  return true;
}

namespace {
template <class T>
std::string text_of(const T& x) {
  return str(x);
}
std::string text_of(const std::vector<sym::Expr>& exprs) {
  std::string out = "[";
  for (const sym::Expr& e : exprs) {
    if (out.size() > 1) out += ", ";
    sym::append_exact(out, e);
  }
  return out + ']';
}
}  // namespace

Hash128 fields_hash(std::span<const Field> fields, const void* object) {
  Hash128 result = hash128(std::string_view("fields"));
  for (const Field& field : fields) {
    const Hash128 value = visit_field(field, object, []<class T>(const T& x) {
      if constexpr (std::is_same_v<T, HostTensor>)
        return hash128(x);
      else
        return hash128(std::string_view(text_of(x)));
    });
    result = combine(combine(result, hash128(field.name)), value);
  }
  return result;
}

namespace {
constexpr int64_t kShownElements = 8;
void append_tensor(std::string& out, const HostTensor& tensor) {
  append(out, str(tensor.dtype(), tensor.extents()));
  if (tensor.volume() > kShownElements) return append(out, "(...)");
  out += '(';
  const View view(tensor);
  for (int64_t i = 0; i < view.volume(); ++i) {
    if (i) out += ", ";
    is_float(view.dtype()) ? append(out, view[i]) : append(out, view.integer(i));
  }
  out += ')';
}
}  // namespace

void append_fields(std::string& out, std::span<const Field> fields, const void* object) {
  out += '{';
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i) out += ", ";
    out += fields[i].name;
    out += '=';
    visit_field(fields[i], object, [&]<class T>(const T& x) {
      if constexpr (std::is_same_v<T, HostTensor>)
        append_tensor(out, x);
      else
        out += text_of(x);
    });
  }
  out += '}';
}

Record fields_record(std::span<const Field> fields, const void* object) {
  Record record;
  for (const Field& field : fields) {
    visit_field(field, object, [&]<class T>(const T& x) {
      if constexpr (std::is_same_v<T, HostTensor>) {
        Record tensor;
        tensor.set("dtype", name_of(x.dtype())).set("extents", x.extents());
        tensor.set("data", Bytes(x.bytes().begin(), x.bytes().end()));
        record.set(field.name, std::move(tensor));
      } else if constexpr (std::is_same_v<T, DType>) {
        record.set(field.name, name_of(x));
      } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
        Datum::List texts;
        for (const sym::Expr& e : x) texts.push_back(Datum(sym::exact_text(e)));
        record.set(field.name, std::move(texts));
      } else {
        record.set(field.name, Datum(x));
      }
    });
  }
  return record;
}

namespace {
Status set_enum(const Field& field, void* object, const std::string& text) {
  for (size_t i = 0; i < field.enum_names.size(); ++i)
    if (field.enum_names[i] == text) return member<int32_t>(field, object) = static_cast<int32_t>(i), Status{};
  return error(Code::kCorrupt, "attribute '", field.name, "' has no value '", text, "'");
}
Result<DType> get_dtype(const Record& record, std::string_view name) {
  const std::string text = TRY(record.get_text(name));
  if (const auto dtype = dtype_named(text)) return *dtype;
  return error(Code::kCorrupt, "attribute '", name, "': no element type is called '", text, "'");
}
Result<HostTensor> get_tensor(const Record& record) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(TRY(get_dtype(record, "dtype")), TRY(record.get_ints("extents"))));
  const Bytes bytes = TRY(record.get_bytes("data"));
  if (bytes.size() != fresh.data.size())
    return error(Code::kCorrupt, "a tensor of ", fresh.data.size(), " bytes has ", bytes.size());
  std::copy(bytes.begin(), bytes.end(), fresh.data.begin());
  return fresh.tensor;
}
Status set_field(const Field& field, void* object, const Record& record) {
  switch (field.kind) {
    case FieldKind::kBool: member<bool>(field, object) = TRY(record.get_bool(field.name)); break;
    case FieldKind::kInt: member<int>(field, object) = static_cast<int>(TRY(record.get_int(field.name))); break;
    case FieldKind::kInt64: member<int64_t>(field, object) = TRY(record.get_int(field.name)); break;
    case FieldKind::kFloat: member<double>(field, object) = TRY(record.get_double(field.name)); break;
    case FieldKind::kText: member<std::string>(field, object) = TRY(record.get_text(field.name)); break;
    case FieldKind::kInts: member<std::vector<int64_t>>(field, object) = TRY(record.get_ints(field.name)); break;
    case FieldKind::kFloats: member<std::vector<double>>(field, object) = TRY(record.get_doubles(field.name)); break;
    case FieldKind::kEnum: return set_enum(field, object, TRY(record.get_text(field.name)));
    case FieldKind::kDType: member<DType>(field, object) = TRY(get_dtype(record, field.name)); break;
    case FieldKind::kTensor:
      member<HostTensor>(field, object) = TRY(get_tensor(TRY(record.get_record(field.name))));
      break;
    case FieldKind::kExprs:
      return error(Code::kUnsupported, "attribute '", field.name, "' holds expressions, which records do not restore");
  }
  return {};
}
}  // namespace

Status set_fields(std::span<const Field> fields, void* object, const Record& record) {
  for (const auto& [name, value] : record.entries()) {
    const Field* found = nullptr;
    for (const Field& field : fields)
      if (field.name == name) found = &field;
    if (!found) return error(Code::kCorrupt, "no attribute is called '", name, "'");
    TRY(set_field(*found, object, record));
  }
  return {};
}

}  // namespace kiln
