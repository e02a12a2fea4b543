/// Reads a Model from the bytes of an ONNX file (a ModelProto). Only numbers are copied; the bytes are not believed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

struct ReadOptions {
  std::string folder;                 ///< where external data lies; empty: a tensor that needs any is an error
  std::shared_ptr<const void> owner;  ///< of the bytes; null: the caller keeps them as long as the model
};

/// Subgraphs and types may nest this deep.
inline constexpr int kMaxNesting = 64;

/// Checks the format only: names, order and versions are check.h's, a tensor's elements tensor_data.h's.
/// Errors say in which graph, node and attribute, and at which byte.
Result<std::shared_ptr<const Model>> read_model(std::span<const std::byte> bytes, ReadOptions options = {});

/// Maps the file at `path`; external data lies in its folder.
Result<std::shared_ptr<const Model>> read_model_file(const std::string& path);

/// The folder that external data of the model at `path` lies in.
std::string folder_of(const std::string& path);

/// A lone TensorProto (ONNX's test data files) as a model's only initializer.
Result<std::shared_ptr<const Model>> read_tensor(std::span<const std::byte> bytes, ReadOptions options = {});

}  // namespace kiln::onnx
