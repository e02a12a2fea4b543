/// What adapters of several kinds of plugins share: how they ask Python for tactics, fields, texts, types.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <utility>
#include <vector>

#include "plugin_calls.h"
#include "plugin_fields.h"

namespace kiln::python {

constexpr size_t kNoSize = SIZE_MAX;  ///< of a workspace, where the method raised: no plugin can have that much
constexpr int32_t kNoInput = -2;      ///< of an aliased output, where the method raised; -1 says that it has none

/// The text of an attribute; null, once that is reported, where it has none.
const char* text_of(const PythonSide& side, const char* attribute, KeptText& kept) noexcept;
/// As above; null where the attribute is None.
const char* optional_text_of(const PythonSide& side, const char* attribute, KeptText& kept) noexcept;

inline nb::int_ address_of(const void* pointer) { return nb::int_(reinterpret_cast<uintptr_t>(pointer)); }

/// A plugin's core. `Base` is IPluginV3OneCore or IPluginV3QuickCore.
template <class Base>
class CorePart final : public Base {
 public:
  explicit CorePart(nb::object part) : side_(std::move(part)) {}

  nvinfer1::APILanguage getAPILanguage() const noexcept override { return nvinfer1::APILanguage::kPYTHON; }
  const char* getPluginName() const noexcept override { return text_of(side_, "plugin_name", name_); }
  const char* getPluginVersion() const noexcept override { return text_of(side_, "plugin_version", version_); }
  const char* getPluginNamespace() const noexcept override { return text_of(side_, "plugin_namespace", namespace_); }

 private:
  const PythonSide side_;
  mutable KeptText name_, version_, namespace_;
};

/// Writes the list of as many DataTypes that a method returned. Throws what is wrong with it.
void write_types(nb::handle result, nvinfer1::DataType* types, int32_t count);

/// C++ asks for the number of tactics, then for them; Python tells them in one call.
class TacticList {
 public:
  int32_t count(const PythonSide& side) noexcept;
  int32_t write(int32_t* tactics, int32_t count) const noexcept;

 private:
  std::vector<int32_t> tactics_;
};

/// The fields that Python gave last, which C++ reads after the call.
class KeptFields {
 public:
  KeptFields() = default;
  KeptFields(const KeptFields&) = delete;
  KeptFields& operator=(const KeptFields&) = delete;
  ~KeptFields();
  /// What get_fields_to_serialize returns; a collection that is none, once that is reported, where it raises.
  const nvinfer1::PluginFieldCollection* to_serialize(const PythonSide& side) noexcept;
  /// The field_names of a creator.
  const nvinfer1::PluginFieldCollection* names(const PythonSide& side) noexcept;

 private:
  std::unique_ptr<FieldList> fields_;
};

}  // namespace kiln::python
