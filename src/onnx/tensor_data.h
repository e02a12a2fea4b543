/// A TensorDef's elements, wherever the file keeps them: raw bytes, typed arrays, or another file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

/// Dense, row-major, little-endian; four-bit elements two a byte, the first in the low half; a BOOL is a byte, 0 or 1.
/// `bytes` may start at any address: copy elements out, or check the alignment before reading them in place.
struct TensorData {
  ElementType type = ElementType::kUndefined;
  std::vector<int64_t> dims;
  int64_t num_elements = 0;
  std::span<const std::byte> bytes;   ///< exactly as many as `num_elements` take
  std::shared_ptr<const void> owner;  ///< keeps `bytes`; null where the model's bytes are the caller's own
};

/// The product of `dims`. Fails if one is negative, or if it exceeds an int64_t.
Result<int64_t> count_elements(std::span<const int64_t> dims);

/// Raw and external bytes are not copied, nor are packed float and double arrays; other typed arrays are converted.
/// Fails if the bytes there are not exactly those that the dims need. Errors name the tensor, and the file if external.
Result<TensorData> tensor_data(const Model& model, const TensorDef& tensor);

/// The elements of a STRING tensor, as views into the model.
Result<std::vector<std::string_view>> tensor_strings(const TensorDef& tensor);

}  // namespace kiln::onnx
