#include "runtime/device_runner.h"

#include <algorithm>

namespace kiln::runtime {
DeviceRunner::~DeviceRunner() {
  if (!wait_idle()) return;  // a fault that whoever synchronises the stream hears of
}

Status DeviceRunner::wait_idle() { return has_run_ ? done_->synchronize() : Status(); }

Status DeviceRunner::forget() {
  TRY(wait_idle());
  replays_.clear();
  latest_timers_ = nullptr;
  return {};
}

Status DeviceRunner::follow_last_run(Stream& stream) {
  if (!done_) done_ = TRY(device_.create_event(EventTiming::kOff));
  return has_run_ ? done_->wait(stream) : Status();
}

Status DeviceRunner::enqueue(const Launch& launch, Stream& stream, bool timed) {
  latest_timers_ = nullptr;
  latest_was_captured_ = stream.capturing();
  if (latest_was_captured_) return enqueue_captured(launch, stream, timed);
  TRY(follow_last_run(stream));
  Status launched;
  if (timed) {
    TRY(make_timers(timers_, launch.steps.size() + 1));
    launched = launch_all(launch, stream, &timers_, launch.inputs_consumed);
  } else {
    launched = launch_untimed(launch, stream);
  }
  // Also after a failure: what was launched before it uses the memory.
  Status recorded = done_->record(stream);
  has_run_ = recorded.has_value();
  if (!recorded) {  // nothing marks the end, so wait for it; what fails here has failed above
    const Status ended = stream.synchronize();
    if (launched) launched = ended;
  }
  TRY(std::move(launched));
  return recorded;
}

/// Timed steps run one behind the other, as they do outside a graph.
Status DeviceRunner::enqueue_captured(const Launch& launch, Stream& stream, bool timed) {
  was_captured_ = true;
  if (!timed && launch.has_branches()) return launch_branches(launch, stream, launch.inputs_consumed);
  if (!timed) return launch_all(launch, stream, nullptr, launch.inputs_consumed);
  Timers& timers = captured_timers_[launch.steps.data()];
  TRY(make_timers(timers, launch.steps.size() + 1));
  return launch_all(launch, stream, &timers, launch.inputs_consumed);
}

Status DeviceRunner::prepare(const Branches& branches) {
  step_events_.clear();
  if (branches.num_streams == 1) return {};
  if (!fork_) fork_ = TRY(device_.create_event(EventTiming::kOff));
  const auto streams = static_cast<size_t>(branches.num_streams) - 1;
  while (own_streams_.size() < streams) own_streams_.push_back(TRY(device_.create_stream()));
  step_events_.resize(branches.waits.size());
  for (size_t s = 0; s < step_events_.size(); ++s) {
    const bool is_end = std::ranges::find(branches.ends, static_cast<int>(s)) != branches.ends.end();
    if (branches.awaited[s] || is_end) step_events_[s] = TRY(device_.create_event(EventTiming::kOff));
  }
  return {};
}

/// Steps on streams that fork from `stream` and join it again.
Status DeviceRunner::launch_branches(const Launch& launch, Stream& stream, Event* inputs_consumed) {
  const Branches& branches = *launch.branches;
  std::vector<Stream*> streams{&stream};
  for (size_t s = 0; s + 1 < static_cast<size_t>(branches.num_streams); ++s)
    streams.push_back(s < given_streams_.size() ? given_streams_[s].get() : own_streams_[s].get());
  TRY(fork_->record(stream));
  uint32_t forked = 1;  // by stream, a bit; one that nothing runs on must not fork: it would not join
  void* const* at = launch.pointers;
  for (size_t s = 0; s < launch.steps.size(); ++s) {
    const plan::Step& step = launch.steps[s];
    Stream& mine = *streams[static_cast<size_t>(step.stream)];
    if (const uint32_t bit = 1u << step.stream; !(forked & bit)) {
      TRY(fork_->wait(mine));
      forked |= bit;
    }
    for (const int earlier : branches.waits[s]) TRY(step_events_[static_cast<size_t>(earlier)]->wait(mine));
    TRY(launch_step(launch, s, at, mine));
    at += step.inputs.size() + step.outputs.size();
    if (step_events_[s]) TRY(step_events_[s]->record(mine));
  }
  for (const int end : branches.ends) TRY(step_events_[static_cast<size_t>(end)]->wait(stream));
  return inputs_consumed ? inputs_consumed->record(stream) : Status();
}

Status DeviceRunner::launch_all(const Launch& launch, Stream& stream, const Timers* timers, Event* inputs_consumed) {
  void* const* at = launch.pointers;
  if (timers) TRY((*timers)[0]->record(stream));
  for (size_t s = 0; s < launch.steps.size(); ++s) {
    if (inputs_consumed && s == launch.steps_to_inputs) TRY(inputs_consumed->record(stream));
    stream.begin_part();
    TRY(launch_step(launch, s, at, stream));
    at += launch.steps[s].inputs.size() + launch.steps[s].outputs.size();
    if (timers) TRY((*timers)[s + 1]->record(stream));
  }
  if (inputs_consumed && launch.steps_to_inputs >= launch.steps.size()) TRY(inputs_consumed->record(stream));
  latest_timers_ = timers;
  num_timed_ = launch.steps.size();
  return {};
}

Status DeviceRunner::launch_untimed(const Launch& launch, Stream& stream) {
  std::pair<DeviceRunner*, const Launch*> all(this, &launch);
  Recording* const recording = !launch.steps.empty() ? replays_.find(launch, &record_all, &all) : nullptr;
  if (!recording) return launch_all(launch, stream, nullptr, launch.inputs_consumed);
  TRY(recording->launch(stream));
  return launch.inputs_consumed ? launch.inputs_consumed->record(stream) : Status();
}

Status DeviceRunner::make_timers(Timers& timers, size_t count) {
  while (timers.size() < count) timers.push_back(TRY(device_.create_event(EventTiming::kOn)));
  return {};
}

Result<std::vector<float>> DeviceRunner::times_ms() const {
  if (!latest_timers_) return error(Code::kState, "the latest run was not timed");
  const Timers& timers = *latest_timers_;
  std::vector<float> result;
  TRY(timers[num_timed_]->synchronize());
  for (size_t s = 0; s < num_timed_; ++s) {
    const Result<float> ms = timers[s + 1]->elapsed_ms(*timers[s]);
    if (!ms && latest_was_captured_)
      return error(Code::kState, "the captured run has no times: no graph of it was launched, or it failed (",
                   ms.error().message, ")");
    if (!ms) return std::unexpected(ms.error());
    result.push_back(*ms);
  }
  return result;
}

Status DeviceRunner::record_all(void* argument, Stream* stream) {
  const auto& [self, launch] = *static_cast<std::pair<DeviceRunner*, const Launch*>*>(argument);
  if (launch->has_branches()) return self->launch_branches(*launch, *stream, nullptr);
  return self->launch_all(*launch, *stream, nullptr, nullptr);  // the event is recorded behind each replay
}

}  // namespace kiln::runtime
