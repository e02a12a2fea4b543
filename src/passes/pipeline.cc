#include <chrono>

#include "passes/captures.h"
#include "passes/copy_dequantize.h"
#include "passes/decompose/decompose.h"
#include "passes/drop_expands.h"
#include "passes/drop_unread_numbers.h"
#include "passes/drop_unread_stacks.h"
#include "passes/fit_plugin_types.h"
#include "passes/fold_channel_scale.h"
#include "passes/fold_constants.h"
#include "passes/fold_padding.h"
#include "passes/gather_to_slice.h"
#include "passes/hoist_invariants.h"
#include "passes/inline_branches.h"
#include "passes/join_masks.h"
#include "passes/merge_common.h"
#include "passes/merge_products.h"
#include "passes/move_quantize.h"
#include "passes/pass.h"
#include "passes/recognize_gelu.h"
#include "passes/recognize_normalization.h"
#include "passes/recognize_recurrence.h"
#include "passes/recognize_rotation.h"
#include "passes/remove_dead.h"
#include "passes/remove_identities.h"
#include "passes/shape_arithmetic.h"
#include "passes/simplify_arithmetic.h"
#include "passes/simplify_casts.h"
#include "passes/simplify_movement.h"
#include "passes/source_uses.h"
#include "passes/split_coefficients.h"
#include "passes/split_doubles.h"
#include "passes/spread_scales.h"
#include "passes/transpose_operands.h"

namespace kiln::passes {

std::span<const NamedPass> pipeline() {
  constexpr bool kAccounts = true;
  static constexpr NamedPass kPasses[] = {
      {"remove_dead", remove_dead, kAccounts},
      {"drop_unread_stacks", drop_unread_stacks, kAccounts},
      {"inline_branches", inline_branches, kAccounts},
      {"hoist_invariants", hoist_invariants, kAccounts},
      {"fit_plugin_types", fit_plugin_types},
      {"decompose", decompose},
      {"spread_scales", spread_scales},
      {"lower_weights", lower_weights},
      {"drop_unread_numbers", drop_unread_numbers},
      {"shape_arithmetic", shape_arithmetic},
      {"fold_constants", fold_constants, kAccounts},
      {"remove_identities", remove_identities},
      {"merge_common", merge_common, kAccounts},
      {"simplify_casts", simplify_casts},
      {"simplify_arithmetic", simplify_arithmetic},
      {"recognize_gelu", recognize_gelu},
      {"recognize_normalization", recognize_normalization},
      {"recognize_rotation", recognize_rotation},
      {"recognize_recurrence", recognize_recurrence},
      {"split_coefficients", split_coefficients},
      {"gather_to_slice", gather_to_slice},
      {"drop_expands", drop_expands},
      {"simplify_movement", simplify_movement},
      {"move_quantize", move_quantize},
      {"transpose_operands", transpose_operands},
      {"merge_products", merge_products},
      {"split_doubles", split_doubles},
      {"join_masks", join_masks},
      {"fold_constants again", fold_constants, kAccounts},
      {"remove_identities again", remove_identities},
      {"fold_padding", fold_padding},
      {"fold_channel_scale", fold_channel_scale},
      {"merge_common again", merge_common, kAccounts},
      {"copy_dequantize", copy_dequantize},
      {"tidy_captures", tidy_captures, kAccounts},
      {"remove_dead again", remove_dead, kAccounts},
  };
  return kPasses;
}

Status run_pipeline(ir::Graph& graph, PassContext& cx) {
  using Clock = std::chrono::steady_clock;
  SourceUses sources(graph, cx);
  for (const NamedPass& pass : pipeline()) {
    const Clock::time_point start = Clock::now();
    TRY(in_context(pass.run(graph, cx), [&] { return str("pass ", pass.name); }));
    pass.accounts ? sources.skip(graph, cx) : sources.recount(graph, pass.name, cx);
    cx.log.verbose("pass ", pass.name, ": ", std::chrono::duration<double, std::milli>(Clock::now() - start).count(),
                   " ms");
    if (cx.after) TRY(cx.after(cx.after_user, pass.name, graph));
  }
  return {};
}

}  // namespace kiln::passes
