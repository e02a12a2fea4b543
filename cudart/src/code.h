/// What the .cu files of a program registered: fat binaries, their kernels and their variables. Nothing is loaded
/// before it is used, so registering needs neither libnvinfer nor a driver.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include "cuda_runtime_api.h"
#include "library_driver.h"

namespace kiln::cudart {

struct Code;

/// A kernel. The program knows it by the address of its host stub.
struct Kernel {
  Code* code;
  std::string name;                          ///< on the device
  std::atomic<cuda::KernelHandle> handle{};  ///< the driver's, from the first use on
  Kernel(Code* owner, const char* device_name) : code(owner), name(device_name) {}
};

/// A variable of a device. The program knows it by the address of its host shadow.
struct Variable {
  Code* code;
  std::string name;
  size_t size_bytes;
  void** managed = nullptr;  ///< where the program keeps the address of a managed one, else null
};

/// One fat binary. Libraries of the driver serve all contexts, so each is loaded once.
struct Code {
  const void* wrapper;  ///< what nvcc made: the driver takes it as it is
  std::mutex mutex;
  cuda::LibraryHandle library = nullptr;  ///< under `mutex`
  std::deque<Kernel> kernels;
  std::deque<Variable> variables;
};

/// Adds to the registry; `host` is the address that the program uses.
Code& add_code(const void* wrapper);
void add_kernel(Code& code, const void* host, const char* name);
void add_variable(Code& code, const void* host, Variable variable);
/// Takes all of it out again, and unloads it unless the process is ending.
void remove_code(Code& code);

/// The kernel of a host stub, of a handle that find_kernel's callers gave out, or null.
Kernel* find_kernel(const void* function);
Variable* find_variable(const void* symbol);

/// The driver's kernel, loaded on first use; its result otherwise. A program may pass the handle for the stub.
int load_kernel(const cuda::Driver& gpu, Kernel& kernel, cuda::KernelHandle& handle);
/// The variable's address in the current context.
int load_variable(const cuda::Driver& gpu, const Variable& variable, cuda::DevicePointer& address);
/// Gives managed variables their memory: the driver's, or zeros of the host where there is no GPU (`gpu` is null).
int load_managed(const cuda::Driver* gpu, Code& code);

}  // namespace kiln::cudart
