#include "registration.h"

#include <new>
#include <vector>

#include "call.h"
#include "code.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

/// A `<<<...>>>` whose stub has not run yet.
struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
/// An argument of a kernel's call may itself launch a kernel, so there may be several.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

Code& code_of(void** handle) { return *reinterpret_cast<Code*>(handle); }

}  // namespace

void** __cudaRegisterFatBinary(void* wrapper) { return reinterpret_cast<void**>(&add_code(wrapper)); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) {
  if (handle) remove_code(code_of(handle));
}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  add_kernel(code_of(handle), stub, name);
}

void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, size_t size, int, int) {
  add_variable(code_of(handle), shadow, {.name = name, .size_bytes = size});
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int, size_t size, int, int) {
  add_variable(code_of(handle), host_pointer, {.name = name, .size_bytes = size, .managed = host_pointer});
}

// Variables of the host that kernels of systems with one address space read; those find them without us.
void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

// Called before the host's first use of a managed variable, and again while it returns 0. Without a GPU the program
// gets zeros and an error to be found, for it asks for no result here and would end at a null pointer.
char __cudaInitModule(void** handle) {
  call([&](const Driver& gpu) { return load_managed(&gpu, code_of(handle)); },
       [&](const KilnPrivateEntry&) { return static_cast<cudaError_t>(load_managed(nullptr, code_of(handle))); });
  return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) try {
  configurations().push_back({grid, block, shared, stream});
  return 0;
} catch (const std::bad_alloc&) {
  return static_cast<unsigned>(remember(cudaErrorMemoryAllocation));  // the stub is not called then
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return remember(cudaErrorMissingConfiguration);
  const Configuration last = configurations().back();
  configurations().pop_back();
  *grid = last.grid, *block = last.block, *shared = last.shared;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

// The handle is ours, not the driver's: a stub asks once, and what it gets must serve launches after any failure.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  Kernel* known = find_kernel(stub);
  *kernel = reinterpret_cast<cudaKernel_t>(known);
  return known ? cudaSuccess : remember(cudaErrorInvalidDeviceFunction);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                    cudaStream_t stream) {
  return cudaLaunchKernel_ptsz(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
}
