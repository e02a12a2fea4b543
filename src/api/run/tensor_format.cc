#include "api/run/tensor_format.h"

#include "api/base/convert.h"

namespace kiln::api {

Result<nvinfer1::TensorFormat> format_of(const plan::IoTensor& tensor) {
  if (const auto named = to_api(tensor.format, static_cast<int>(tensor.extents.size()))) return *named;
  return error(Code::kUnsupported, "tensor '", tensor.name, "': no TensorFormat is named like ", tensor.format);
}

namespace {

/// TensorRT's name for the type. Programs search for these words, so they must stay as they are, irregular ones too.
std::string type_words(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "FP32";
    case DType::kF16: return "FP16";
    case DType::kBF16: return "BFloat16";
    case DType::kF8E4M3: return "FP8";
    case DType::kF4E2M1: return "FP4";
    case DType::kI4: return "Int4";
    case DType::kI8: return "Int8";
    case DType::kI32: return "Int32";
    case DType::kI64: return "Int64";
    case DType::kU8: return "UInt8";
    case DType::kBool: return "BOOL";
    default: return str(dtype);
  }
}

std::string number_word(int64_t number) {
  switch (number) {
    case 2: return "Two";
    case 4: return "Four";
    case 16: return "Sixteen";
    case 32: return "Thirty-two";
    default: return str(number);
  }
}

}  // namespace

std::string describe_format(const Format& format, DType dtype, int rank) {
  const std::string type = type_words(dtype);
  const auto named = to_api(format, rank);
  const std::string_view spatial = rank == 5 ? " with 3 spatial dimensions" : "";
  if (format.is_linear()) {
    const bool is_short = dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kBool;
    return dtype == DType::kI8 ? "Row major Int8 format" : str("Row major linear ", type, is_short ? "" : " format");
  }
  if (!named) return str("Permuted ", type, " format ", format.text());
  if (!format.is_blocked()) return str("Channel major ", type, " format", spatial);
  const bool channels_last = format.axis_at(rank - 1) == format.block_axis();
  if (channels_last) return str("Channel major ", type, " format where channel % ", format.block(), " == 0", spatial);
  return str(number_word(format.block()), " wide channel vectorized row major ", type, " format", spatial);
}

std::string describe_format(const plan::IoTensor& tensor) {
  const auto rank = static_cast<int>(tensor.extents.size());
  const auto named = to_api(tensor.format, rank);
  const std::string name = named ? name_of(*named) : tensor.format.text();
  if (tensor.format.is_linear()) return str("Row major linear ", type_words(tensor.dtype), " format (", name, ")");
  return str(describe_format(tensor.format, tensor.dtype, rank), " (", name, ")");
}

Extents api_strides(const Format& format, std::span<const int64_t> extents) {
  Extents in_vectors(extents.begin(), extents.end());
  if (format.is_blocked()) {
    int64_t& split = in_vectors[static_cast<size_t>(format.block_axis())];
    split = (split + format.block() - 1) / format.block();
  }
  Extents strides(extents.size());
  int64_t stride = 1;
  for (int position = static_cast<int>(extents.size()); position-- > 0;) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    strides[axis] = stride;
    stride *= in_vectors[axis];
  }
  return strides;
}

}  // namespace kiln::api
