/// The memory of a context's inputs and outputs, on the host and on the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "NvInferRuntime.h"
#include "cuda.h"
#include "dims.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;
class GrowingOutput;

struct Tensor {
  std::string name;
  nvinfer1::DataType type{};
  Extents shape;
  int vector_axis = -1, components = 1;  ///< the axis that lies in vectors of so many, if any does
  bool is_input = false;
  bool on_host = false;  ///< a shape tensor: the context reads and writes host memory
  Memory host, device;
  bool is_shared = false;                  ///< `host` is the device's memory, too
  std::unique_ptr<GrowingOutput> growing;  ///< of an output whose shape the run decides
  /// Whether its elements are copied between host and device.
  bool is_copied() const { return !on_host && !is_shared; }
};

/// Elements that memory has, with those that fill the last vectors.
inline int64_t stored_count(const Tensor& tensor) {
  Extents stored = tensor.shape;
  if (tensor.vector_axis >= 0) {
    int64_t& extent = stored[static_cast<size_t>(tensor.vector_axis)];
    extent = (extent + tensor.components - 1) / tensor.components * tensor.components;
  }
  return volume(stored);
}

enum class Announce { kNo, kYes };

/// Sets the shapes of the context's inputs, makes memory for all tensors, fills the inputs and gives the context their
/// addresses. The context must not outlive it.
class Bindings {
 public:
  Bindings(const nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context, const InferenceOptions& options,
           Log& log, Announce announce);
  ~Bindings();

  void copy_inputs(cudaStream_t stream);
  void copy_outputs(cudaStream_t stream);
  /// After copy_outputs and a synchronisation: gives outputs that grew their shapes, and brings them to the host.
  void settle_outputs(cudaStream_t stream);
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace kiln::cli::trtexec
