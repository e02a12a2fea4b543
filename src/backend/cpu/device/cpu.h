/// The instruction set that kernels use on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace kiln::cpu {

/// Instruction sets that kernels are compiled for, from the weakest of an architecture to the strongest.
enum class Target : uint8_t { kAvx2, kAvx512, kNeon };
std::string_view name_of(Target target);

/// The best target that this machine has; AVX2 (or NEON) even if it lacks that, which check_cpu() reports.
Target target();

/// The set called "avx2", "avx512" or "neon"; none for another name.
std::optional<Target> target_named(std::string_view name);

/// Fails if the machine lacks what every kernel needs, and names what is missing.
Status check_cpu();

/// Has the process's kernels use one instruction set while it lives: all of a process use the same.
class TargetUse {
 public:
  /// The best one, or that of the uses there are, if none is asked for. Fails if the machine lacks the set asked for,
  /// or another one is in use.
  static Result<TargetUse> begin(std::optional<Target> wanted);
  TargetUse(TargetUse&& other) noexcept : target_(std::exchange(other.target_, std::nullopt)) {}
  TargetUse& operator=(TargetUse&&) = delete;
  ~TargetUse();
  Target target() const { return *target_; }

 private:
  explicit TargetUse(Target target) : target_(target) {}
  std::optional<Target> target_;  ///< none: moved from
};

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
