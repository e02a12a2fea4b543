/// Tensors as files: raw, for numpy, as text, and a summary in numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "NvInferRuntimeBase.h"

namespace kiln::cli::trtexec {

/// A tensor in the host's memory, row-major.
struct TensorData {
  std::string name;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  std::vector<int64_t> extents;
  std::vector<char> bytes;
  int64_t count() const;
};

/// The bytes of an .npy file (format 1.0). Types that numpy has not are converted: bf16, fp8, fp4 and e8m0 to float32,
/// int4 to int8.
std::string numpy_file(const TensorData& tensor);
/// All elements, a line for each row, in brackets as numpy prints them.
std::string text_file(const TensorData& tensor);

/// An entry of the summary: name, shape, type, extremes, mean, and the first and last elements; `files` are those that
/// the tensor was written to, by kind.
std::string summary_entry(const TensorData& tensor, const std::vector<std::pair<std::string, std::string>>& files);

/// A name of a file that shows where a tensor's value is among all: "0007_conv1_output.npy". What is no letter, digit,
/// '-', '.' or '_' becomes '_'; a long name loses its end.
std::string numbered_file(int index, std::string_view name, std::string_view ending);

}  // namespace kiln::cli::trtexec
