/// BuilderFlag::kMONITOR_MEMORY: what a build takes, for who reads its log.
#pragma once

#include <string_view>

#include "base/log.h"
#include "device/device.h"
#include "plan/plan.h"

namespace kiln::api {

/// Tells the log how much memory the process has in use as a build goes on. Does nothing where it is off.
class MemoryMonitor {
 public:
  MemoryMonitor(bool is_on, Log& log) : is_on_(is_on), log_(log) {}
  /// Memory of the host, now and at most since the process began; `when` begins the line: "before the build".
  void tell(std::string_view when) const;
  /// Memory that an engine of the plan and a context of each of its profiles take.
  void tell(const plan::Plan& plan) const;

 private:
  bool is_on_;
  Log& log_;
};

}  // namespace kiln::api
