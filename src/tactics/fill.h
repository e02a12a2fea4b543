/// What the backends' tactics of Fill and DimValues share.
#pragma once

#include "ops/fill.h"
#include "tactics/tactic.h"

namespace kiln {

/// Ramps and random numbers.
class FillRegions : public Tactic {
 public:
  std::string_view name() const override { return "fill"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Why a backend's kernels do not make this; empty where they do.
  virtual std::string_view why_not(FillOperation operation, DType type) const = 0;
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

/// Numbers that bind knows.
class ValuesRegions : public Tactic {
 public:
  std::string_view name() const override { return "values"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
