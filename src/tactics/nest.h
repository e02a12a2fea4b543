/// Chains of pointwise ops as one pass over memory: what both backends' tactics claim, and in which formats.
#pragma once

#include "steps/nest.h"
#include "tactics/chain.h"
#include "tactics/tactic.h"

namespace kiln {

class NestRegions : public Tactic {
 public:
  explicit NestRegions(ChainReach reach = ChainReach::kValues) : reach_(reach) {}
  std::string_view name() const override { return reach_ == ChainReach::kViews ? "nest of views" : "nest"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Says of which types nests of the context's device may be.
  virtual bool (*has_type(const TacticContext&) const)(DType) { return is_nest_type; }
  /// Whether its kernels look up functions of a byte (byte_table.h).
  virtual bool looks_up() const { return false; }
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  /// The step of a region that `match` gave.
  static Result<steps::Nest> step_of(const Region& region) { return from_record<steps::Nest>(region.data); }

 private:
  ChainReach reach_;
};

/// Chains that read what Slices and Transposes move where it lies, row-major: a tactic of its own, so that the cover
/// compares both.
class NestOfViewsRegions : public NestRegions {
 public:
  NestOfViewsRegions() : NestRegions(ChainReach::kViews) {}
};

}  // namespace kiln
