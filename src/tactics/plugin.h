/// Plugins of the program's: combinations of formats and tactics, timed like any other.
#pragma once

#include "ops/plugin.h"
#include "tactics/tactic.h"

namespace kiln {

/// Takes a plugin alone. A variant is a combination of formats, in which the plugin is configured, and a tactic of the
/// plugin's. The step is the plugin, or the kernel that it compiled ahead of time.
class PluginTactic : public Tactic {
 public:
  std::string_view name() const override { return "plugin"; }
  /// Asks the plugin which combinations of formats it takes.
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Whether the backend's device launches kernels that plugins compiled (PluginObject::is_kernel).
  virtual bool launches_kernels() const { return false; }
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
