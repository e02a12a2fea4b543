#include <chrono>

#include "passes/pass.h"

namespace kiln::passes {

std::span<const NamedPass> pipeline() { return {}; }

Status run_pipeline(ir::Graph& graph, PassContext& cx) {
  using Clock = std::chrono::steady_clock;
  for (const NamedPass& pass : pipeline()) {
    const Clock::time_point start = Clock::now();
    TRY(in_context(pass.run(graph, cx), [&] { return str("pass ", pass.name); }));
    cx.log.verbose("pass ", pass.name, ": ", std::chrono::duration<double, std::milli>(Clock::now() - start).count(),
                   " ms");
    if (cx.after) TRY(cx.after(cx.after_user, pass.name, graph));
  }
  return {};
}

}  // namespace kiln::passes
