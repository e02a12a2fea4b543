#include "library.h"

#include <dlfcn.h>

#include <optional>
#include <string>

namespace kiln::cudart {
namespace {

struct Found {
  std::optional<KilnPrivateEntry> entry;
  const cuda::Driver* driver = nullptr;
  cudaError_t error = cudaSuccess;
  std::string text;
};

using FillEntry = decltype(&kiln_private_entry);

/// Opens the libnvinfer that was built or installed with us, by its path. By its name alone the dynamic linker would
/// give the library that the process has loaded already, which may be NVIDIA's.
void* open_beside_us() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&open_beside_us), &self)) return nullptr;
  const std::string file = self.dli_fname;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  for (const char* place : {"", "../", "../lib/"})  // as in our RUNPATH
    if (void* found = dlopen((folder + place + "libnvinfer.so.10").c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  return nullptr;
}

/// Where a process that loaded libnvinfer has it, else where the dynamic linker finds it: our own RUNPATH included,
/// which names the folder it is installed in.
FillEntry find_entry(std::string& why) {
  if (void* global = dlsym(RTLD_DEFAULT, "kiln_private_entry")) return reinterpret_cast<FillEntry>(global);
  // Never closed: streams and memory of the program live there.
  void* loaded = dlopen("libnvinfer.so.10", RTLD_NOW | RTLD_LOCAL);
  if (!loaded) {
    why = std::string("libnvinfer.so.10 of Kiln was not found: ") + dlerror();
    return nullptr;
  }
  if (void* own = dlsym(loaded, "kiln_private_entry")) return reinterpret_cast<FillEntry>(own);
  if (void* ours = open_beside_us())
    if (void* own = dlsym(ours, "kiln_private_entry")) return reinterpret_cast<FillEntry>(own);
  why = "the libnvinfer.so.10 that was found is not Kiln's; this CUDA runtime needs Kiln's";
  return nullptr;
}

Found find() {
  Found found;
  KilnPrivateEntry entry{};
  entry.size = sizeof entry;
  entry.version = kKilnEntryVersion;
  const FillEntry fill = find_entry(found.text);
  if (!fill) {
    found.error = cudaErrorInitializationError;
    return found;
  }
  if (fill(&entry) != kKilnOk || entry.size < sizeof entry) {
    found.error = cudaErrorInitializationError;
    found.text = "libnvinfer.so.10 and libcudart.so.13 are of different versions of Kiln; install both from one";
    return found;
  }
  const void* driver = nullptr;
  size_t driver_size = 0;
  const KilnStatus known = entry.gpu.driver(&driver, &driver_size);
  if (known == kKilnOk && driver_size != sizeof(cuda::Driver)) {
    found.error = cudaErrorInitializationError;
    found.text = "libnvinfer.so.10 and libcudart.so.13 are of different versions of Kiln; install both from one";
    return found;
  }
  found.driver = static_cast<const cuda::Driver*>(driver);
  if (const char* name = nullptr; known != kKilnOk || (!driver && entry.device.identity(&name) != kKilnOk)) {
    found.error = cudaErrorNoDevice;
    found.text = entry.last_error_text();
    return found;
  }
  found.entry = entry;
  return found;
}

const Found& found() {
  static const Found& once = *new Found(find());
  return once;
}

}  // namespace

const KilnPrivateEntry* library() { return found().entry ? &*found().entry : nullptr; }

const cuda::Driver* driver() { return found().driver; }

Absence why_not() { return {found().error, found().text.c_str()}; }

}  // namespace kiln::cudart
