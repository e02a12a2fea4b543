#include "builder/readers_first.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "plan/decided_sizes.h"

namespace kiln {
namespace {

/// The memory of a step's tensors, by the tensors that have it.
struct StepMemory {
  std::set<int> reads, writes;
};

int root_of(const plan::Block& block, int id) {
  const plan::Tensor* tensor = &block.tensors[static_cast<size_t>(id)];
  for (; tensor->place == plan::Place::kView; tensor = &block.tensors[static_cast<size_t>(id)]) id = tensor->index;
  return id;
}

bool have_common(const std::set<int>& a, const std::set<int>& b) {
  return std::ranges::any_of(a, [&](int id) { return b.contains(id); });
}

bool must_follow(const StepMemory& later, const StepMemory& earlier) {
  return have_common(later.reads, earlier.writes) || have_common(later.writes, earlier.writes) ||
         have_common(later.writes, earlier.reads);
}

/// Moves steps that read `input`, and those that they need, in front of the first that changes `output`.
void move_readers(const std::vector<StepMemory>& uses, int input, int output, std::vector<size_t>& order) {
  const auto use = [&](size_t at) -> const StepMemory& { return uses[order[at]]; };
  const auto change = static_cast<size_t>(
      std::ranges::find_if(
          order, [&](size_t step) { return uses[step].reads.contains(output) && uses[step].writes.contains(output); }) -
      order.begin());
  std::vector<bool> stays(order.size(), false), moves(order.size(), false);
  for (size_t at = change; at < order.size(); ++at) {
    stays[at] = at == change;
    for (size_t before = change; before < at; ++before)
      stays[at] = stays[at] || (stays[before] && must_follow(use(at), use(before)));
    moves[at] = !stays[at] && use(at).reads.contains(input);
  }
  for (size_t at = order.size(); at-- > change;)
    for (size_t before = change; moves[at] && before < at; ++before)
      if (must_follow(use(at), use(before))) moves[before] = true;
  std::vector<size_t> changed(order.begin(),
                              order.begin() + static_cast<std::ptrdiff_t>(std::min(change, order.size())));
  for (const bool moving : {true, false})
    for (size_t at = change; at < order.size(); ++at)
      if (moves[at] == moving) changed.push_back(order[at]);
  order = std::move(changed);
}

}  // namespace

std::vector<size_t> readers_first(const plan::Block& block, std::span<const AliasedCopy> copies) {
  std::vector<size_t> order(block.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (copies.empty() || plan::decides_sizes(block)) return order;
  std::vector<StepMemory> uses(block.steps.size());
  for (size_t s = 0; s < uses.size(); ++s) {
    for (const int id : block.steps[s].inputs) uses[s].reads.insert(root_of(block, id));
    for (const int id : block.steps[s].outputs) uses[s].writes.insert(root_of(block, id));
  }
  for (const auto& [from, to] : copies) {
    const int input = root_of(block, from), output = root_of(block, to);
    const auto is_in = [&](int id, plan::Place place) { return block.tensors[static_cast<size_t>(id)].place == place; };
    if (is_in(input, plan::Place::kInput) && is_in(output, plan::Place::kOutput))
      move_readers(uses, input, output, order);
  }
  return order;
}

}  // namespace kiln
