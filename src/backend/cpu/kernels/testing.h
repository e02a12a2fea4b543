/// For the kernels' tests: seeded data without slack at its end, and error bounds derived from the sums' length.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "backend/cpu/device/cpu.h"
#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/aligned.h"

namespace kiln::cpu {

/// Uniform in [-1, 1), in a block of exactly `size` floats, so that the address sanitizer sees one step beyond.
inline std::vector<float> random_floats(int64_t size, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> result(static_cast<size_t>(size));
  for (float& x : result) x = static_cast<float>(static_cast<int32_t>(engine())) / 2147483648.0f;
  result.shrink_to_fit();
  return result;
}

/// Bound on the error of a sum of `terms` rounded products whose magnitudes sum to `magnitude`, in any order: roundings
/// as independent errors of at most u = 2^-24 each stay within 6 sqrt(terms) u with probability 1 - 2 exp(-18) an
/// element (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019).
inline double sum_error(double terms, double magnitude) {
  return 6 * std::sqrt(terms + 1) * std::ldexp(1.0, -24) * magnitude + std::numeric_limits<float>::denorm_min();
}

/// A value computed in double and the magnitude of what it sums.
struct Sum {
  double value = 0, magnitude = 0;
  int64_t terms = 0;
  void add(double x) {
    value += x;
    magnitude += std::fabs(x);
    ++terms;
  }
  double bound() const { return sum_error(static_cast<double>(terms), magnitude); }
};

/// Memory for a workspace, of exactly the bytes asked for.
class TestWorkspace {
 public:
  explicit TestWorkspace(int64_t bytes)
      : data_(
            static_cast<std::byte*>(std::aligned_alloc(kCacheLine, static_cast<size_t>(round_up(bytes, kCacheLine))))) {
    std::fill_n(reinterpret_cast<uint8_t*>(data_.get()), round_up(bytes, kCacheLine), uint8_t{0xff});  // NaNs
  }
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// Runs `body` on every target that this machine has.
template <class F>
void for_each_target(F body) {
  for (Target wanted : {Target::kAvx2, Target::kAvx512, Target::kNeon}) {
    const ScopedTarget scoped(wanted);
    if (target() != wanted) continue;
    SCOPED_TRACE(name_of(wanted));
    body();
  }
}

/// `run(team)` gives results; they must not depend on the team's size.
template <class F>
void expect_same_bits_for_team_sizes(F run) {
  Team one(1), two(2), three(3);
  const std::vector<float> first = run(one);
  EXPECT_EQ(std::memcmp(first.data(), run(two).data(), first.size() * 4), 0) << "team of 2";
  EXPECT_EQ(std::memcmp(first.data(), run(three).data(), first.size() * 4), 0) << "team of 3";
}

}  // namespace kiln::cpu
