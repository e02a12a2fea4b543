// Whether an address that a plugin gets is the host's.
#include <dlfcn.h>
#include <unistd.h>

#include <array>

#include "bindings.h"
#include "convert.h"

namespace kiln::python {
namespace {

/// Whether the CUDA driver, if this process has it, says that the address is a device's, or managed.
bool is_device_memory(size_t address) {
  constexpr int kMemoryType = 2, kIsManaged = 8;  // of CUpointer_attribute
  constexpr unsigned kDevice = 2;                 // of CUmemorytype
  using Ask = int (*)(void*, int, unsigned long long);
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) return false;
  bool answer = false;
  if (const auto ask = reinterpret_cast<Ask>(dlsym(driver, "cuPointerGetAttribute"))) {
    unsigned type = 0, is_managed = 0;
    answer = (ask(&type, kMemoryType, address) == 0 && type == kDevice) ||
             (ask(&is_managed, kIsManaged, address) == 0 && is_managed != 0);
  }
  dlclose(driver);  // what RTLD_NOLOAD counted
  return answer;
}

/// Whether the host can read the byte: the system says so without reading it in this process.
bool is_readable(size_t address) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return false;
  const bool is_read = write(ends[1], to_pointer(address), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_read;
}

bool is_host_memory(size_t address) { return address != 0 && !is_device_memory(address) && is_readable(address); }

}  // namespace

void bind_plugin_memory(nb::module_& m) {
  m.def("_is_host_memory", &is_host_memory, "address"_a, "Whether an address is the host's, and can be read.");
}

}  // namespace kiln::python
