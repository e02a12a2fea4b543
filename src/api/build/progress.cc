#include "api/build/progress.h"

namespace kiln::api {

bool Progress::step(const char* phase, int done, int total) {
  if (!monitor_) return true;
  size_t depth = 0;
  while (depth < open_.size() && open_[depth].name != phase) ++depth;
  if (depth < open_.size()) {
    close_down_to(depth + 1);
  } else {
    monitor_->phaseStart(phase, open_.empty() ? nullptr : open_.back().name.c_str(), total);
    open_.push_back({phase, 0});
  }
  bool go_on = true;
  for (Phase& at = open_.back(); at.reported < done; ++at.reported)
    go_on = monitor_->stepComplete(phase, at.reported) && go_on;
  return go_on;
}

void Progress::close_down_to(size_t depth) {
  for (; open_.size() > depth; open_.pop_back()) monitor_->phaseFinish(open_.back().name.c_str());
}

}  // namespace kiln::api
