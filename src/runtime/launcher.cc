#include "runtime/launcher.h"

#include <algorithm>
#include <exception>

namespace kiln::runtime {
namespace {

constexpr size_t kMostReplays = 4;    // programs with two or three sets of buffers come round again
constexpr int kUsesBeforeRecord = 2;  // a recording costs some twenty runs' launches

size_t num_pointers(std::span<const plan::Step> steps) {
  size_t count = 0;
  for (const plan::Step& step : steps) count += step.inputs.size() + step.outputs.size();
  return count;
}

bool has_branches(const Launch& launch) { return launch.branches && launch.branches->num_streams > 1; }

}  // namespace

Status run_step(BoundStep& step, const RunArguments& arguments) {
  try {
    return step.run(arguments);
  } catch (const CheckFailed& failed) {
    return error(Code::kInternal, failed.message);
  } catch (const std::exception& other) {
    return error(Code::kInternal, "unexpected exception: ", other.what());
  }
}

Launcher::~Launcher() {
  if (!wait_idle()) return;  // a fault that whoever synchronises the stream hears of
}

Status Launcher::wait_idle() { return has_run_ ? done_->synchronize() : Status(); }

Status Launcher::forget() {
  TRY(wait_idle());
  replays_.clear();
  next_replay_ = 0;
  num_timed_ = 0;
  return {};
}

Status Launcher::follow_last_run(Stream& stream) {
  if (!done_) done_ = TRY(device_.create_event(EventTiming::kOff));
  return has_run_ ? done_->wait(stream) : Status();
}

Status Launcher::enqueue(const Launch& launch, Stream& stream, bool timed) {
  if (stream.capturing()) {
    was_captured_ = true;
    if (has_branches(launch)) return launch_branches(launch, stream, launch.inputs_consumed);
    return launch_all(launch, stream, false, launch.inputs_consumed);
  }
  TRY(follow_last_run(stream));
  Status launched;
  if (timed) {
    TRY(make_timers(launch.steps.size() + 1));
    launched = launch_all(launch, stream, true, launch.inputs_consumed);
  } else if (Replay* replay = replay_for(launch); replay && replay->recording) {
    launched = replay->recording->launch(stream);
    if (launched && launch.inputs_consumed) launched = launch.inputs_consumed->record(stream);
  } else {
    launched = launch_all(launch, stream, false, launch.inputs_consumed);
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

Status Launcher::prepare(const Branches& branches) {
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

Status Launcher::launch_step(const Launch& launch, size_t s, void* const* pointers, Stream& stream) {
  const plan::Step& step = launch.steps[s];
  std::byte* const workspace = launch.workspace + (launch.branches ? step.stream * launch.workspace_step : 0);
  const RunArguments arguments{pointers, pointers + step.inputs.size(), workspace, &stream};
  if (Status ran = run_step(*launch.bound[s], arguments); !ran) [[unlikely]]
    return error(ran.error().code, "step '", step.name, "': ", ran.error().message);
  return {};
}

/// Steps on streams that fork from `stream` and join it again.
Status Launcher::launch_branches(const Launch& launch, Stream& stream, Event* inputs_consumed) {
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

Status Launcher::launch_all(const Launch& launch, Stream& stream, bool timed, Event* inputs_consumed) {
  void* const* at = launch.pointers;
  if (timed) TRY(timers_[0]->record(stream));
  for (size_t s = 0; s < launch.steps.size(); ++s) {
    if (inputs_consumed && s == launch.steps_to_inputs) TRY(inputs_consumed->record(stream));
    TRY(launch_step(launch, s, at, stream));
    at += launch.steps[s].inputs.size() + launch.steps[s].outputs.size();
    if (timed) TRY(timers_[s + 1]->record(stream));
  }
  if (inputs_consumed && launch.steps_to_inputs >= launch.steps.size()) TRY(inputs_consumed->record(stream));
  if (timed) num_timed_ = launch.steps.size();
  return {};
}

Status Launcher::make_timers(size_t count) {
  while (timers_.size() < count) timers_.push_back(TRY(device_.create_event(EventTiming::kOn)));
  return {};
}

Result<std::vector<float>> Launcher::times_ms() {
  std::vector<float> result;
  if (num_timed_ == 0) return result;
  TRY(timers_[num_timed_]->synchronize());
  for (size_t s = 0; s < num_timed_; ++s) result.push_back(TRY(timers_[s + 1]->elapsed_ms(*timers_[s])));
  return result;
}

/// The replay of these addresses, recorded once they came often enough; null where that does not pay.
Launcher::Replay* Launcher::replay_for(const Launch& launch) {
  if (launch.steps.size() < 2) return nullptr;
  const std::span<void* const> pointers(launch.pointers, num_pointers(launch.steps));
  auto found =
      std::ranges::find_if(replays_, [&](const Replay& r) { return std::ranges::equal(r.pointers, pointers); });
  if (found == replays_.end()) {
    if (replays_.size() < kMostReplays) {
      replays_.reserve(kMostReplays);
      found = replays_.emplace(replays_.end());
    } else {
      found = replays_.begin() + static_cast<std::ptrdiff_t>(next_replay_++ % kMostReplays);
      found->recording.reset();
      found->refused = false;
      found->uses = 0;
    }
    found->pointers.assign(pointers.begin(), pointers.end());
  }
  Replay& replay = *found;
  if (replay.recording || replay.refused || ++replay.uses <= kUsesBeforeRecord) return &replay;
  std::pair<Launcher*, const Launch*> argument(this, &launch);
  if (auto recording = device_.record(&record_all, &argument))
    replay.recording = *std::move(recording);
  else
    replay.refused = true;  // it runs as it did
  return &replay;
}

Status Launcher::record_all(void* argument, Stream* stream) {
  const auto& [self, launch] = *static_cast<std::pair<Launcher*, const Launch*>*>(argument);
  if (has_branches(*launch)) return self->launch_branches(*launch, *stream, nullptr);
  return self->launch_all(*launch, *stream, false, nullptr);  // the event is recorded behind each replay
}

}  // namespace kiln::runtime
