/// Debug tensors of a run as files.
#pragma once

#include <string>
#include <vector>

#include "NvInferRuntime.h"
#include "options.h"
#include "tensor_files.h"

namespace kiln::cli::trtexec {

class Log;

/// Writes each value that it is shown: to the file of --saveDebugTensors, of values in a loop the last one; and in the
/// formats of --saveAllDebugTensors to files in the current folder, numbered in the order of the values.
class DebugWriter final : public nvinfer1::IDebugListener {
 public:
  DebugWriter(const DebugTensorOptions& options, std::string engine_name)
      : options_(options), engine_name_(std::move(engine_name)) {}
  bool processDebugTensor(void const* address, nvinfer1::TensorLocation location, nvinfer1::DataType type,
                          nvinfer1::Dims const& shape, char const* name, cudaStream_t stream) override;
  /// Writes the summary, if that is wanted. Fails where a file could not be written.
  void finish(Log& log);
  /// Fails where all debug tensors were asked for and the run has shown none.
  void require_values() const;

 private:
  void write(const TensorData& tensor);
  bool wants(std::string_view format) const;

  const DebugTensorOptions& options_;
  const std::string engine_name_;
  std::string failure_, entries_;
  std::vector<std::string> seen_;  ///< names
  int num_values_ = 0;
};

}  // namespace kiln::cli::trtexec
