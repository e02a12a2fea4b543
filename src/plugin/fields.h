/// Attributes of plugins between the API's form and a plan's.
#pragma once

#include <NvInferRuntime.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// Copies of a collection's fields. Fails for a null list, a type that is none, a negative length, or a field of some
/// length without data.
Result<std::vector<PluginField>> fields_from_api(const nvinfer1::PluginFieldCollection* fields);

/// A collection of fields, which it borrows. Behind a field of kCHAR there is a zero that its length does not count:
/// plugins read some as strings of C.
class FieldCollection {
 public:
  explicit FieldCollection(std::span<const PluginField> fields);
  const nvinfer1::PluginFieldCollection& collection() const { return collection_; }

 private:
  std::deque<std::string> texts_;  ///< which stay where they are
  std::vector<nvinfer1::PluginField> fields_;
  nvinfer1::PluginFieldCollection collection_;
};

}  // namespace kiln::plugin
