#include "backend/cpu/device/cpu.h"

#include <atomic>
#include <mutex>

namespace kiln::cpu {
namespace {

#if defined(__x86_64__)
// These also ask the operating system whether it saves the registers.
bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has(Target target) {
  return target == Target::kAvx2 ? has_avx2() : target == Target::kAvx512 ? has_avx512() : false;
}
Target detect() { return has_avx512() ? Target::kAvx512 : Target::kAvx2; }
#else
bool has(Target target) { return target == Target::kNeon; }
Target detect() { return Target::kNeon; }
#endif

std::atomic<Target>& chosen() {
  static std::atomic<Target> value{detect()};
  return value;
}

struct Uses {
  std::mutex mutex;
  int count = 0;
};
Uses& uses() {
  static Uses all;
  return all;
}

}  // namespace

std::string_view name_of(Target target) {
  switch (target) {
    case Target::kAvx2: return "AVX2";
    case Target::kAvx512: return "AVX-512";
    case Target::kNeon: return "NEON";
  }
  return "unknown";
}

Target target() { return chosen().load(std::memory_order_relaxed); }

Status check_cpu() {
#if defined(__x86_64__)
  if (!has_avx2())
    return error(Code::kDevice, "this processor or its operating system lacks AVX2, FMA, BMI2 or F16C; ",
                 "Kiln's CPU backend needs all of them (Intel since Haswell, AMD since Excavator)");
#endif
  return {};
}

std::optional<Target> target_named(std::string_view name) {
  if (name == "avx2") return Target::kAvx2;
  if (name == "avx512") return Target::kAvx512;
  if (name == "neon") return Target::kNeon;
  return std::nullopt;
}

Result<TargetUse> TargetUse::begin(std::optional<Target> wanted) {
  if (wanted && !has(*wanted)) return error(Code::kDevice, "this machine has no ", name_of(*wanted));
  Uses& all = uses();
  const std::lock_guard lock(all.mutex);
  if (wanted && all.count > 0 && *wanted != cpu::target())
    return error(Code::kInvalidArgument, "a device of this process uses ", name_of(cpu::target()),
                 " already; all devices of a process use one instruction set");
  if (wanted) chosen().store(*wanted, std::memory_order_relaxed);
  ++all.count;
  return TargetUse(cpu::target());
}

TargetUse::~TargetUse() {
  if (!target_) return;
  Uses& all = uses();
  const std::lock_guard lock(all.mutex);
  if (--all.count == 0) chosen().store(detect(), std::memory_order_relaxed);
}

ScopedTarget::ScopedTarget(Target target) : before_(cpu::target()) {
  if (has(target)) chosen().store(target, std::memory_order_relaxed);
}
ScopedTarget::~ScopedTarget() { chosen().store(before_, std::memory_order_relaxed); }

}  // namespace kiln::cpu
