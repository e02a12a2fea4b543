/// --inputIOFormats and --outputIOFormats: types and memory formats of a network's inputs or outputs.
#pragma once

#include <string_view>
#include <vector>

#include "NvInferRuntime.h"

namespace kiln::cli::trtexec {

inline constexpr std::string_view kInputFormats = "--inputIOFormats", kOutputFormats = "--outputIOFormats";

struct IoFormat {
  nvinfer1::DataType type;
  nvinfer1::TensorFormats formats;  ///< bits, by nvinfer1::TensorFormat
};

/// "fp16". Fails with the name and those that there are.
nvinfer1::DataType parse_type(std::string_view name, std::string_view flag);

/// "fp16:chw,int32:chw+hwc8": an entry a tensor, in the network's order. Fails with the entry and what is wrong with
/// it.
std::vector<IoFormat> parse_io_formats(std::string_view list, std::string_view flag);

/// The entry of tensor `index` of `count`: one entry stands for all.
const IoFormat& format_of(const std::vector<IoFormat>& formats, int index, int count, std::string_view flag);

}  // namespace kiln::cli::trtexec
