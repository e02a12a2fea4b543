#include "tactics/weight_only_products.h"

#include "backend/cpu/tactics/registry.h"
#include "backend/cpu/tactics/weight_only_products.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class WeightOnlyProducts final : public Tactic {
 public:
  std::string_view name() const override { return "gemm of quantized weights"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return match_weight_only_product(cx, root, /*takes_halves=*/false);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return {linear_variant(region, str("packed in ", cx.graph.type(region.inputs[1]).dtype))};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    StepDraft draft = cpu_step(TRY(weight_only_step(cx, region)));
    draft.in_place_input = in_place_input(region);
    return draft;
  }
};

}  // namespace

const Tactic& weight_only_tactic() { return the<WeightOnlyProducts>(); }

}  // namespace kiln::cpu
