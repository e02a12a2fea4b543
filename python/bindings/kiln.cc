// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the package kiln asks of the library that TensorRT's API has no call for.

#include "kiln.h"

#include <stdexcept>

#include "api/base/private_entry.h"

namespace kiln::python {
namespace {

/// The kind of device that engines of this process run on. Asking decides it.
const char* device_kind() {
  KilnPrivateEntry entry{};
  entry.size = sizeof entry;
  entry.version = kKilnEntryVersion;
  if (kiln_private_entry(&entry) != kKilnOk || entry.size < sizeof entry)
    throw std::runtime_error("the module tensorrt and libnvinfer.so.10 are of different versions of Kiln");
  const void* driver = nullptr;
  size_t size = 0;
  const char* name = nullptr;
  if (entry.gpu.driver(&driver, &size) != kKilnOk || (!driver && entry.device.identity(&name) != kKilnOk))
    throw std::runtime_error(entry.last_error_text());
  return driver ? "cuda" : "cpu";
}

}  // namespace

void bind_kiln(nb::module_& m) {
  m.def("_kiln_device_kind", device_kind, "'cpu' or 'cuda': where engines of this process run. Asking decides it.");
}

}  // namespace kiln::python
