#include "builder/streams.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace kiln {
namespace {

constexpr double kWaitUs = 1.2;      // a wait for another stream, in a graph
constexpr double kUnknownUs = 2;     // a step that was not timed: a small kernel
constexpr double kLeastGain = 0.03;  // of the whole

double time_of(const ScheduledStep& step) { return step.time_us > 0 ? step.time_us : kUnknownUs; }

}  // namespace

std::vector<int> assign_streams(std::span<const ScheduledStep> steps, int most_auxiliary) {
  std::vector<int> streams(steps.size(), 0);
  if (most_auxiliary <= 0) return streams;
  std::vector<double> free_at(static_cast<size_t>(most_auxiliary) + 1, 0), done_at(steps.size(), 0);
  for (size_t j = 0; j < steps.size(); ++j) {
    const auto start_on = [&](int stream) {
      double start = free_at[static_cast<size_t>(stream)];
      for (const int i : steps[j].needs) {
        const auto need = static_cast<size_t>(i);
        start = std::max(start, done_at[need] + (streams[need] == stream ? 0 : kWaitUs));
      }
      return start;
    };
    // Where two are equal, behind what it reads: a chain stays on one stream.
    int best = steps[j].needs.empty() ? 0 : streams[static_cast<size_t>(steps[j].needs.back())];
    for (int s = 0; s <= most_auxiliary; ++s)
      if (start_on(s) < start_on(best)) best = s;
    const double end = start_on(best) + time_of(steps[j]);
    streams[j] = best;
    done_at[j] = free_at[static_cast<size_t>(best)] = end;
  }
  const double serial =
      std::accumulate(steps.begin(), steps.end(), 0.0, [](double sum, const auto& s) { return sum + time_of(s); });
  const double parallel = std::ranges::max(free_at) + kWaitUs;
  if (parallel > (1 - kLeastGain) * serial) std::ranges::fill(streams, 0);
  return streams;
}

namespace {

/// For each step and stream, the last step of that stream that is surely done when the step begins; -1 if none is.
std::vector<std::vector<int>> steps_done(std::span<const ScheduledStep> steps, std::span<const int> streams,
                                         size_t num_streams) {
  std::vector<std::vector<int>> done;
  std::vector<int> last(num_streams, -1);
  for (size_t j = 0; j < steps.size(); ++j) {
    std::vector<int>& known = done.emplace_back(num_streams, -1);
    const auto follow = [&](int i) {
      const auto before = static_cast<size_t>(i);
      for (size_t s = 0; s < num_streams; ++s) known[s] = std::max(known[s], done[before][s]);
      int& mine = known[static_cast<size_t>(streams[before])];
      mine = std::max(mine, i);
    };
    int& previous = last[static_cast<size_t>(streams[j])];
    if (previous >= 0) follow(previous);
    for (const int i : steps[j].needs) follow(i);
    previous = static_cast<int>(j);
  }
  return done;
}

}  // namespace

/// Later steps of a stream have waited for ever more of another stream. So a binary search finds the first step that
/// waits for a given one.
std::vector<Span> concurrent_spans(std::span<const ScheduledStep> steps, std::span<const int> streams) {
  std::vector<Span> spans(steps.size());
  for (size_t j = 0; j < steps.size(); ++j) spans[j] = {static_cast<int>(j), static_cast<int>(j)};
  if (std::ranges::all_of(streams, [](int s) { return s == 0; })) return spans;
  std::vector<std::vector<int>> on(static_cast<size_t>(std::ranges::max(streams)) + 1);  // by stream: its steps
  for (size_t j = 0; j < steps.size(); ++j) on[static_cast<size_t>(streams[j])].push_back(static_cast<int>(j));
  const std::vector<std::vector<int>> done = steps_done(steps, streams, on.size());
  for (size_t j = 0; j < steps.size(); ++j) {
    const auto mine = static_cast<size_t>(streams[j]);
    const auto step = static_cast<int>(j);
    for (size_t s = 0; s < on.size(); ++s) {
      if (s == mine) continue;
      const auto first = std::ranges::upper_bound(on[s], done[j][s]);
      if (first != on[s].end()) spans[j].first = std::min(spans[j].first, *first);
      const auto awaited =
          std::ranges::partition_point(on[s], [&](int other) { return done[static_cast<size_t>(other)][mine] < step; });
      if (awaited != on[s].begin()) spans[j].last = std::max(spans[j].last, *std::prev(awaited));
    }
  }
  return spans;
}

}  // namespace kiln
