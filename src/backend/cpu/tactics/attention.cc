#include "backend/cpu/tactics/attention.h"

#include "backend/cpu/tactics/registry.h"
#include "tactics/attention.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class AttentionTactic final : public PlainTactic<AttentionRegions> {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    static constexpr DType kTypes[] = {DType::kF32};
    return attention_region(cx, root, {.types = kTypes, .strided_k_and_v = true});
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "tiles of queries")};
  }
};

}  // namespace

const Tactic& attention_tactic() { return the<AttentionTactic>(); }

}  // namespace kiln::cpu
