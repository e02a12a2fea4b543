#include "runtime/device_runner.h"

#include <algorithm>

#include "runtime/value_watch.h"
#include "steps/plugin.h"

namespace kiln::runtime {
namespace {

constexpr size_t kFewestSteps = 4;  // of a segment behind the first: fewer are launched as fast as a recording of them

bool has_plugins(const plan::Block& block) {
  return std::ranges::any_of(block.steps,
                             [](const plan::Step& step) { return step.step.as<steps::Plugin>() != nullptr; });
}

bool has_plugins(const plan::Plan& plan) {
  const auto has = [](const plan::Block& block) { return has_plugins(block); };
  return std::ranges::any_of(plan.profiles, has) || std::ranges::any_of(plan.bodies, has);
}

}  // namespace

DeviceRunner::DeviceRunner(const Engine& engine, const RunSettings& settings)
    : engine_(engine), settings_(settings), device_(engine.device()), has_plugins_(has_plugins(engine.plan())) {
  replays_.push_back(std::make_unique<Replays>(device_, settings_));
}

Status DeviceRunner::wait_idle() { return has_run_ ? done_->synchronize() : Status(); }

Status DeviceRunner::forget_runs() {
  TRY(wait_idle());
  for (const auto& replays : replays_) replays->clear();
  latest_timers_ = nullptr;
  return {};
}

Status DeviceRunner::set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) {
  TRY(forget_runs());  // recordings were made with the former streams
  given_streams_ = std::move(streams);
  return {};
}

/// Steps have uploaded the weights that they read themselves.
Result<std::byte*> DeviceRunner::viewed_weight(const HostTensor& value) {
  Buffer& there = viewed_weights_[&value];
  if (!there.data()) TRY(engine_.upload(value.bytes(), there));
  return there.data();
}

Result<std::optional<std::byte*>> DeviceRunner::shape_input(std::span<const std::byte> values, Buffer& kept) {
  TRY(engine_.upload(values, kept, settings_.temporary_memory));
  return kept.data();
}

Status DeviceRunner::prepare(Binding& binding) {
  steps_to_inputs_ = num_steps_to_inputs(binding.profile);
  const Branches& branches = engine_.branches(binding.profile_index);
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

/// How many steps must be done before the program may change the inputs. Shape inputs do not count: they are copied.
size_t DeviceRunner::num_steps_to_inputs(const plan::Profile& profile) const {
  const auto reads_input = [&](int id) {
    const plan::Tensor* tensor = &profile.tensors[static_cast<size_t>(id)];
    while (tensor->place == plan::Place::kView) tensor = &profile.tensors[static_cast<size_t>(tensor->index)];
    return tensor->place == plan::Place::kInput && !engine_.plan().inputs[static_cast<size_t>(tensor->index)].is_shape;
  };
  size_t count = profile.steps.size();
  while (count > 0 && std::ranges::none_of(profile.steps[count - 1].inputs, reads_input)) --count;
  return count;
}

void DeviceRunner::retire(std::unique_ptr<Binding> binding) {
  for (size_t segment = 0; segment < binding->segments.size(); ++segment) forget(*binding, segment);
  if (was_captured_) old_bindings_.push_back(std::move(binding));
}

void DeviceRunner::retire(Buffer memory) {
  if (was_captured_) old_memory_.push_back(std::move(memory));
}

void DeviceRunner::forget(const Binding& binding, size_t segment) {
  if (segment < replays_.size()) replays_[segment]->forget(binding.id);
}

Replays& DeviceRunner::replays_of(size_t segment) {
  while (replays_.size() <= segment) replays_.push_back(std::make_unique<Replays>(device_, settings_));
  return *replays_[segment];
}

Launch DeviceRunner::launch_of(Binding& binding, size_t segment) const {
  return {binding, segment, engine_.branches(binding.profile_index), num_address_changes_, settings_.ranges};
}

Status DeviceRunner::enqueue(const Run& run, Stream& stream) {
  if (!run.repeats) {
    run.binding.at.set(run.addresses);
    ++num_address_changes_;
  }
  latest_timers_ = nullptr;
  meet(run.binding);
  latest_was_captured_ = stream.capturing();
  if (latest_was_captured_) return launch_captured(launch_of(run.binding), stream);
  TRY(follow_last_run(stream));
  if (Recording* const again = settings_.timed ? nullptr : replays_[0]->again(num_address_changes_)) [[likely]]
    return mark_end(stream, replay(*again, stream, settings_.inputs_consumed));
  const Launch launch = launch_of(run.binding);
  const auto work = settings_.timed ? &DeviceRunner::launch_timed : &DeviceRunner::launch_untimed;
  return mark_end(stream, (this->*work)(launch, stream, settings_.inputs_consumed));
}

Status DeviceRunner::run_segment(Binding& binding, size_t segment, Stream& stream) {
  latest_timers_ = nullptr;
  if (segment == 0) {
    latest_was_captured_ = false;
    meet(binding);
    TRY(follow_last_run(stream));
  }
  ++num_address_changes_;
  const Launch launch = launch_of(binding, segment);
  const bool is_last = segment + 1 == binding.segments.size();
  const auto work = settings_.timed ? &DeviceRunner::launch_timed : &DeviceRunner::launch_untimed;
  Status launched = (this->*work)(launch, stream, is_last ? settings_.inputs_consumed : nullptr);
  if (!launched || !is_last) latest_timers_ = nullptr;
  if (!launched || is_last) return mark_end(stream, std::move(launched));
  return stream.synchronize();
}

Status DeviceRunner::follow_last_run(Stream& stream) {
  if (!done_) done_ = TRY(device_.create_event(EventTiming::kOff));
  return has_run_ ? done_->wait(stream) : Status();
}

/// Forgets the recordings of other shapes, where plugins have to be told that shapes change: a replay tells them
/// nothing, and may use what a plugin has let go since.
void DeviceRunner::meet(const Binding& binding) {
  if (!has_plugins_ || binding.id == met_last_) return;
  for (const auto& replays : replays_) replays->clear();
  met_last_ = binding.id;
}

/// Marks the end of a run, also after a failure: kernels launched before the failure still use the memory.
Status DeviceRunner::mark_end(Stream& stream, Status launched) {
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
Status DeviceRunner::launch_captured(const Launch& launch, Stream& stream) {
  was_captured_ = true;
  if (!settings_.timed && launch.has_branches()) return launch_branches(launch, stream, settings_.inputs_consumed);
  if (!settings_.timed) return launch_all(launch, stream, nullptr, settings_.inputs_consumed);
  Timers& timers = captured_timers_[launch.steps().data()];
  TRY(make_timers(timers, launch.binding));
  return launch_all(launch, stream, &timers, settings_.inputs_consumed);
}

/// Steps on streams that fork from `stream` and join it again.
Status DeviceRunner::launch_branches(const Launch& launch, Stream& stream, Event* inputs_consumed) {
  const Branches& branches = launch.branches;
  std::vector<Stream*> streams{&stream};
  for (size_t s = 0; s + 1 < static_cast<size_t>(branches.num_streams); ++s)
    streams.push_back(s < given_streams_.size() ? given_streams_[s].get() : own_streams_[s].get());
  TRY(fork_->record(stream));
  uint32_t forked = 1;  // one bit a stream; a stream without steps must not fork, because it would not join again
  void* const* at = launch.pointers();
  for (size_t s = 0; s < launch.steps().size(); ++s) {
    const plan::Step& step = launch.steps()[s];
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
  void* const* at = launch.pointers();
  const size_t first = launch.first_step(), end = first + launch.steps().size();
  const size_t to_inputs = std::clamp(steps_to_inputs_, first, end);
  size_t timer = first + launch.segment;
  if (timers) TRY((*timers)[timer++]->record(stream));
  for (size_t s = first; s < end; ++s) {
    if (inputs_consumed && s == to_inputs) TRY(inputs_consumed->record(stream));
    stream.begin_part();
    const plan::Step& step = launch.steps()[s - first];
    TRY(launch_step(launch, s - first, at, stream));
    at += step.inputs.size();
    if (timers) TRY((*timers)[timer++]->record(stream));
    if (settings_.watch) [[unlikely]]
      TRY(settings_.watch->step_ran({launch.binding.profile, s, at, launch.binding.symbols_of(launch.segment),
                                     launch.binding.sizes, launch.binding.growing}));
    at += step.outputs.size();
  }
  if (inputs_consumed && to_inputs == end) TRY(inputs_consumed->record(stream));
  latest_timers_ = timers;
  timed_segments_ = launch.binding.segments;
  return {};
}

Status DeviceRunner::launch_timed(const Launch& launch, Stream& stream, Event* inputs_consumed) {
  TRY(make_timers(timers_, launch.binding));
  return launch_all(launch, stream, &timers_, inputs_consumed);
}

Status DeviceRunner::launch_untimed(const Launch& launch, Stream& stream, Event* inputs_consumed) {
  if (settings_.watch) [[unlikely]]
    return launch_all(launch, stream, nullptr, inputs_consumed);
  std::pair<DeviceRunner*, const Launch*> all(this, &launch);
  const bool is_worth = launch.steps().size() >= (launch.segment == 0 ? 1 : kFewestSteps);
  Recording* const recording = is_worth ? replays_of(launch.segment).find(launch, &record_all, &all) : nullptr;
  return recording ? replay(*recording, stream, inputs_consumed) : launch_all(launch, stream, nullptr, inputs_consumed);
}

Status DeviceRunner::replay(Recording& recording, Stream& stream, Event* inputs_consumed) {
  TRY(recording.launch(stream));
  return inputs_consumed ? inputs_consumed->record(stream) : Status();
}

Status DeviceRunner::make_timers(Timers& timers, const Binding& binding) {
  while (timers.size() < binding.steps.size() + binding.segments.size())
    timers.push_back(TRY(device_.create_event(EventTiming::kOn)));
  return {};
}

Result<std::vector<float>> DeviceRunner::times_ms() const {
  if (!latest_timers_) return error(Code::kState, "the latest run was not timed");
  const Timers& timers = *latest_timers_;
  std::vector<float> result;
  TRY(timers[timed_segments_.back().end + timed_segments_.size() - 1]->synchronize());
  size_t segment = 0;
  for (size_t s = 0; s < timed_segments_.back().end; ++s) {
    while (s == timed_segments_[segment].end) ++segment;  // what the host did between two segments is no step's time
    const Result<float> ms = timers[s + segment + 1]->elapsed_ms(*timers[s + segment]);
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
