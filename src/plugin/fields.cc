#include "plugin/fields.h"

#include <cstring>

#include "api/base/dims_bytes.h"

namespace kiln::plugin {
namespace {

Bytes data_of(const nvinfer1::PluginField& field, PluginFieldType type) {
  Bytes data(static_cast<size_t>(size_bytes(type, field.length)));
  if (type == PluginFieldType::kDims)
    api::copy_dims(data.data(), field.data, static_cast<size_t>(field.length));
  else if (!data.empty())
    std::memcpy(data.data(), field.data, data.size());
  return data;
}

}  // namespace

Result<std::vector<PluginField>> fields_from_api(const nvinfer1::PluginFieldCollection* fields) {
  if (!fields || fields->nbFields == 0) return std::vector<PluginField>();
  TRY(require(fields->nbFields > 0, "a collection of ", fields->nbFields, " fields; 0 or more are possible"));
  TRY(require(fields->fields != nullptr, "a collection of ", fields->nbFields, " fields whose list is null"));
  const auto num_types = static_cast<int32_t>(enum_names(PluginFieldType{}).size());
  std::vector<PluginField> result;
  for (int32_t i = 0; i < fields->nbFields; ++i) {
    const nvinfer1::PluginField& field = fields->fields[i];
    TRY(require(field.name != nullptr, "field ", i, " has no name"));
    const std::string name = field.name;
    const auto type = static_cast<int32_t>(field.type);
    TRY(require(type >= 0 && type < num_types, "field '", name, "' has type ", type, ", which is no PluginFieldType"));
    TRY(require(field.length >= 0, "field '", name, "' has length ", field.length));
    TRY(require(field.length == 0 || field.data, "field '", name, "' has ", field.length, " elements, and no data"));
    PluginField copy{.name = name, .type = static_cast<PluginFieldType>(type), .count = field.length, .data = {}};
    copy.data = data_of(field, copy.type);
    TRY(copy.check());
    result.push_back(std::move(copy));
  }
  return result;
}

FieldCollection::FieldCollection(std::span<const PluginField> fields) {
  const auto data_of = [&](const PluginField& field) -> const void* {
    if (field.type == PluginFieldType::kChar)
      return texts_.emplace_back(reinterpret_cast<const char*>(field.data.data()), field.data.size()).c_str();
    return field.data.empty() ? nullptr : field.data.data();
  };
  for (const PluginField& field : fields)
    fields_.emplace_back(field.name.c_str(), data_of(field), static_cast<nvinfer1::PluginFieldType>(field.type),
                         static_cast<int32_t>(field.count));
  collection_ = {static_cast<int32_t>(fields_.size()), fields_.data()};
}

}  // namespace kiln::plugin
