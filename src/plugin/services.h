/// What plugins get of the library around them.
#pragma once

#include <NvInferRuntime.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"

namespace kiln::plugin {

/// Streams of the host, by the handles that programs hold as cudaStream_t.
class HostStreams {
 public:
  virtual ~HostStreams() = default;
  virtual Result<void*> create() = 0;
  virtual void destroy(void* stream) = 0;
  virtual Status synchronize(void* stream) = 0;
  /// Makes `stream` the default stream of this thread; null undoes that. Returns what was before.
  virtual void* set_default(void* stream) = 0;
  /// CUDA kernels that this thread has tried to launch so far: the host runs none.
  virtual int64_t num_refused_launches() const = 0;
};

/// Handles of NVIDIA's libraries that one copy of a plugin of version 2 has for its own.
struct LibraryHandles {
  virtual ~LibraryHandles() = default;
  cudnnContext* cudnn = nullptr;  ///< null: there is none
  cublasContext* cublas = nullptr;
};
/// Fails where a library that could be loaded gives none. Safe from several threads.
using MakeLibraryHandles = std::function<Result<std::unique_ptr<LibraryHandles>>()>;

struct Services {
  /// Null: the device has streams of its own, which runs hand to plugins.
  HostStreams* host_streams = nullptr;
  nvinfer1::IGpuAllocator* allocator = nullptr;  ///< the program's, or one of the device's memory
  /// The recorder of the object that the plugin works for, as it is now. Null: there is none.
  std::shared_ptr<const std::atomic<nvinfer1::IErrorRecorder*>> recorder = nullptr;
  MakeLibraryHandles make_handles = nullptr;  ///< null: plugins get null handles
};

}  // namespace kiln::plugin
