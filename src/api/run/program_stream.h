/// The streams that programs hand to the API as cudaStream_t, whatever device they belong to.
#pragma once

#include <optional>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"
#include "base/error.h"
#include "device/device.h"

namespace kiln::api {

/// A program's stream for as long as a call lasts. On a host device it is one of StreamTable's; on a GPU the handle is
/// a CUstream, of the CUDA runtime that the program uses or of ours, or names a default stream (0, 1, 2).
class ProgramStream {
 public:
  /// Opens a stream to queue work on. Fails where the table knows no such stream; the driver finds out about its own
  /// when work is queued. Allocates nothing.
  Result<Ref<Stream>> open(Device& device, void* handle);

 private:
  std::optional<cuda::CudaStream> wrapped_;
};

/// Whether `handle` may be one of `device`'s streams.
Status check_stream(Device& device, void* handle);

}  // namespace kiln::api
