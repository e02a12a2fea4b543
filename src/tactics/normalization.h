/// Layer, instance, group and RMS normalisation: what kernels of both backends take, and in which formats.
#pragma once

#include "steps/normalization.h"
#include "tactics/quantization.h"

namespace kiln {

class NormalizationRegions : public Tactic {
 public:
  std::string_view name() const override { return "normalization"; }
  /// The root is a Normalization, or a Quantize behind one of rows. Where others read the floats, they are output 0.
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;

 protected:
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
  /// Why a backend's kernels do not take x of this type; empty where they do.
  virtual std::string_view why_not(DType type) const = 0;
  /// What a backend's kernels may make of rows.
  virtual QuantizedTo reach(const TacticContext&) const { return QuantizedTo::kNothing; }
  static bool is_quantized(const Region& region) { return region.inputs.size() > steps::Normalization::kInputs; }
  /// The step of a region that `match` gave.
  static Result<steps::Normalization> step_of(const Region& region) {
    return from_record<steps::Normalization>(region.data);
  }

 private:
  Match match_norm(const TacticContext& cx, ir::NodeId root) const;
};

}  // namespace kiln
