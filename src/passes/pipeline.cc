#include <chrono>

#include "passes/decompose/decompose.h"
#include "passes/fold_channel_scale.h"
#include "passes/fold_constants.h"
#include "passes/merge_common.h"
#include "passes/merge_reshapes.h"
#include "passes/merge_transposes.h"
#include "passes/pass.h"
#include "passes/remove_dead.h"
#include "passes/remove_identities.h"
#include "passes/shape_arithmetic.h"

namespace kiln::passes {

std::span<const NamedPass> pipeline() {
  static constexpr NamedPass kPasses[] = {
      {"remove_dead", remove_dead},
      {"decompose", decompose},
      {"shape_arithmetic", shape_arithmetic},
      {"fold_constants", fold_constants},
      {"remove_identities", remove_identities},
      {"merge_transposes", merge_transposes},
      {"merge_reshapes", merge_reshapes},
      {"fold_channel_scale", fold_channel_scale},
      {"merge_common", merge_common},
      {"remove_dead again", remove_dead},
  };
  return kPasses;
}

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
