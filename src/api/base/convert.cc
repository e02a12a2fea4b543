#include "api/base/convert.h"

#include <algorithm>

#include "base/address_of.h"
#include "tensor/named_format.h"

namespace kiln::api {

using nvinfer1::DataType;
using nvinfer1::Dims;
using nvinfer1::TensorFormat;

DataType to_api(DType type) {
  CHECK(type != DType::kF64);
  return static_cast<DataType>(type);
}

Result<DType> from_api(DataType type) {
  const auto number = static_cast<int32_t>(type);
  TRY(require(number >= 0 && number < nvinfer1::EnumMax<DataType>(), "DataType(", number, ") is not a data type"));
  return static_cast<DType>(number);
}

Dims to_api(std::span<const int64_t> extents) {
  CHECK(extents.size() <= Dims::MAX_DIMS);
  Dims dims{static_cast<int32_t>(extents.size()), {}};
  std::copy(extents.begin(), extents.end(), dims.d);
  return dims;
}

Dims no_dims() { return Dims{-1, {}}; }

Result<Extents> from_api(const Dims& dims) {
  TRY(require(address_of(dims) != nullptr, "the dimensions are null"));
  TRY(require(dims.nbDims >= 0 && dims.nbDims <= Dims::MAX_DIMS, "nbDims is ", dims.nbDims, ", outside [0, ",
              int{Dims::MAX_DIMS}, "]"));
  return Extents(dims.d, dims.d + dims.nbDims);
}

Result<Format> from_api(TensorFormat format, int rank) {
  TRY(require(format_name(static_cast<int>(format)).has_value(), name_of(format), " is not a format"));
  return named_format(static_cast<int>(format), rank);
}

std::optional<TensorFormat> to_api(const Format& format, int rank) {
  const std::optional<int> number = number_of(format, rank);
  return number ? std::optional(static_cast<TensorFormat>(*number)) : std::nullopt;
}

std::string name_of(TensorFormat format) {
  const auto number = static_cast<int>(format);
  const std::optional<std::string_view> name = format_name(number);
  return name ? std::string(*name) : str("TensorFormat(", number, ")");
}

std::string names_of_formats(nvinfer1::TensorFormats formats) {
  std::string names;
  for (int bit = 0; bit < 32; ++bit)
    if ((formats >> bit) & 1U) names += str(names.empty() ? "" : ", ", name_of(static_cast<TensorFormat>(bit)));
  return names.empty() ? "none" : names;
}

std::string text(const Dims& dims) {
  const int shown = std::clamp<int>(dims.nbDims, 0, Dims::MAX_DIMS);
  std::string result = str(std::span<const int64_t>(dims.d, static_cast<size_t>(shown)));
  if (shown != dims.nbDims) result += str(" with nbDims ", dims.nbDims);
  return result;
}

nvinfer1::ErrorCode to_api(Code code) {
  using nvinfer1::ErrorCode;
  switch (code) {
    case Code::kInvalidArgument: return ErrorCode::kINVALID_ARGUMENT;
    case Code::kUnsupported: return ErrorCode::kUNSUPPORTED_STATE;
    case Code::kCorrupt: return ErrorCode::kINVALID_ARGUMENT;
    case Code::kVersion: return ErrorCode::kINVALID_CONFIG;
    case Code::kNotFound: return ErrorCode::kINVALID_ARGUMENT;
    case Code::kState: return ErrorCode::kINVALID_STATE;
    case Code::kOutOfMemory: return ErrorCode::kFAILED_ALLOCATION;
    case Code::kIo: return ErrorCode::kUNSPECIFIED_ERROR;
    case Code::kDevice: return ErrorCode::kFAILED_EXECUTION;
    case Code::kInternal: return ErrorCode::kINTERNAL_ERROR;
  }
  return ErrorCode::kUNSPECIFIED_ERROR;
}

nvinfer1::ILogger::Severity to_api(Severity severity) { return static_cast<nvinfer1::ILogger::Severity>(severity); }

}  // namespace kiln::api
