/// A model as programs hand it to a parser: bytes or a file, and weights supplied beside it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::api {

/// Reads a copy of the bytes, since programs free theirs. `path` (or null) is a file whose folder has external data.
Result<std::shared_ptr<const onnx::Model>> load_model(const void* bytes, size_t size, const char* path);
/// Reads a file through a memory map.
Result<std::shared_ptr<const onnx::Model>> load_model_file(const char* path);

/// A model whose initializers a program supplies, one by one, before it is parsed.
class SuppliedModel {
 public:
  explicit SuppliedModel(std::shared_ptr<const onnx::Model> model);
  const std::shared_ptr<const onnx::Model>& model() const { return model_; }
  /// Replaces the elements of an initializer by the program's, which must live until the model is parsed.
  Status supply(const char* name, const void* data, size_t size);
  bool is_supplied() const { return own_ != nullptr; }

 private:
  std::shared_ptr<const onnx::Model> model_;
  std::shared_ptr<onnx::Model> own_;                      ///< the same, once it was copied to be changed
  std::unordered_map<std::string_view, size_t> by_name_;  ///< of initializers, the first of a name
};

}  // namespace kiln::api
