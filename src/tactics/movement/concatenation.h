/// What the backends' tactics of Concatenation share.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Takes concatenations of elements of whole bytes, row-major or channels last.
class ConcatenationRegions : public Tactic {
 public:
  std::string_view name() const override { return "concatenation"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  /// Where the axis lies in memory.
  static Result<int> position_of_axis(const TacticContext& cx, const Region& region, const Variant& variant);
};

/// Takes concatenations that read what Slices and Transposes move where it lies, row-major: a tactic of its own, so
/// that the cover compares both.
class ConcatenationOfViewsRegions : public Tactic {
 public:
  std::string_view name() const override { return "concatenation of views"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
