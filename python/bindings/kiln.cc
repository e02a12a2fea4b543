// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the package kiln asks of the library that TensorRT's API has no call for.

#include "kiln.h"

#include <KilnFileReader.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "api/base/private_entry.h"
#include "callback.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

const KilnPrivateEntry& library() {
  static const KilnPrivateEntry entry = [] {
    KilnPrivateEntry found{};
    found.size = sizeof found;
    found.version = kKilnEntryVersion;
    if (kiln_private_entry(&found) != kKilnOk || found.size < sizeof found)
      throw std::runtime_error("the module tensorrt and libnvinfer.so.10 are of different versions of Kiln");
    return found;
  }();
  return entry;
}

/// The process's kind of device. Asking decides it.
const char* device_kind() {
  const KilnPrivateEntry& entry = library();
  const void* driver = nullptr;
  size_t size = 0;
  const char* name = nullptr;
  if (entry.gpu.driver(&driver, &size) != kKilnOk || (!driver && entry.device.identity(&name) != kKilnOk))
    throw std::runtime_error(entry.last_error_text());
  return driver ? "cuda" : "cpu";
}

/// Names a plan's file, which the runtime maps.
class PlanFile final : public kiln::IFileReader {
 public:
  explicit PlanFile(std::string path) : path_(std::move(path)) {}
  char const* path() const noexcept override { return path_.c_str(); }
  int64_t read(void*, int64_t, cudaStream_t) noexcept override { return -1; }
  bool seek(int64_t, nvinfer1::SeekPosition) noexcept override { return false; }

 private:
  std::string path_;
};

Given<nvinfer1::ICudaEngine> load_mapped(nb::handle_t<nvinfer1::IRuntime> self, const nb::bytes& path) {
  PlanFile file(std::string(path.c_str(), path.size()));
  auto& runtime = as(self);
  return give(without_gil(runtime, [&] { return runtime.deserializeCudaEngine(file); }), {self});
}

bool use_host(bool on) { return library().use_host(int32_t{on}) != 0; }

}  // namespace

void bind_kiln(nb::module_& m) {
  m.def("_kiln_device_kind", device_kind, "'cpu' or 'cuda': the process's kind of device. Asking decides it.");
  m.def("_kiln_use_host", use_host, "on"_a,
        "Says whether this thread builds and loads engines for the CPU from now on, whatever the process's kind of "
        "device is. Returns what held before.");
  m.def("_kiln_load_mapped", load_mapped, "runtime"_a, "path"_a,
        "Loads the engine of a plan that stays in its file, whose path is given as bytes; None where that fails.");
}

}  // namespace kiln::python
