/// Structs as data. A struct names its fields once, in a static function `reflect`:
///
///   struct Softmax {
///     int axis = 0;
///     static void reflect(auto& self, auto f) { f("axis", self.axis); }
///   };
///
/// A table of fields is made from it, and equality, hashes, text and records are plain functions over that table (a
/// visitor a struct compiles five times slower).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/record.h"

namespace kiln {

/// Names a type, for overloads of `field_type`.
template <class T>
struct Tag {};

/// How values of one type are written as data. A type gets one by an overload of `field_type` in its own namespace.
class FieldType {
 public:
  virtual ~FieldType() = default;
  virtual Datum to_datum(const void* value) const = 0;
  virtual Status from_datum(void* value, const Datum& datum) const = 0;  ///< kCorrupt: another kind, out of range
  virtual void append(std::string& out, const void* value) const = 0;
  virtual bool equal(const void* a, const void* b) const = 0;
  virtual Hash128 hash(const void* value) const;  ///< of the text, unless a type says otherwise
  /// Whether a record leaves this value out.
  virtual bool is_absent(const void* value) const { return static_cast<void>(value), false; }
  virtual bool may_be_absent() const { return false; }
};

/// One field: its name, its type and where it lies in the struct.
struct Field {
  std::string_view name;
  const FieldType* type;
  size_t offset;

  const void* in(const void* object) const { return static_cast<const std::byte*>(object) + offset; }
  void* in(void* object) const { return static_cast<std::byte*>(object) + offset; }
};

bool fields_equal(std::span<const Field> fields, const void* a, const void* b);
Hash128 fields_hash(std::span<const Field> fields, const void* object);
/// "{axis=1, mode=same}"; large tensors are abbreviated.
void append_fields(std::string& out, std::span<const Field> fields, const void* object);
Record fields_record(std::span<const Field> fields, const void* object);
/// Sets the fields that the record names; unknown names and wrong kinds are errors (kCorrupt).
Status set_fields(std::span<const Field> fields, void* object, const Record& record);
/// The same, and a field that the record lacks is an error unless it may be absent.
Status set_all_fields(std::span<const Field> fields, void* object, const Record& record);

/// A struct with `reflect`.
template <class T>
concept Reflected = requires(T& object) {
  T::reflect(object, [](std::string_view, auto&) {});
};

/// An enum of fields: values from 0, and `enum_names(E)`, by value, found by argument-dependent lookup.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { enum_names(e) } -> std::convertible_to<std::span<const std::string_view>>;
};
template <NamedEnum E>
void append(std::string& out, E e) {
  out += enum_names(e)[static_cast<size_t>(e)];
}
namespace ops {
using kiln::append;  // where argument-dependent lookup finds it for the enums of ops
}

const FieldType& field_type(Tag<bool>);
const FieldType& field_type(Tag<int>);
const FieldType& field_type(Tag<int64_t>);
const FieldType& field_type(Tag<double>);
const FieldType& field_type(Tag<std::string>);
const FieldType& field_type(Tag<std::vector<int>>);
const FieldType& field_type(Tag<std::vector<int64_t>>);
const FieldType& field_type(Tag<std::vector<double>>);
const FieldType& field_type(Tag<Bytes>);
const FieldType& field_type(Tag<Record>);  ///< data that only its reader knows
template <NamedEnum E>
const FieldType& field_type(Tag<E>);
template <Reflected T>
const FieldType& field_type(Tag<T>);
template <class T>
const FieldType& field_type(Tag<std::optional<T>>);  ///< a record leaves an empty one out
template <class T>
const FieldType& field_type(Tag<std::vector<T>>);
template <class T, size_t kSize>
const FieldType& field_type(Tag<std::array<T, kSize>>);

/// The fields of T in the order of its `reflect`.
template <Reflected T>
std::span<const Field> fields_of() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> result;
    T sample;
    T::reflect(sample, [&]<class Member>(std::string_view name, Member& member) {
      const auto offset = reinterpret_cast<const std::byte*>(&member) - reinterpret_cast<const std::byte*>(&sample);
      result.push_back({name, &field_type(Tag<Member>{}), static_cast<size_t>(offset)});
    });
    return result;
  }();
  return fields;
}

/// Whether a field is of type T.
template <class T>
bool holds(const Field& field) {
  return field.type == &field_type(Tag<T>{});
}

template <Reflected T>
Record to_record(const T& object) {
  return fields_record(fields_of<T>(), &object);
}
/// Checks a struct's own demands on its fields: its member `Status check() const`, if it has one.
template <Reflected T>
Status check_fields(const T& object) {
  if constexpr (requires { object.check(); }) return object.check();
  return {};
}
/// The struct that `to_record` wrote. Fails if the record is of another struct, or if a struct's `check` does.
template <Reflected T>
Result<T> from_record(const Record& record) {
  T object;
  TRY(set_all_fields(fields_of<T>(), &object, record));
  TRY(check_fields(object));
  return object;
}

/// An enum of at most 32 bits, as its name.
class EnumFieldType final : public FieldType {
 public:
  EnumFieldType(std::span<const std::string_view> names, size_t num_bytes) : names_(names), num_bytes_(num_bytes) {}
  Datum to_datum(const void* value) const override;
  Status from_datum(void* value, const Datum& datum) const override;
  void append(std::string& out, const void* value) const override;
  bool equal(const void* a, const void* b) const override;

 private:
  size_t index(const void* value) const;

  std::span<const std::string_view> names_;
  size_t num_bytes_;
};

/// A struct in a struct: a nested record.
class StructFieldType final : public FieldType {
 public:
  StructFieldType(std::span<const Field> fields, Status (*check)(const void* object))
      : fields_(fields), check_(check) {}
  Datum to_datum(const void* value) const override;
  Status from_datum(void* value, const Datum& datum) const override;
  void append(std::string& out, const void* value) const override;
  bool equal(const void* a, const void* b) const override;
  Hash128 hash(const void* value) const override;

 private:
  std::span<const Field> fields_;
  Status (*check_)(const void* object);
};

/// An optional, a vector or an array, as its field type sees it: some elements.
struct Elements {
  size_t (*size)(const void* container);
  const void* (*at)(const void* container, size_t i);
  /// Keeps the first `size` elements, or adds such of default value, and returns the first; null where that many cannot
  /// be.
  void* (*resize)(void* container, size_t size);
};

/// A value that may be absent.
class OptionalFieldType final : public FieldType {
 public:
  OptionalFieldType(const FieldType& element, Elements access) : element_(element), access_(access) {}
  Datum to_datum(const void* value) const override;
  Status from_datum(void* value, const Datum& datum) const override;
  void append(std::string& out, const void* value) const override;
  bool equal(const void* a, const void* b) const override;
  Hash128 hash(const void* value) const override;
  bool is_absent(const void* value) const override { return access_.size(value) == 0; }
  bool may_be_absent() const override { return true; }

 private:
  const FieldType& element_;
  Elements access_;
};

/// A list of values of one type.
class ListFieldType final : public FieldType {
 public:
  ListFieldType(const FieldType& element, size_t element_bytes, Elements access)
      : element_(element), element_bytes_(element_bytes), access_(access) {}
  Datum to_datum(const void* value) const override;
  Status from_datum(void* value, const Datum& datum) const override;
  void append(std::string& out, const void* value) const override;
  bool equal(const void* a, const void* b) const override;
  Hash128 hash(const void* value) const override;

 private:
  const FieldType& element_;
  size_t element_bytes_;
  Elements access_;
};

/// A T that is written as a Written.
template <class T, class Written>
class ConvertedFieldType final : public FieldType {
 public:
  ConvertedFieldType(Written (*to)(const T&), Result<T> (*from)(const Written&)) : to_(to), from_(from) {}
  Datum to_datum(const void* value) const override {
    const Written written = to(value);
    return type_.to_datum(&written);
  }
  Status from_datum(void* value, const Datum& datum) const override {
    Written written;
    TRY(type_.from_datum(&written, datum));
    *static_cast<T*>(value) = TRY(from_(written));
    return {};
  }
  void append(std::string& out, const void* value) const override {
    const Written written = to(value);
    type_.append(out, &written);
  }
  bool equal(const void* a, const void* b) const override {
    const Written x = to(a), y = to(b);
    return type_.equal(&x, &y);
  }
  Hash128 hash(const void* value) const override {
    const Written written = to(value);
    return type_.hash(&written);
  }

 private:
  Written to(const void* value) const { return to_(*static_cast<const T*>(value)); }

  Written (*to_)(const T&);
  Result<T> (*from_)(const Written&);
  const FieldType& type_ = field_type(Tag<Written>{});
};

template <NamedEnum E>
const FieldType& field_type(Tag<E>) {
  static_assert(sizeof(E) <= sizeof(int32_t));
  static const EnumFieldType type(enum_names(E{}), sizeof(E));
  return type;
}
template <Reflected T>
const FieldType& field_type(Tag<T>) {
  static const StructFieldType type(fields_of<T>(),
                                    [](const void* object) { return check_fields(*static_cast<const T*>(object)); });
  return type;
}
template <class T>
const FieldType& field_type(Tag<std::optional<T>>) {
  using Optional = std::optional<T>;
  static const OptionalFieldType type(
      field_type(Tag<T>{}),
      {.size = [](const void* o) -> size_t { return static_cast<const Optional*>(o)->has_value(); },
       .at = [](const void* o, size_t) -> const void* { return &**static_cast<const Optional*>(o); },
       .resize = [](void* o, size_t size) -> void* {
         auto& optional = *static_cast<Optional*>(o);
         if (size == 0) return optional.reset(), nullptr;
         return &optional.emplace();
       }});
  return type;
}
template <class T>
const FieldType& field_type(Tag<std::vector<T>>) {
  using Vector = std::vector<T>;
  static const ListFieldType type(
      field_type(Tag<T>{}), sizeof(T),
      {.size = [](const void* v) { return static_cast<const Vector*>(v)->size(); },
       .at = [](const void* v, size_t i) -> const void* { return &(*static_cast<const Vector*>(v))[i]; },
       .resize = [](void* v, size_t size) -> void* {
         auto& vector = *static_cast<Vector*>(v);
         vector.resize(size);
         return vector.data();
       }});
  return type;
}
template <class T, size_t kSize>
const FieldType& field_type(Tag<std::array<T, kSize>>) {
  using Array = std::array<T, kSize>;
  static const ListFieldType type(
      field_type(Tag<T>{}), sizeof(T),
      {.size = [](const void*) { return kSize; },
       .at = [](const void* a, size_t i) -> const void* { return &(*static_cast<const Array*>(a))[i]; },
       .resize = [](void* a, size_t size) -> void* {
         auto& array = *static_cast<Array*>(a);
         if (size == 0) array = Array{};
         return size <= kSize ? array.data() : nullptr;
       }});
  return type;
}

}  // namespace kiln
