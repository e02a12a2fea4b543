#include "plan/nested_steps.h"

namespace kiln::plan {
namespace {

/// As deep as bodies are: a plan that is valid has no body within itself.
void add_steps(const Plan& plan, const NestedStep& first, const std::string& prefix, std::vector<NestedStep>& list) {
  for (size_t s = 0; s < first.block->steps.size(); ++s) {
    const size_t place = list.size();
    NestedStep nested = first;
    nested.step = s, nested.number = str(prefix, s + 1);
    list.push_back(nested);
    const std::vector<int>& bodies = nested.get().bodies;
    for (size_t b = 0; b < bodies.size(); ++b) {
      const Body& body = plan.bodies[static_cast<size_t>(bodies[b])];
      const NestedStep inner{.block = &body, .body = &body, .around = place};
      add_steps(plan, inner, str(nested.number, '.', b + 1, '.'), list);
    }
  }
}

}  // namespace

std::vector<NestedStep> nested_steps(const Plan& plan, const Block& profile) {
  std::vector<NestedStep> list;
  add_steps(plan, {.block = &profile}, "", list);
  return list;
}

}  // namespace kiln::plan
