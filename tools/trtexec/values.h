/// Elements of tensors: their size, random ones, and as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "NvInferRuntimeBase.h"

namespace kiln::cli::trtexec {

std::string_view type_name(nvinfer1::DataType type);  ///< "fp32"

int64_t size_bytes(nvinfer1::DataType type, int64_t count);  ///< of elements that lie densely

/// Floats in [-1, 1); integers that are 0 or 1, since they may be indices, masks or lengths. The same ones in every
/// run.
void fill_random(void* data, nvinfer1::DataType type, int64_t count, uint64_t seed);

/// Element `index` as a number; integers beyond 2^53 lose digits.
double number_of(const void* data, nvinfer1::DataType type, int64_t index);

/// How elements that are no finite numbers are written: NaN as it stands, or as a text that JSON takes, "NaN".
enum class Notation : uint8_t { kPlain, kJson };

/// Elements first to last - 1, with separators between them; their numbers read back as the same.
void append_values(std::string& out, const void* data, nvinfer1::DataType type, int64_t first, int64_t last,
                   std::string_view separator, Notation notation = Notation::kPlain);

}  // namespace kiln::cli::trtexec
