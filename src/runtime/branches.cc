#include "runtime/branches.h"

#include <algorithm>

namespace kiln::runtime {
namespace {

/// The access of a step to a piece of memory. A caller may give an input and an output the same address.
struct Access {
  plan::Place place;
  int64_t begin, end;  ///< kArena: bytes; else an index and the next
  bool writes;
};

bool conflict(const Access& a, const Access& b) {
  if (!a.writes && !b.writes) return false;
  if (a.place != b.place) return a.place != plan::Place::kArena && b.place != plan::Place::kArena;
  return a.begin < b.end && b.begin < a.end;
}

std::vector<Access> accesses_of(const plan::Profile& profile, const plan::Step& step) {
  std::vector<Access> result;
  const auto add = [&](int id, bool writes) {
    const plan::Tensor* t = &profile.tensors[static_cast<size_t>(id)];
    while (t->place == plan::Place::kView) t = &profile.tensors[static_cast<size_t>(t->index)];
    if (t->place == plan::Place::kArena)
      result.push_back({t->place, t->offset_bytes, t->offset_bytes + t->size_bytes_max, writes});
    else if (t->place == plan::Place::kInput || t->place == plan::Place::kOutput)
      result.push_back({t->place, t->index, t->index + 1, writes});
  };
  for (const int id : step.inputs) add(id, false);
  for (const int id : step.outputs) add(id, true);
  return result;
}

}  // namespace

Branches branches_of(const plan::Profile& profile) {
  Branches result;
  for (const plan::Step& step : profile.steps) result.num_streams = std::max(result.num_streams, step.stream + 1);
  if (result.num_streams == 1) return result;
  const size_t num_steps = profile.steps.size();
  result.waits.resize(num_steps);
  result.awaited.assign(num_steps, false);
  std::vector<std::vector<Access>> accesses;
  for (const plan::Step& step : profile.steps) accesses.push_back(accesses_of(profile, step));
  const auto must_wait = [&](size_t later, size_t earlier) {
    return std::ranges::any_of(accesses[later], [&](const Access& a) {
      return std::ranges::any_of(accesses[earlier], [&](const Access& b) { return conflict(a, b); });
    });
  };
  // For each step and stream, the last step of the stream that is surely done when the step begins.
  std::vector<std::vector<int>> done;
  std::vector<int> last(static_cast<size_t>(result.num_streams), -1);
  for (size_t j = 0; j < num_steps; ++j) {
    const auto mine = static_cast<size_t>(profile.steps[j].stream);
    std::vector<int> known(last.size(), -1);
    if (last[mine] >= 0) known = done[static_cast<size_t>(last[mine])];
    known[mine] = last[mine];
    for (size_t i = j; i-- > 0;) {
      const auto other = static_cast<size_t>(profile.steps[i].stream);
      if (known[other] >= static_cast<int>(i) || !must_wait(j, i)) continue;
      result.waits[j].push_back(static_cast<int>(i));
      result.awaited[i] = true;
      for (size_t s = 0; s < known.size(); ++s) known[s] = std::max(known[s], done[i][s]);
      known[other] = std::max(known[other], static_cast<int>(i));
    }
    done.push_back(std::move(known));
    last[mine] = static_cast<int>(j);
  }
  for (size_t s = 1; s < last.size(); ++s)
    if (last[s] >= 0) result.ends.push_back(last[s]);
  return result;
}

}  // namespace kiln::runtime
