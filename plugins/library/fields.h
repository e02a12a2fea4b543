/// Attributes of a standard plugin, by name.
#pragma once

#include <NvInferRuntime.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace kiln::plugins {

namespace nv = nvinfer1;

/// Copies of those fields of a collection that a plugin knows; others are not looked at. Numbers of another type than
/// is asked for are converted where they stay the same: 2.0 is the integer 2. Reading fails for others, and where the
/// length is another.
class Fields {
 public:
  /// Fails for a null list, a field of some length without data, or one that is given twice.
  static Result<Fields> of(const nv::PluginFieldCollection* given, std::span<const nv::PluginField> known);
  /// What `serialize` wrote. Fails (kCorrupt) for other bytes.
  static Result<Fields> deserialize(std::span<const std::byte> bytes);
  size_t serialized_size() const;
  void serialize(std::byte* to) const;  ///< `serialized_size` bytes

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// A single integer of 64 bits at most.
  Result<int64_t> integer(std::string_view name) const;
  Result<int64_t> integer(std::string_view name, int64_t otherwise) const;
  /// The same, of a number that fits 32 bits; fails for others.
  Result<int32_t> int32(std::string_view name) const;
  Result<int32_t> int32(std::string_view name, int32_t otherwise) const;
  Result<bool> flag(std::string_view name, bool otherwise) const;
  /// A single number that 32 bits hold.
  Result<double> number(std::string_view name) const;
  Result<double> number(std::string_view name, double otherwise) const;
  /// As many as there are; empty where the field is absent. kDIMS are their extents.
  Result<std::vector<int64_t>> integers(std::string_view name) const;
  Result<std::vector<double>> numbers(std::string_view name) const;
  /// The same as floats: weights.
  Result<std::vector<float>> floats(std::string_view name) const;
  /// Without the zero behind it.
  Result<std::string> text(std::string_view name, std::string_view otherwise) const;

  /// For getFieldsToSerialize: borrowed from here.
  std::vector<nv::PluginField> views() const;

 private:
  struct Field {
    std::string name;
    nv::PluginFieldType type;
    int32_t length;
    std::vector<std::byte> data;
  };
  const Field* find(std::string_view name) const;
  /// "field 'n' has type kCHAR; the plugin needs kINT32".
  static std::string needs(const Field& field, nv::PluginFieldType wanted);
  static std::string shown(const Field& field, int32_t i);  ///< element i
  std::vector<Field> fields_;
};

struct Range {
  int64_t least, most;
};
/// A single integer, or `otherwise` where the field is absent. Fails outside of `range`.
Result<int64_t> integer_within(const Fields& fields, const char* name, int64_t otherwise, Range range);

/// The field image_size, or `otherwise` where it is absent: channels, a height and a width, or the latter two. Fails
/// unless there are as many as in `otherwise`, all above 0.
Result<std::vector<int64_t>> image_size(const Fields& fields, std::vector<int64_t> otherwise);

}  // namespace kiln::plugins
