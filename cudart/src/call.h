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

/// Fails with cudaErrorInvalidDevice unless it is the one device there is.
inline cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

}  // namespace kiln::cudart
