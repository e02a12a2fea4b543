/// Ranges that profilers show, by NVTX: a tool's library, which NVTX_INJECTION64_PATH names, puts its functions into a
/// table that the program hands it. Without a tool a range costs a comparison.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::nvtx {

/// The functions of the process's tool; null where there is none. They are C functions and do not throw.
struct Tool {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};
/// Loads the tool when first asked; its library stays loaded.
const Tool& tool();

/// How a tool's library attaches itself: its function InitializeInjectionNvtx2. Returns 0 where it does not.
using Initialize = int (*)(const void* (*export_table)(uint32_t id));
/// The functions that a tool has set; none where it refuses.
Tool attach(Initialize initialize);

/// A range of this thread, from here to its end.
class Range {
 public:
  /// `name()` is asked only where the range is wanted and a tool is attached.
  template <class F>
  Range(bool is_wanted, F name) : is_open_(is_wanted && tool().push) {
    if (is_open_) [[unlikely]]
      tool().push(std::string(name()).c_str());
  }
  ~Range() {
    if (is_open_) [[unlikely]]
      tool().pop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool is_open_;
};

}  // namespace kiln::nvtx
