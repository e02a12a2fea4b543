/// The sizes that steps decide while they run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "plan/plan.h"

namespace kiln::runtime {

/// Memory in which the steps of a block tell the sizes that they decide. It has those of each step's latest run.
class SizeStore {
 public:
  static Result<SizeStore> create(const plan::Block& block, Device& device);
  /// Returns the sizes of step `s`; null where it decides none.
  int64_t* of_step(size_t s) const {
    return first_.empty() || first_[s] == first_[s + 1] ? nullptr : of_steps(s, s + 1).data();
  }
  /// Returns the sizes of steps [first, end), one behind the other.
  std::span<int64_t> of_steps(size_t first, size_t end) const;

 private:
  std::vector<size_t> first_;  // by step, then that of all; empty: no step decides any
  Buffer memory_;
};

}  // namespace kiln::runtime
