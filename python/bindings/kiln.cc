// Calls of the library that the package kiln needs and TensorRT's API has not.

#include "kiln.h"

#include <KilnFileReader.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/private_entry.h"
#include "callback.h"
#include "convert.h"
#include "gil.h"
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

/// Copies the bytes from `begin` to `end` of the parts, taken one behind the other, to their place in `into`.
void copy_span(char* into, const std::vector<Buffer>& parts, size_t begin, size_t end) {
  size_t start = 0;
  for (const Buffer& part : parts) {
    const size_t from = std::max(begin, start), to = std::min(end, start + part.size_bytes());
    if (from < to) std::memcpy(into + from, part.data() + (from - start), to - from);
    start += part.size_bytes();
  }
}

/// Copies arrays one behind the other into `into`. The interpreter's lock is given back once for all of them, not
/// for each: a thread that wants it back waits for as long as another one computes. Large copies take several threads,
/// for one core does not use the memory's bandwidth.
void gather(nb::handle into, const nb::list& arrays) {
  constexpr size_t kBytesOfThread = size_t{1} << 20, kMostThreads = 8;
  const Buffer target(into, PyBUF_WRITABLE);
  std::vector<Buffer> parts;
  parts.reserve(arrays.size());
  size_t size = 0;
  for (const nb::handle array : arrays) size += parts.emplace_back(array).size_bytes();
  if (size != target.size_bytes())
    throw std::invalid_argument("arrays of " + std::to_string(size) + " bytes do not fill " +
                                std::to_string(target.size_bytes()));
  const PythonUnlock unlocked;
  const size_t half = std::max(1u, std::thread::hardware_concurrency() / 2);  // of the cores, for others run meanwhile
  const size_t count = std::clamp(size / kBytesOfThread, size_t{1}, std::min(kMostThreads, half));
  const auto copy = [&](size_t i) { copy_span(target.data(), parts, size * i / count, size * (i + 1) / count); };
  std::vector<std::jthread> threads;
  size_t next = 1;
  try {
    for (; next < count; ++next) threads.emplace_back(copy, next);
  } catch (const std::system_error&) {  // there can be no more threads: this one does the rest
  }
  for (copy(0); next < count; ++next) copy(next);
}

}  // namespace

bool enqueue_is_recorded() { return library().enqueue_kind() == kKilnRecording; }

void bind_kiln(nb::module_& m) {
  bind_kiln_numpy_call(m);
  m.def("_kiln_device_kind", device_kind, "'cpu' or 'cuda': the process's kind of device. Asking decides it.");
  m.def("_kiln_use_host", use_host, "on"_a,
        "Says whether this thread builds and loads engines for the CPU from now on, whatever the process's kind of "
        "device is. Returns what held before.");
  m.def("_kiln_load_mapped", load_mapped, "runtime"_a, "path"_a,
        "Loads the engine of a plan that stays in its file, whose path is given as bytes; None where that fails.");
  m.def("_kiln_gather", gather, "into"_a, "arrays"_a,
        "Copies the bytes of contiguous arrays one behind the other into a writable one, which they have to fill: "
        "ValueError where they do not.");
}

}  // namespace kiln::python
