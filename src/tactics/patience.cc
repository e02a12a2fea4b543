#include "tactics/patience.h"

#include <algorithm>

#include "ir/work.h"
#include "steps/reference.h"
#include "tactics/region.h"

namespace kiln {
namespace {

/// Estimates how long a step for these nodes would run in a mediocre kernel. A timing that takes too long cannot be
/// ended: a host cannot stop work that it has begun, and a device that is stopped is lost.
double run_us(const TacticContext& cx, const Region& region) {
  constexpr double kHostProducts = 2e4, kHostTaps = 2e3;  // a microsecond
  constexpr double kDeviceProducts = 5e6, kDeviceTaps = 2e5;
  ir::Work work;
  for (const ir::NodeId id : region.nodes) {
    const ir::Work more = ir::work_of(cx.graph, id);
    work.products += more.products, work.taps += more.taps;
  }
  return cx.device.is_host() ? work.products / kHostProducts + work.taps / kHostTaps
                             : work.products / kDeviceProducts + work.taps / kDeviceTaps;
}

/// Bytes that a timing has to make up for the region: its inputs and outputs, constants aside.
double bytes_to_time(const TacticContext& cx, const Region& region) {
  double bytes = 0;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (const ir::ValueId value : *values)
      if (value != ir::ValueId::kNone && !cx.graph.constant(value)) bytes += estimated_bytes(cx.graph.type(value));
  return bytes;
}

}  // namespace

bool Patience::estimates(const Region& region, Candidate& candidate) const {
  constexpr double kSlowdownOfReference = 200;
  constexpr double kBytesOfOneUs = 1e4;
  const double bytes = bytes_to_time(cx_, region);
  const auto memory = static_cast<double>(cx_.device.total_memory_bytes());
  const bool too_large = memory > 0 && bytes > memory / 2;  // the device may be out of memory in the middle of a build
  const double us = std::max(run_us(cx_, region), too_large ? bytes / kBytesOfOneUs : 0) *
                    (candidate.draft.step.as<steps::Reference>() ? kSlowdownOfReference : 1);
  if (us <= enough_us_ && !too_large) return false;
  candidate.time_us = std::max(us, candidate.variant.estimate_us);
  log_.verbose("  not timed: ", candidate.tactic->name(), " (", candidate.variant.name, ") of '",
               names_of(cx_.graph, region), "': one run would take about ", us / 1e6, " s",
               too_large ? str(", and more than half of the device's memory") : std::string());
  return true;
}

bool Patience::leaves_out(const Trial& trial, Candidate& candidate) const {
  double known_us = 0;
  for (const Candidate& other : trial.candidates)
    if (&other < &candidate && other.failure.empty()) known_us += other.time_us;
  if (known_us < enough_us_ || cache_.find(timing_key(cx_, trial.region, candidate))) return false;
  candidate.failure = str("not timed: other tactics of this layer already take ", known_us / 1e6, " s");
  log_.verbose("  skipped ", candidate.tactic->name(), " (", candidate.variant.name, "): ", candidate.failure);
  return true;
}

}  // namespace kiln
