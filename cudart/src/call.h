/// What every function of the CUDA runtime does around its own work: find the library, keep exceptions in, remember the
/// thread's last error.
#pragma once

#include <exception>
#include <new>

#include "library.h"

namespace kiln::cudart {

/// Remembers an error for cudaGetLastError, and returns it.
cudaError_t remember(cudaError_t error) noexcept;
cudaError_t last_error(bool forget) noexcept;

/// What a status means to a program; `refused` where the library does not permit the call.
cudaError_t to_cuda(KilnStatus status, cudaError_t refused = cudaErrorNotPermitted) noexcept;

/// While one lives, its thread runs a host function of the program, which must not call this API.
class InHostFunction {
 public:
  InHostFunction();
  ~InHostFunction();
  static bool now();

 private:
  bool before_;
};

/// Runs `body(library)`, which returns a cudaError_t.
template <class F>
cudaError_t call(F&& body) noexcept {
  try {
    if (InHostFunction::now()) return remember(cudaErrorNotPermitted);
    const KilnPrivateEntry* kiln = library();
    return remember(kiln ? body(*kiln) : why_not().error);
  } catch (const std::bad_alloc&) {
    return remember(cudaErrorMemoryAllocation);
  } catch (const std::exception&) {
    return remember(cudaErrorUnknown);
  }
}

/// Makes a device's primary context the thread's, unless it has one: the device of cudaSetDevice, or the first.
cudaError_t use_device(const cuda::Driver& gpu) noexcept;

/// On a GPU runs `on_gpu(driver)`, which returns the driver's result (its numbers are those of cudaError_t), else
/// `on_host(library)`.
template <class G, class F>
cudaError_t call(G&& on_gpu, F&& on_host) noexcept {
  if (InHostFunction::now()) return remember(cudaErrorNotPermitted);
  const cuda::Driver* gpu = driver();
  if (!gpu) return call(on_host);
  if (const cudaError_t unusable = use_device(*gpu); unusable != cudaSuccess) return remember(unusable);
  return remember(static_cast<cudaError_t>(on_gpu(*gpu)));
}

/// Handles as the driver has them.
inline cuda::StreamHandle on(cudaStream_t stream) { return reinterpret_cast<cuda::StreamHandle>(stream); }
inline cuda::EventHandle on(cudaEvent_t event) { return reinterpret_cast<cuda::EventHandle>(event); }
inline cuda::GraphHandle on(cudaGraph_t graph) { return reinterpret_cast<cuda::GraphHandle>(graph); }
inline cuda::GraphExecHandle on(cudaGraphExec_t exec) { return reinterpret_cast<cuda::GraphExecHandle>(exec); }
inline cuda::DevicePointer on(const void* memory) { return reinterpret_cast<cuda::DevicePointer>(memory); }

/// Fails with cudaErrorInvalidDevice unless it is the one device there is.
inline cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

}  // namespace kiln::cudart
