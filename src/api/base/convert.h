/// The public API's types as ours, and back.
#pragma once

#include <NvInferRuntime.h>

#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"
#include "tensor/format.h"

namespace kiln::api {

/// kF64 has no counterpart in the API: CHECKs.
nvinfer1::DataType to_api(DType type);
/// Fails for a number that is no DataType.
Result<DType> from_api(nvinfer1::DataType type);

/// Rank at most kMaxRank (CHECKs).
nvinfer1::Dims to_api(std::span<const int64_t> extents);
/// The API's answer where there are no dims: nbDims is -1.
nvinfer1::Dims no_dims();
/// Fails on a null reference, and if nbDims is outside [0, MAX_DIMS]. Extents are as given, -1 and worse included.
Result<Extents> from_api(const nvinfer1::Dims& dims);

/// The format that stores tensors of rank `rank` as `format` does. All but kLINEAR are of images (rank 4) or volumes
/// (rank 5); fails for another rank, and for the accelerator's formats, whose rows are padded.
Result<Format> from_api(nvinfer1::TensorFormat format, int rank);
/// The API's name of a tensor's order in memory; nothing where it has none.
std::optional<nvinfer1::TensorFormat> to_api(const Format& format, int rank);
/// "kLINEAR", ...; "TensorFormat(99)" for a number that is none.
std::string name_of(nvinfer1::TensorFormat format);
/// "kLINEAR, kHWC": those of a mask.
std::string names_of_formats(nvinfer1::TensorFormats formats);

/// Text of a Dims as given: "[1, 3, -1]".
std::string text(const nvinfer1::Dims& dims);

nvinfer1::ErrorCode to_api(Code code);
nvinfer1::ILogger::Severity to_api(Severity severity);

}  // namespace kiln::api
