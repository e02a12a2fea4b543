// A profiler in small: keeps the ranges of all threads as lines of text. It attaches itself as NVTX's headers have it.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::string lines;
alignas(8) thread_local int depth = 0;  // as in src/ops/enqueue_kind.cc

int push(const char* name) {
  const std::lock_guard lock(mutex);
  lines.append(static_cast<size_t>(depth) * 2, ' ').append(name).append("\n");
  return depth++;
}
int pop() { return --depth; }

struct Callbacks {
  size_t size;
  int (*module_functions)(int module, void (****table)(), unsigned* count);
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*export_table)(uint32_t)) {
  const auto* callbacks = static_cast<const Callbacks*>(export_table(1));
  void (***functions)() = nullptr;
  unsigned count = 0;
  if (!callbacks || callbacks->module_functions(1, &functions, &count) == 0 || count < 12) return 0;
  *functions[9] = reinterpret_cast<void (*)()>(&push);
  *functions[11] = reinterpret_cast<void (*)()>(&pop);
  return 1;
}

/// The lines since the last call, into `text` of `size` bytes.
__attribute__((visibility("default"))) void take_ranges(char* text, size_t size) {
  const std::lock_guard lock(mutex);
  const size_t length = lines.copy(text, size - 1);
  text[length] = 0;
  lines.clear();
}

}  // extern "C"
