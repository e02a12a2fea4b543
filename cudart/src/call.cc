#include "call.h"

namespace kiln::cudart {
namespace {

thread_local cudaError_t last = cudaSuccess;
thread_local bool in_host_function = false;

}  // namespace

cudaError_t remember(cudaError_t error) noexcept {
  if (error != cudaSuccess) last = error;
  return error;
}

cudaError_t last_error(bool forget) noexcept {
  const cudaError_t error = last;
  if (forget) last = cudaSuccess;
  return error;
}

cudaError_t to_cuda(KilnStatus status, cudaError_t refused) noexcept {
  switch (status) {
    case kKilnOk: return cudaSuccess;
    case kKilnNotReady: return cudaErrorNotReady;
    case kKilnBadHandle: return cudaErrorInvalidResourceHandle;
    case kKilnBadValue: return cudaErrorInvalidValue;
    case kKilnNoMemory: return cudaErrorMemoryAllocation;
    case kKilnWorkFailed: return cudaErrorLaunchFailure;
    case kKilnNotPermitted: return refused;
    case kKilnNotCapturing: return cudaErrorIllegalState;
    case kKilnUnsupported: return cudaErrorNotSupported;
    case kKilnInternal: break;
  }
  return cudaErrorUnknown;
}

InHostFunction::InHostFunction() : before_(in_host_function) { in_host_function = true; }
InHostFunction::~InHostFunction() { in_host_function = before_; }
bool InHostFunction::now() { return in_host_function; }

}  // namespace kiln::cudart

using namespace kiln::cudart;

cudaError_t cudaGetLastError() { return last_error(/*forget=*/true); }
cudaError_t cudaPeekAtLastError() { return last_error(/*forget=*/false); }
