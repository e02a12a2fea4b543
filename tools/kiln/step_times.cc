#include "step_times.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "made_up.h"

namespace kiln {
namespace {

/// Collects the times of each step over several runs, and the least of them.
class StepObserver final : public runtime::StepObserver {
 public:
  explicit StepObserver(StepTimes& times) : times_(times) {}
  void begin() { at_ = 0; }
  void step_done(const plan::Step& step, float time_ms) override {
    double& best = times_.best_ms[at_++];
    best = std::min(best, static_cast<double>(time_ms));
    times_.layers.reportLayerTime(step.name.c_str(), time_ms);
  }

 private:
  StepTimes& times_;
  size_t at_ = 0;
};

/// Collects how often each body runs in a run of the network, and the time of its steps; of several runs the least.
class BodyObserver final : public runtime::BodyObserver {
 public:
  explicit BodyObserver(std::map<int, BodyTime>& best) : best_(best) {}
  void begin() { now_.clear(); }
  void body_ran(int body, std::span<const float> times_ms) noexcept override {
    BodyTime& of = now_[body];
    ++of.num_runs;
    of.total_ms.resize(times_ms.size(), 0);
    for (size_t s = 0; s < times_ms.size(); ++s) of.total_ms[s] += static_cast<double>(times_ms[s]);
  }
  void end() {
    for (auto& [body, times] : now_)
      if (BodyTime& best = best_[body]; best.num_runs == 0 || times.all_ms() < best.all_ms()) best = std::move(times);
  }

 private:
  std::map<int, BodyTime>& best_;
  std::map<int, BodyTime> now_;
};

using Clock = std::chrono::steady_clock;

Status run_and_time(Session& session, int runs, StepTimes& times) {
  BodyObserver bodies(times.bodies);
  StepObserver steps(times);
  session.context->set_body_observer(&bodies);
  const auto run_all = [&]() -> Status {
    for (int i = 0; i < runs; ++i) {
      const Clock::time_point start = Clock::now();
      TRY(session.run());
      times.wall_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    session.context->set_timing(true);  // steps are timed apart from the whole
    for (int i = 0; i < runs; ++i) {
      bodies.begin();
      TRY(session.run());
      bodies.end();
      steps.begin();
      TRY(session.context->report_times(steps));
    }
    return {};
  };
  const Status done = run_all();
  session.context->set_timing(false);
  session.context->set_body_observer(nullptr);
  return done;
}

/// The values of a shape input that the profile is tuned for.
Result<HostTensor> optimum_of(const plan::Plan& plan, int profile, size_t input, const Extents& extents) {
  const Extents& opt = plan.profiles[static_cast<size_t>(profile)].value_ranges[input].opt;
  TRY(require(std::ssize(opt) == volume(extents), "shape input '", plan.inputs[input].name, "' has ", volume(extents),
              " elements at these shapes; the profile has values for ", opt.size()));
  return HostTensor::of_ints(plan.inputs[input].dtype, extents, opt);
}

}  // namespace

double BodyTime::all_ms() const { return std::accumulate(total_ms.begin(), total_ms.end(), 0.0); }

const BodyTime* StepTimes::find(const plan::Plan& plan, const plan::Body& body) const {
  const auto found = bodies.find(static_cast<int>(&body - plan.bodies.data()));
  return found == bodies.end() ? nullptr : &found->second;
}

std::vector<Extents> extents_at(const plan::Plan& plan, int profile, const cli::NamedExtents& shapes) {
  const cli::EntryIndex<Extents> named(shapes);
  std::vector<Extents> result;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const Extents* found = named.find(plan.inputs[i].name);
    const Extents& best = plan.profiles[static_cast<size_t>(profile)].ranges[i].opt;
    result.push_back(found ? cli::as_declared(*found, best) : best);
  }
  return result;
}

Result<std::vector<HostTensor>> made_up_inputs(const plan::Plan& plan, int profile, std::span<const Extents> extents) {
  std::vector<HostTensor> result;
  std::mt19937_64 random;  // the same numbers each time
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const DType dtype = plan.inputs[i].dtype;
    const auto& ranges = plan.profiles[static_cast<size_t>(profile)].value_ranges;
    const bool has_optimum = plan.inputs[i].is_shape && i < ranges.size() && !ranges[i].opt.empty();
    result.push_back(has_optimum ? TRY(optimum_of(plan, profile, i, extents[i]))
                                 : TRY(made_up_tensor(dtype, extents[i], random)));
  }
  return result;
}

Result<StepTimes> measure(Session& session, int runs) {
  StepTimes times;
  const auto profile = static_cast<size_t>(session.context->profile());
  times.best_ms.assign(session.plan->profiles[profile].steps.size(), std::numeric_limits<double>::infinity());
  TRY(run_and_time(session, runs, times));
  return times;
}

}  // namespace kiln
