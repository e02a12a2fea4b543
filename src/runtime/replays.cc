#include "runtime/replays.h"

#include <algorithm>
#include <utility>

#include "steps/plugin.h"

namespace kiln::runtime {
namespace {

constexpr size_t kMostReplays = 8;  // room for two or three sets of buffers at a few shapes
// A recording costs as much as the launches of one run, and saves nearly all of that in every later run.
constexpr int kTimesBeforeRecord = 1;     // runs with one set of addresses
constexpr int kBindingsBeforeRecord = 2;  // shapes that change will go on changing
constexpr int kMostFailedMoves = 3;       // in a row
constexpr uint64_t kNoBinding = 0;        // no binding has this id
constexpr uint64_t kRunsToStale = 64;     // a replay that ran within so many runs is kept

void* address(const Launch& launch, const Patch& patch) { return launch.pointers()[patch.slot]; }

bool has_addresses(const std::vector<void*>& addresses, const Launch& launch) {
  for (size_t i = 0; i < addresses.size(); ++i)
    if (addresses[i] != address(launch, launch.at().patches[i])) return false;
  return true;
}

/// A step of a launch: what Recording::replace is given.
struct Part {
  const Launch& launch;
  size_t step;
  void* const* pointers;
};
Status launch_part(void* argument, Stream* stream) {
  const Part& part = *static_cast<const Part*>(argument);
  return launch_step(part.launch, part.step, part.pointers, *stream);
}

}  // namespace

Recording* Replays::find(const Launch& launch, TimedWork record, void* argument) {
  ++num_runs_;
  if (!last_ || last_version_ != launch.version) {
    const auto found = std::ranges::find_if(replays_, [&](const Replay& replay) {
      return replay.binding == launch.binding.id && has_addresses(replay.addresses, launch);
    });
    last_ = found != replays_.end() ? &*found : find_for_new_addresses(launch, record, argument);
    last_version_ = launch.version;
  }
  if (!last_) return nullptr;
  last_->last_run = num_runs_;
  return last_->recording.get();
}

Replays::Replay* Replays::find_for_new_addresses(const Launch& launch, TimedWork work, void* argument) {
  Misses& misses = misses_of(launch.binding.id);
  if (misses.refused || is_refused(launch)) return nullptr;
  const bool comes_again = misses.times_seen(launch) > kTimesBeforeRecord;
  if (!std::exchange(misses.has_run, true)) return find_for_new_binding(launch, misses, work, argument);
  if (misses.fixed) return comes_again ? record(launch, misses, work, argument) : nullptr;
  Replay* const earlier = oldest(&launch.binding.id);
  const bool wants_its_own = comes_again && replays_.size() < kMostReplays;
  return earlier && !wants_its_own ? readdress(*earlier, launch, misses) : record(launch, misses, work, argument);
}

Replays::Replay* Replays::find_for_new_binding(const Launch& launch, Misses& misses, TimedWork work, void* argument) {
  if (++num_bindings_ <= kBindingsBeforeRecord || num_failed_moves_ > kMostFailedMoves) return nullptr;
  if (const auto found = std::ranges::find(replays_, true, &Replay::travels); found != replays_.end()) {
    if (rebind(*found, launch)) {
      num_failed_moves_ = 0;
      return &*found;
    }
    ++num_failed_moves_;
    erase(*found);
  }
  Replay* const made = record(launch, misses, work, argument);
  if (made) made->travels = num_failed_moves_ <= kMostFailedMoves && can_rebind(*made, launch);
  if (!made || !made->travels) num_failed_moves_ = kMostFailedMoves + 1;  // nor will later ones
  return made;
}

/// How often these addresses came lately. If two sets of addresses share a hash, one seems more frequent than it is;
/// that does no other harm.
int Replays::Misses::times_seen(const Launch& launch) {
  uint64_t hash = 1;
  for (const Patch& patch : launch.at().patches)
    hash = (hash ^ reinterpret_cast<uintptr_t>(address(launch, patch))) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
  const auto found = std::ranges::find(latest, hash, &Seen::hash);
  if (found != latest.end()) return ++found->times;
  latest[next] = {hash, 1};
  next = (next + 1) % latest.size();
  return 1;
}

Replays::Misses& Replays::misses_of(uint64_t binding) {
  const auto found = std::ranges::find(misses_, binding, &Misses::binding);
  if (found != misses_.end()) return *found;
  misses_.push_back({.binding = binding});
  return misses_.back();
}

/// The replay that was used longest ago, among those of a binding or (null) among all.
Replays::Replay* Replays::oldest(const uint64_t* binding) {
  Replay* found = nullptr;
  for (Replay& replay : replays_)
    if ((!binding || replay.binding == *binding) && (!found || replay.last_run < found->last_run)) found = &replay;
  return found;
}

bool Replays::make_room() {
  if (replays_.size() < kMostReplays) return true;
  Replay* const found = oldest(nullptr);
  if (found->last_run + kRunsToStale > num_runs_) return false;
  erase(*found);
  return true;
}

bool Replays::is_refused(const Launch& launch) const {
  return std::ranges::find(refused_, launch.steps().data()) != refused_.end();
}

/// Some steps cannot be recorded with these shapes, as the build may have said: that is kUnsupported. All else is a
/// surprise. Where a plugin may have made it, whose enqueue has been called for nothing, other shapes do not try again.
void Replays::refuse(const Launch& launch, Misses& misses, const Error& why) {
  misses.refused = true;
  const bool has_plugin =
      std::ranges::any_of(launch.steps(), [](const plan::Step& step) { return step.step.as<steps::Plugin>(); });
  if (has_plugin && why.code != Code::kUnsupported) refused_.push_back(launch.steps().data());
  if (!settings_.log || std::exchange(has_told_, true)) return;
  if (why.code == Code::kUnsupported)
    settings_.log->verbose("runs are not recorded, but launched step by step: ", why.message);
  else
    settings_.log->warning("runs are launched step by step, which takes longer, since they cannot be recorded: ",
                           why.message);
}

Replays::Replay* Replays::record(const Launch& launch, Misses& misses, TimedWork work, void* argument) {
  if (!make_room()) return nullptr;
  auto recording = device_.record(work, argument);
  if (!recording) {
    if (recording.error().code != Code::kOutOfMemory) refuse(launch, misses, recording.error());
    return nullptr;  // it runs as it did
  }
  Replay replay{launch.binding.id, {}, num_runs_, false, *std::move(recording)};
  for (const Patch& patch : launch.at().patches) {
    replay.addresses.push_back(address(launch, patch));
    if (!replay.recording->can_replace(static_cast<size_t>(patch.step))) misses.fixed = true;
  }
  replays_.reserve(kMostReplays);
  return &replays_.emplace_back(std::move(replay));
}

/// The recording with the addresses of this launch.
Replays::Replay* Replays::readdress(Replay& replay, const Launch& launch, Misses& misses) {
  const std::span<const Patch> patches = launch.at().patches;
  for (size_t i = 0; i < patches.size();) {
    const Patch& first = patches[i];
    bool changed = false;
    for (; i < patches.size() && patches[i].step == first.step; ++i) {
      void* const now = address(launch, patches[i]);
      changed |= std::exchange(replay.addresses[i], now) != now;
    }
    if (!changed) continue;
    Part part{launch, static_cast<size_t>(first.step), launch.pointers() + first.step_slot};
    if (replay.recording->replace(part.step, &launch_part, &part)) continue;
    misses.fixed = true;  // other addresses take other kernels
    erase(replay);
    return nullptr;
  }
  return &replay;
}

bool Replays::can_rebind(const Replay& replay, const Launch& launch) {
  for (size_t s = 0; s < launch.steps().size(); ++s)
    if (!replay.recording->can_replace(s)) return false;
  return true;
}

/// Changes another binding's recording to do this launch. Returns false if the launch needs other kernels; the
/// recording cannot be used again then.
bool Replays::rebind(Replay& replay, const Launch& launch) {
  Part part{launch, 0, launch.pointers()};
  for (; part.step < launch.steps().size(); ++part.step) {
    if (!replay.recording->replace(part.step, &launch_part, &part)) return false;
    part.pointers += launch.steps()[part.step].inputs.size() + launch.steps()[part.step].outputs.size();
  }
  replay.binding = launch.binding.id;
  for (size_t i = 0; i < launch.at().patches.size(); ++i) replay.addresses[i] = address(launch, launch.at().patches[i]);
  return true;
}

void Replays::erase(Replay& replay) {
  last_ = nullptr;
  replays_.erase(replays_.begin() + (&replay - replays_.data()));
}

void Replays::forget(uint64_t binding) {
  last_ = nullptr;
  std::erase_if(replays_, [&](const Replay& replay) { return replay.binding == binding && !replay.travels; });
  for (Replay& replay : replays_)
    if (replay.binding == binding) replay.binding = kNoBinding;
  std::erase_if(misses_, [&](const Misses& misses) { return misses.binding == binding; });
}

void Replays::clear() {
  last_ = nullptr;
  replays_.clear();
  misses_.clear();
}

}  // namespace kiln::runtime
