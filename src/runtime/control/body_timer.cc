#include "runtime/control/body_timer.h"

namespace kiln::runtime {

Status BodyTimer::begin(size_t num_steps, Stream* stream) {
  is_on_ = !stream || !stream->capturing();
  if (!is_on_) return {};
  stream_ = stream;
  times_ms_.assign(num_steps, 0);
  if (!stream) {
    last_ = Clock::now();
    return {};
  }
  while (marks_.size() < num_steps + 1) marks_.push_back(TRY(device_.create_event(EventTiming::kOn)));
  return marks_[0]->record(*stream);
}

Status BodyTimer::step_done(size_t step) {
  if (stream_) return marks_[step + 1]->record(*stream_);
  const Clock::time_point now = Clock::now();
  times_ms_[step] = std::chrono::duration<float, std::milli>(now - last_).count();
  last_ = now;
  return {};
}

Status BodyTimer::tell(BodyObserver& observer, int body) {
  if (!is_on_) return {};
  is_on_ = false;
  if (stream_ && !times_ms_.empty()) {
    TRY(marks_[times_ms_.size()]->synchronize());
    for (size_t s = 0; s < times_ms_.size(); ++s) times_ms_[s] = TRY(marks_[s + 1]->elapsed_ms(*marks_[s]));
  }
  observer.body_ran(body, times_ms_);
  return {};
}

}  // namespace kiln::runtime
