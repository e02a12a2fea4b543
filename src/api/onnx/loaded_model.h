/// A model as programs hand it to a parser: bytes or a file, and weights supplied beside it.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::api {

/// Reads a copy of the bytes, since programs free theirs. `path` (or null) is a file whose folder has external data.
Result<std::shared_ptr<const onnx::Model>> load_model(const void* bytes, size_t size, const char* path);
/// Reads a file through a memory map.
Result<std::shared_ptr<const onnx::Model>> load_model_file(const char* path);
/// The model with the elements of an initializer replaced by the program's, which must live until it is parsed.
Result<std::shared_ptr<const onnx::Model>> with_initializer(const onnx::Model& model, const char* name,
                                                            const void* data, size_t size);

}  // namespace kiln::api
