#include "code.h"

#include <cstdlib>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "library.h"

namespace kiln::cudart {
namespace {

/// Several fat binaries may register one address: an inline template's stub is one function of the whole process. The
/// first counts.
template <class T>
class ByAddress {
 public:
  void add(const void* address, T* item) { items_[address].push_back(item); }
  T* find(const void* address) const {
    const auto at = items_.find(address);
    return at == items_.end() ? nullptr : at->second.front();
  }
  void remove_of(const Code& code) {
    for (auto& [address, items] : items_) std::erase_if(items, [&](const T* item) { return item->code == &code; });
    std::erase_if(items_, [](const auto& entry) { return entry.second.empty(); });
  }

 private:
  std::unordered_map<const void*, std::vector<T*>> items_;
};

struct Registry {
  std::shared_mutex mutex;
  std::vector<std::unique_ptr<Code>> codes;
  ByAddress<Kernel> kernels;
  ByAddress<Variable> variables;
};
Registry& registry() {
  static Registry& all = *new Registry;  // .cu files register before main and leave after it
  return all;
}

std::atomic<bool> process_ends = false;

/// Takes notice of the end of the process: the driver may be gone when older code unregisters. What was registered
/// after the driver had been loaded leaves before this runs.
void watch_for_the_end() {
  static const int watched = std::atexit([] { process_ends = true; });
  static_cast<void>(watched);
}

/// Loading is not a stream's work, so a capture in this thread must not forbid it.
class BesideCaptures {
 public:
  explicit BesideCaptures(const cuda::Driver& gpu) : gpu_(gpu) { gpu_.thread_exchange_stream_capture_mode(&mode_); }
  ~BesideCaptures() { gpu_.thread_exchange_stream_capture_mode(&mode_); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  const cuda::Driver& gpu_;
  int mode_ = cuda::kCaptureRelaxed;
};

/// Gives a managed variable its memory. From then on a program may also name the variable by that memory's address.
void place(Variable& variable, void* memory) {
  *variable.managed = memory;
  const std::lock_guard lock(registry().mutex);
  registry().variables.add(memory, &variable);
}

int load_managed_of(const cuda::LibraryDriver& driver, Code& code) {
  for (Variable& variable : code.variables) {
    if (!variable.managed) continue;
    cuda::DevicePointer address = 0;
    size_t bytes = 0;
    if (const int failed = driver.library_get_managed(&address, &bytes, code.library, variable.name.c_str()))
      return failed;
    place(variable, reinterpret_cast<void*>(address));
  }
  return 0;
}

/// Loads the code if it is not loaded. The caller holds the code's mutex.
int load(const cuda::Driver& gpu, const cuda::LibraryDriver& driver, Code& code) {
  if (code.library) return 0;
  watch_for_the_end();
  const BesideCaptures beside(gpu);
  if (const int failed =
          driver.library_load_data(&code.library, code.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0)) {
    code.library = nullptr;
    return failed;
  }
  const int failed = load_managed_of(driver, code);
  if (failed != 0) driver.library_unload(std::exchange(code.library, nullptr));
  return failed;
}

/// Returns the library that was loaded from the code, and leaves the code without one.
cuda::LibraryHandle take_library(Code& code) {
  const std::lock_guard lock(code.mutex);
  return std::exchange(code.library, nullptr);
}

/// Removes the code's kernels and variables. The caller holds the registry's mutex.
void take_out(const Code& code) {
  registry().kernels.remove_of(code);
  registry().variables.remove_of(code);
}

}  // namespace

Code& add_code(const void* wrapper) {
  auto made = std::make_unique<Code>();
  made->wrapper = wrapper;
  const std::lock_guard lock(registry().mutex);
  return *registry().codes.emplace_back(std::move(made));
}

void add_kernel(Code& code, const void* host, const char* name) {
  const std::lock_guard lock(registry().mutex);
  Kernel& kernel = code.kernels.emplace_back(&code, name);
  registry().kernels.add(host, &kernel);
  registry().kernels.add(&kernel, &kernel);
}

void add_variable(Code& code, const void* host, Variable variable) {
  const std::lock_guard lock(registry().mutex);
  variable.code = &code;
  registry().variables.add(host, &code.variables.emplace_back(std::move(variable)));
}

/// Nothing may find the code while it is unloaded: it would load it again.
void remove_code(Code& code) {
  {
    const std::lock_guard lock(registry().mutex);
    take_out(code);
  }
  const cuda::LibraryHandle library = take_library(code);
  if (library && !process_ends) cuda::library_driver(*driver())->library_unload(library);
  const std::lock_guard lock(registry().mutex);
  take_out(code);  // the handles that a load under way added
  std::erase_if(registry().codes, [&](const auto& held) { return held.get() == &code; });
}

Kernel* find_kernel(const void* function) {
  const std::shared_lock lock(registry().mutex);
  return registry().kernels.find(function);
}

Variable* find_variable(const void* symbol) {
  const std::shared_lock lock(registry().mutex);
  return registry().variables.find(symbol);
}

int load_kernel(const cuda::Driver& gpu, Kernel& kernel, cuda::KernelHandle& handle) {
  handle = kernel.handle;
  if (handle) return 0;
  const cuda::LibraryDriver* driver = cuda::library_driver(gpu);
  if (!driver) return cudaErrorCallRequiresNewerDriver;
  const std::lock_guard lock(kernel.code->mutex);
  if (const int failed = load(gpu, *driver, *kernel.code)) return failed;
  const int found = driver->library_get_kernel(&handle, kernel.code->library, kernel.name.c_str());
  if (found != 0) return found == cuda::kNameNotFound ? static_cast<int>(cudaErrorInvalidDeviceFunction) : found;
  if (!kernel.handle.exchange(handle)) {
    const std::lock_guard registering(registry().mutex);
    registry().kernels.add(handle, &kernel);
  }
  return 0;
}

int load_variable(const cuda::Driver& gpu, const Variable& variable, cuda::DevicePointer& address) {
  const cuda::LibraryDriver* driver = cuda::library_driver(gpu);
  if (!driver) return cudaErrorCallRequiresNewerDriver;
  const std::lock_guard lock(variable.code->mutex);
  if (const int failed = load(gpu, *driver, *variable.code)) return failed;
  const auto get = variable.managed ? driver->library_get_managed : driver->library_get_global;
  size_t bytes = 0;
  const int found = get(&address, &bytes, variable.code->library, variable.name.c_str());
  return found == cuda::kNameNotFound ? static_cast<int>(cudaErrorInvalidSymbol) : found;
}

int load_managed(const cuda::Driver* gpu, Code& code) {
  const std::lock_guard lock(code.mutex);
  if (gpu) {
    const cuda::LibraryDriver* driver = cuda::library_driver(*gpu);
    return driver ? load(*gpu, *driver, code) : static_cast<int>(cudaErrorCallRequiresNewerDriver);
  }
  for (Variable& variable : code.variables)
    if (variable.managed && !*variable.managed) place(variable, std::calloc(1, variable.size_bytes));
  return cudaErrorNoDevice;
}

}  // namespace kiln::cudart
