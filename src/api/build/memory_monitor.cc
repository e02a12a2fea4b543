#include "api/build/memory_monitor.h"

#include <fstream>
#include <optional>
#include <string>

#include "base/str.h"

namespace kiln::api {
namespace {

/// A line of /proc/self/status, such as VmRSS, in KiB. None where the system has no such file.
std::optional<int64_t> status_kib(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':')
      return std::atoll(line.c_str() + key.size() + 1);
  return std::nullopt;
}

std::string mib(int64_t bytes) { return str(bytes >> 20, " MiB"); }

}  // namespace

void MemoryMonitor::tell(std::string_view when) const {
  if (!is_on_) return;
  const auto now = status_kib("VmRSS"), most = status_kib("VmHWM");
  if (!now || !most) return log_.info("memory ", when, ": the system does not tell");
  log_.info("memory ", when, ": the process has ", mib(*now * 1024), " in use, and had ", mib(*most * 1024),
            " at most");
}

void MemoryMonitor::tell(const plan::Plan& plan) const {
  if (!is_on_) return;
  int64_t weights = 0;
  for (const plan::Weight& weight : plan.weights)
    if (weight.same_as < 0) weights += std::ssize(weight.value.bytes());
  log_.info("memory of an engine: ", weights, " bytes of weights");
  for (size_t i = 0; i < plan.profiles.size(); ++i)
    log_.info("memory of a context of optimization profile ", i, ": ", plan.profiles[i].arena_bytes,
              " bytes of tensors and ", plan.profiles[i].workspace_bytes, " of workspace, at its maximum");
}

}  // namespace kiln::api
