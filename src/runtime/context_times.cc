// Times of a context's latest run.
#include "runtime/context.h"

namespace kiln::runtime {

/// What fails while it is waited for is still the stream's to tell: the program's own wait must hear of it, too.
Result<std::vector<float>> Context::host_times_ms() const {
  if (!latest_) return error(Code::kState, "nothing was enqueued since the context's profile or memory changed");
  if (latest_->in_flight.load(std::memory_order_acquire))
    if (Status done = latest_->stream->synchronize(); !done) {
      latest_->stream->fault(done.error());
      return error(done.error().code, "the run failed: ", done.error().message);
    }
  const std::lock_guard done(latest_->running);  // a graph may run it again
  if (!latest_->has_times.load(std::memory_order_acquire))
    return error(Code::kState, "the latest run has no times: it has not begun, has failed, or was not to be timed");
  return latest_->times_ms;
}

Status Context::report_times(StepObserver& observer) const {
  const std::vector<float> times_ms = launcher_ ? TRY(launcher_->times_ms()) : TRY(host_times_ms());
  const std::vector<plan::Step>& steps = plan_profile().steps;
  for (size_t s = 0; s < times_ms.size() && s < steps.size(); ++s) observer.step_done(steps[s], times_ms[s]);
  return {};
}

}  // namespace kiln::runtime
