#include "base/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

namespace kiln::nvtx {
namespace {

using Function = void (*)();

/// The functions of one module of NVTX, by their numbers. Tools set those that they want.
struct Module {
  static constexpr size_t kCount = 16;  ///< of both modules; number 0 is none
  std::array<Function, kCount> functions{};
  std::array<Function*, kCount> places{};
  Module() {
    for (size_t i = 1; i < kCount; ++i) places[i] = &functions[i];
  }
};

// NVTX's numbers: of modules, of functions of the first one, and of tables.
constexpr int kCore = 1, kCoreOfDomains = 5;
constexpr size_t kRangePush = 9, kRangePop = 11;
constexpr uint32_t kCallbacks = 1;

/// A tool sets functions of the process: they have one place.
Module& module_of(int number) {
  static Module core, domains;
  return number == kCore ? core : domains;
}

int module_functions(int number, Function*** table, unsigned* count) {
  if ((number != kCore && number != kCoreOfDomains) || !table) return 0;  // of CUDA's objects, for example
  *table = module_of(number).places.data();
  if (count) *count = Module::kCount;
  return 1;
}

/// What a tool asks for by `kCallbacks`.
struct Callbacks {
  size_t size_bytes;
  int (*module_functions)(int number, Function*** table, unsigned* count);
};

const void* export_table(uint32_t id) {
  static constexpr Callbacks kTable{sizeof(Callbacks), &module_functions};
  return id == kCallbacks ? &kTable : nullptr;
}

Tool load() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path && *path ? ::dlopen(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
  void* initialize = library ? ::dlsym(library, "InitializeInjectionNvtx2") : nullptr;
  return initialize ? attach(reinterpret_cast<Initialize>(initialize)) : Tool();
}

}  // namespace

Tool attach(Initialize initialize) {
  if (initialize(&export_table) == 0) return {};
  const Module& core = module_of(kCore);
  const Tool tool{reinterpret_cast<int (*)(const char*)>(core.functions[kRangePush]),
                  reinterpret_cast<int (*)()>(core.functions[kRangePop])};
  return tool.push && tool.pop ? tool : Tool();
}

const Tool& tool() {
  static const Tool loaded = load();
  return loaded;
}

}  // namespace kiln::nvtx
