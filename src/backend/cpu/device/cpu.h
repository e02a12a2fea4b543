/// Which instruction set the kernels use on this machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace kiln::cpu {

/// Instruction sets that kernels are compiled for, from the weakest of an architecture to the strongest.
enum class Target : uint8_t { kAvx2, kAvx512, kNeon };
std::string_view name_of(Target target);

/// The best target that this machine has; AVX2 (or NEON) even if it lacks that, which check_cpu() reports.
Target target();

/// Fails if the machine lacks what every kernel needs, and names what is missing.
Status check_cpu();

/// For tests: kernels called from any thread use `target` until this object dies, if the machine has it.
class ScopedTarget {
 public:
  explicit ScopedTarget(Target target);
  ~ScopedTarget();
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;

 private:
  Target before_;
};

}  // namespace kiln::cpu
