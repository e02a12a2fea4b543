/// Seconds since its making.
#pragma once

#include <chrono>

namespace kiln::cli::trtexec {

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  double ms() const { return seconds() * 1e3; }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
};

}  // namespace kiln::cli::trtexec
