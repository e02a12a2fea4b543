#include "api/base/convert.h"

#include <algorithm>
#include <array>

#include "base/address_of.h"

namespace kiln::api {

using nvinfer1::DataType;
using nvinfer1::Dims;
using nvinfer1::TensorFormat;

namespace {

struct FormatRow {
  std::string_view name;
  int block;           // 1: unblocked
  bool channels_last;  // else channels stay in front of the image
  int rank;            // 0: the accelerator's
};
/// Rows by TensorFormat's value; kLINEAR fits any rank.
constexpr std::array<FormatRow, 13> kFormats{{{"kLINEAR", 1, false, -1},
                                              {"kCHW2", 2, false, 4},
                                              {"kHWC8", 8, true, 4},
                                              {"kCHW4", 4, false, 4},
                                              {"kCHW16", 16, false, 4},
                                              {"kCHW32", 32, false, 4},
                                              {"kDHWC8", 8, true, 5},
                                              {"kCDHW32", 32, false, 5},
                                              {"kHWC", 1, true, 4},
                                              {"kDLA_LINEAR", 1, false, 0},
                                              {"kDLA_HWC4", 4, true, 0},
                                              {"kHWC16", 16, true, 4},
                                              {"kDHWC", 1, true, 5}}};

}  // namespace

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
  const auto number = static_cast<int32_t>(format);
  TRY(require(number >= 0 && number < static_cast<int32_t>(kFormats.size()), name_of(format), " is not a format"));
  const FormatRow& row = kFormats[static_cast<size_t>(number)];
  if (row.rank == 0)
    return error(Code::kUnsupported, "format ", row.name, " is for an accelerator that Kiln does not have");
  if (format == TensorFormat::kLINEAR) return Format::linear();
  if (row.rank != rank)
    return error(Code::kUnsupported, "format ", row.name, " is of tensors of rank ", row.rank, ", this one has rank ",
                 rank);
  const Format order = row.channels_last ? Format::channels_last(rank) : Format::linear();
  return row.block > 1 ? order.blocked(1, row.block) : order;
}

std::optional<TensorFormat> to_api(const Format& format, int rank) {
  if (format.is_linear()) return TensorFormat::kLINEAR;
  for (size_t i = 1; i < kFormats.size(); ++i) {
    const Result<Format> candidate = from_api(static_cast<TensorFormat>(i), rank);
    if (candidate && *candidate == format) return static_cast<TensorFormat>(i);
  }
  return std::nullopt;
}

std::string name_of(TensorFormat format) {
  const auto number = static_cast<int32_t>(format);
  if (number < 0 || number >= static_cast<int32_t>(kFormats.size())) return str("TensorFormat(", number, ")");
  return std::string(kFormats[static_cast<size_t>(number)].name);
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
