// Whether an address that a plugin gets is the host's.
#include <unistd.h>

#include <array>

#include "bindings.h"
#include "convert.h"

namespace kiln::python {
namespace {

/// Whether the host can read the byte: the system says so without reading it in this process.
bool is_host_memory(size_t address) {
  std::array<int, 2> ends{};
  if (address == 0 || pipe(ends.data()) != 0) return false;
  const bool is_read = write(ends[1], to_pointer(address), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_read;
}

}  // namespace

void bind_plugin_memory(nb::module_& m) {
  m.def("_is_host_memory", &is_host_memory, "address"_a, "Whether the host can read the byte at an address.");
}

}  // namespace kiln::python
