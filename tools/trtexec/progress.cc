#include "progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "log.h"

namespace kiln::cli::trtexec {
namespace {

constexpr int kWidth = 30, kLongestPhase = 24;  // so that a line fits 80 columns
constexpr double kRedrawS = 0.1;                // faster than that and nobody can read it
constexpr double kShareToBelieve = .02;         // before, the time left would jump about
constexpr double kTimeToBelieveS = 0.5;

}  // namespace

void Progress::complete(const std::string& name, int steps_done) {
  for (Phase& phase : phases_)
    if (phase.name == name) phase.done = std::clamp(steps_done, 0, phase.steps);
}

void Progress::finish(const std::string& name) {
  const auto found = std::ranges::find(phases_, name, &Phase::name);
  phases_.erase(found, phases_.end());
}

double Progress::share() const {
  double share = 0;
  for (size_t i = phases_.size(); i-- > 0;)
    share = phases_[i].steps > 0 ? std::min(1.0, (phases_[i].done + share) / phases_[i].steps) : 0;
  return share;
}

std::string progress_line(double share, double elapsed_s, std::string_view name) {
  const int filled = static_cast<int>(share * kWidth);
  std::string bar(static_cast<size_t>(filled), '=');
  if (filled < kWidth) bar += '>';
  bar.resize(kWidth, ' ');
  char left[48] = "";
  if (share >= kShareToBelieve && elapsed_s >= kTimeToBelieveS) {
    const auto seconds = static_cast<long>(std::ceil(elapsed_s * (1 - share) / share));
    std::snprintf(left, sizeof left, "%ld:%02ld left  ", seconds / 60, seconds % 60);
  }
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%", std::floor(share * 100));
  return str("[", bar, "] ", percent, "  ", left, name.substr(0, kLongestPhase));
}

ProgressBar::~ProgressBar() noexcept { log_.set_status(""); }

void ProgressBar::phaseStart(char const* phase, char const*, int32_t steps) noexcept {
  const std::lock_guard lock(mutex_);
  if (progress_.empty()) start_ = Clock::now();
  progress_.start(phase, steps);
  draw();
}

bool ProgressBar::stepComplete(char const* phase, int32_t step) noexcept {
  const std::lock_guard lock(mutex_);
  progress_.complete(phase, step + 1);
  if (std::chrono::duration<double>(Clock::now() - drawn_).count() >= kRedrawS) draw();
  return true;
}

void ProgressBar::phaseFinish(char const* phase) noexcept {
  const std::lock_guard lock(mutex_);
  progress_.finish(phase);
  draw();
}

void ProgressBar::draw() {
  drawn_ = Clock::now();
  const double elapsed_s = std::chrono::duration<double>(drawn_ - start_).count();
  log_.set_status(progress_.empty() ? "" : progress_line(progress_.share(), elapsed_s, progress_.name()));
}

}  // namespace kiln::cli::trtexec
