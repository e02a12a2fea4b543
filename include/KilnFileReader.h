/// Kiln's own: TensorRT has no such class. A plan in a file that engines read where it is.
#pragma once

#include "NvInferRuntime.h"

namespace kiln {

/// A stream reader that names its file. `IRuntime::deserializeCudaEngine` then maps the file instead of reading it: weights
/// that a step reads in part, such as a table of embeddings, take memory for what is read, and processes that load the same
/// plan share it. The file must not be shortened or written to while the engine lives; replacing it by a new one of
/// its name is safe.
class IFileReader : public nvinfer1::IStreamReaderV2 {
 public:
  static constexpr char const* kKind = "KilnFileReader";
  nvinfer1::InterfaceInfo getInterfaceInfo() const noexcept override {
    return nvinfer1::InterfaceInfo{kKind, 1, 0};
  }
  /// The path of a regular file that begins with the plan; what stands behind it is ignored, and neither `read` nor `seek`
  /// is called. Null to have the plan read by them after all.
  virtual char const* path() const noexcept = 0;
};

}  // namespace kiln
