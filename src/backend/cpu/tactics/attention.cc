#include "backend/cpu/tactics/attention.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/attention.h"
#include "tactics/attention.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class AttentionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "attention"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    static constexpr DType kTypes[] = {DType::kF32};
    return attention_region(cx, root, {.types = kTypes, .strided_k_and_v = true});
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "tiles of queries")};
  }
  Result<StepDraft> compile(const TacticContext&, const Region& region, const Variant&) const override {
    StepDraft draft = cpu_step(TRY(from_record<steps::Attention>(region.data)));
    draft.params = region.params;
    return draft;
  }
};

}  // namespace

const Tactic& attention_tactic() {
  static const AttentionTactic tactic;
  return tactic;
}

}  // namespace kiln::cpu
