/// Measures compiled regions on the device, through the timing cache.
#pragma once

#include <span>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "device/allocator.h"
#include "tactics/tactic.h"
#include "tactics/timing_cache.h"

namespace kiln {

/// A variant ready to be timed.
struct Candidate {
  const Tactic* tactic = nullptr;
  Variant variant;
  StepDraft draft;
  double time_us = 0;   ///< filled by the timer
  std::string failure;  ///< why it could not be run; it is skipped
};

struct TimerOptions {
  double budget_us_per_candidate = 500;  ///< after one warm-up run
  int least_turns = 1;                   ///< IBuilderConfig::setAvgTimingIterations; 6 at least are taken
  bool error_on_cache_miss = false;      ///< BuilderFlag::kERROR_ON_TIMING_CACHE_MISS
  Allocator* memory = nullptr;           ///< of what is timed; null: the device's
  /// One run may take as long as both allow; the device of one that takes longer is given up.
  double least_limit_us = 5e6, limit_of_estimate = 1000;
};

/// As many candidates are loaded at a time: a plugin's copy has a stream of its own, of which a device has so many.
constexpr size_t kMostLoaded = 512;

/// A region with what may run it.
struct Trial {
  const Region& region;
  std::span<Candidate> candidates;
};

/// The source of a cover's times.
class Timing {
 public:
  virtual ~Timing() = default;
  /// Fills in the times of all candidates that have not failed, and the failures of those that do. What is timed
  /// together can be compared.
  virtual Status time(const TacticContext& cx, std::span<const Trial> trials) = 0;
};

/// Times from the cache, or measured interleaved at the optimum shapes with random inputs.
class Timer final : public Timing {
 public:
  Timer(Device& device, TimingCache& cache, TimerOptions options, Log& log);
  Status time(const TacticContext& cx, std::span<const Trial> trials) override;
  int num_measured() const { return num_measured_; }
  int num_cached() const { return num_cached_; }

 private:
  struct Pending;
  struct Turns;
  Status load(const TacticContext& cx, const Region& region, Candidate& candidate, Turns& turns);
  Status measure(const TacticContext& cx, std::span<const Trial> trials, Turns& turns);
  Status finish(const TacticContext& cx, Turns& turns) const;
  Status take_turns(const TacticContext& cx, std::span<Pending> pending) const;
  Status fail(const TacticContext& cx, Pending& pending, const Error& why) const;
  void tell(const Pending& skipped) const;  ///< to a program's logger, which may use Kiln: the device is nobody's

  Device& device_;
  TimingCache& cache_;
  TimerOptions options_;
  Log& log_;
  int num_measured_ = 0, num_cached_ = 0;
};

/// The bytes of workspace that a compiled candidate takes at the optimum. Fails where it cannot be loaded or bound.
Result<int64_t> workspace_of(const TacticContext& cx, const Region& region, const Candidate& candidate);

/// The timing cache's key of a region run by a variant: ops, attributes, types, formats, bounds, constants' extents
/// (not their values), numerics, the device, the version of the kernels.
Hash128 timing_key(const TacticContext& cx, const Region& region, const Candidate& candidate);

}  // namespace kiln
