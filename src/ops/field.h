/// An op's attributes as data: `reflect` builds a table of fields once an op, and equality, hashing, printing and
/// records are plain functions over that table (a visitor an op compiles five times slower).
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/record.h"
#include "sym/expr.h"
#include "tensor/dtype.h"
#include "tensor/host_tensor.h"

namespace kiln {

enum class FieldKind : uint8_t { kBool, kInt, kInt64, kFloat, kText, kInts, kFloats, kEnum, kDType, kTensor, kExprs };

/// One attribute: its name, what it is and where it lies in the op's struct.
struct Field {
  std::string_view name;
  FieldKind kind;
  size_t offset;
  std::span<const std::string_view> enum_names;  ///< of a kEnum, by value from 0
};

/// An attribute enum: int32_t underneath, values from 0, and `enum_names(E)` found by argument-dependent lookup.
template <class E>
concept AttributeEnum = std::is_enum_v<E> && std::same_as<std::underlying_type_t<E>, int32_t> && requires(E e) {
  { enum_names(e) } -> std::convertible_to<std::span<const std::string_view>>;
};
template <AttributeEnum E>
void append(std::string& out, E e) {
  out += enum_names(e)[static_cast<size_t>(e)];
}
namespace ops {
using kiln::append;  // where argument-dependent lookup finds it for the enums of ops
}

template <class T>
constexpr FieldKind field_kind() {
  if constexpr (std::same_as<T, bool>)
    return FieldKind::kBool;
  else if constexpr (std::same_as<T, int>)
    return FieldKind::kInt;
  else if constexpr (std::same_as<T, int64_t>)
    return FieldKind::kInt64;
  else if constexpr (std::same_as<T, double>)
    return FieldKind::kFloat;
  else if constexpr (std::same_as<T, std::string>)
    return FieldKind::kText;
  else if constexpr (std::same_as<T, std::vector<int64_t>>)
    return FieldKind::kInts;
  else if constexpr (std::same_as<T, std::vector<double>>)
    return FieldKind::kFloats;
  else if constexpr (std::same_as<T, DType>)
    return FieldKind::kDType;
  else if constexpr (std::same_as<T, HostTensor>)
    return FieldKind::kTensor;
  else if constexpr (std::same_as<T, std::vector<sym::Expr>>)
    return FieldKind::kExprs;
  else {
    static_assert(AttributeEnum<T>,
                  "an attribute is bool, int, int64_t, double, text, a vector of int64_t, double or "
                  "sym::Expr, DType, HostTensor or an enum with enum_names");
    return FieldKind::kEnum;
  }
}

/// The fields of T in the order of its `reflect`.
template <class T>
std::vector<Field> fields_of() {
  std::vector<Field> fields;
  T sample;
  T::reflect(sample, [&](std::string_view name, auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    std::span<const std::string_view> names;
    if constexpr (AttributeEnum<Member>) names = enum_names(member);
    const auto offset = reinterpret_cast<const std::byte*>(&member) - reinterpret_cast<const std::byte*>(&sample);
    fields.push_back({name, field_kind<Member>(), static_cast<size_t>(offset), names});
  });
  return fields;
}

bool fields_equal(std::span<const Field> fields, const void* a, const void* b);
Hash128 fields_hash(std::span<const Field> fields, const void* object);
/// "{axis=1, mode=same}"; large tensors are abbreviated.
void append_fields(std::string& out, std::span<const Field> fields, const void* object);
/// Tensors become {dtype, extents, data}; expressions their text.
Record fields_record(std::span<const Field> fields, const void* object);
/// Sets the fields that the record names; unknown names and wrong kinds are errors. Expressions cannot be read back.
Status set_fields(std::span<const Field> fields, void* object, const Record& record);

}  // namespace kiln
