#include "api/onnx/loaded_model.h"

#include <cstring>
#include <vector>

#include "onnx/dtypes.h"
#include "onnx/reader.h"
#include "tensor/extents.h"

namespace kiln::api {

Result<std::shared_ptr<const onnx::Model>> load_model(const void* bytes, size_t size, const char* path) {
  TRY(require(bytes != nullptr, "the model is null"));
  const auto* const first = static_cast<const std::byte*>(bytes);
  const auto copy = std::make_shared<const std::vector<std::byte>>(first, first + size);
  return onnx::read_model(*copy, {.folder = path && *path ? onnx::folder_of(path) : std::string(), .owner = copy});
}

Result<std::shared_ptr<const onnx::Model>> load_model_file(const char* path) {
  TRY(require(path != nullptr, "the file name is null"));
  return onnx::read_model_file(path);
}

SuppliedModel::SuppliedModel(std::shared_ptr<const onnx::Model> model) : model_(std::move(model)) {
  const auto& initializers = model_->graph.initializers;
  for (size_t i = 0; i < initializers.size(); ++i) by_name_.emplace(initializers[i].name, i);
}

Status SuppliedModel::supply(const char* name, const void* data, size_t size) {
  TRY(require(name && data, name ? "the data is null" : "the name is null"));
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return error(Code::kNotFound, "the model has no initializer '", name, "'");
  const onnx::TensorDef& known = model_->graph.initializers[found->second];
  const DType dtype = TRY(onnx::need_dtype(known.type));
  const int64_t needed = size_bytes(dtype, TRY(checked_volume(known.dims)));
  TRY(require(static_cast<uint64_t>(needed) == size, "initializer '", name, "' (", dtype, known.dims, ") has ", needed,
              " bytes; ", size, " were given"));
  if (!own_) model_ = own_ = std::make_shared<onnx::Model>(*model_);
  onnx::TensorDef& tensor = own_->graph.initializers[found->second];
  tensor.raw_data = std::span(static_cast<const std::byte*>(data), size);
  tensor.external.reset();
  return {};
}

}  // namespace kiln::api
